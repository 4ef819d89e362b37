import { ordersGet } from "./api.js";

const shop = { baseUrl: "https://api.example.com" }; // the same options
const got = await ordersGet(shop, { id: 1 });
