import { createTRPCClient, httpBatchLink } from "@trpc/client";
import type { AppRouter } from "./router.js";

const client = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: "http://localhost:3000/trpc" })] });
const order = await client.orders.get.query({ id: "7" });
