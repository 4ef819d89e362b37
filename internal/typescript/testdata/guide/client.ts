import { createClient, validators } from "./api.js";

const api = createClient({ baseUrl: "http://127.0.0.1:3000", validate: validators }); // checks inputs here too
const got = await api.orders.get({ id: 1 });
if (got.ok) console.log(got.value.item, got.value.placed.getFullYear()); // a Date
else if (got.error.name === "NoSuchOrder") console.log("there is none"); // declared with sabir.Errors
else throw got.error;

const order = await api.orders.place({ item: "rope", quantity: 2 }).orThrow();
for await (const change of api.orders.watch({ id: order.id })) console.log(change.state);
