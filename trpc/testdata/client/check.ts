// Makes every call of the test with the client of tRPC, typed by the router that was written for the server, and writes what came as JSON.
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, httpLink, httpSubscriptionLink, splitLink, TRPCClientError } from "@trpc/client";
import { EventSource } from "eventsource";
import superjson from "superjson";
import type { AppRouter } from "./router.js";

declare const process: { argv: string[]; stdout: { write(text: string): void }; exit(code: number): never };

const url = process.argv[2]!, guarded = process.argv[3]!; // the second lets nobody in without a key
// The type of the router says that there is no transformer, so one is given against it.
const plain = { url }, withSuperjson = { url, transformer: superjson as never };
const links = (opts: typeof plain) => ({ single: httpLink(opts), post: httpLink({ ...opts, methodOverride: "POST" }), batch: httpBatchLink(opts), stream: httpBatchStreamLink(opts) });

const failure = (error: unknown) => {
  if (!(error instanceof TRPCClientError)) return String(error);
  const known = error as TRPCClientError<AppRouter>;
  return { message: known.message.replace(/request [0-9a-f-]+$/, "request …"), code: known.data?.code, status: known.data?.httpStatus, path: known.data?.path, name: known.data?.name, details: known.data?.details };
};

const result: Record<string, unknown> = {};
for (const [opts, prefix] of [[plain, ""], [withSuperjson, "superjson-"]] as const) for (const [kind, link] of Object.entries(links(opts))) {
  const name = prefix + kind;
  const client = createTRPCClient<AppRouter>({
    links: [splitLink({ condition: (op) => op.type === "subscription", true: httpSubscriptionLink({ ...opts, EventSource }), false: link })],
  });
  const settled = await Promise.allSettled([
    client.orders.get.query({ id: "o-1" }),
    client.orders.list.query(),
    client.orders.get.query({ id: "none" }),
    client.orders.get.query({ id: "x".repeat(100) }),
    client.orders.create.mutate({ id: "o-2", count: 2, at: "2026-01-02T03:04:05Z", picture: "AAE=", big: 7 }),
    client.orders.touch.mutate(),
    client.orders.panic.mutate(),
    client.v2.orders.get.query({ id: "o-1" }),
  ]);
  result[name] = settled.map((one) => (one.status === "fulfilled" ? one.value ?? null : failure(one.reason)));
  const values: number[] = [];
  const subscribe = (input: { n: number }) =>
    new Promise<unknown>((resolve) => {
      client.orders.count.subscribe(input, { onData: (n) => values.push(n), onComplete: () => resolve("complete"), onError: (error) => resolve(failure(error)) });
    });
  result[name + "-subscription"] = [await subscribe({ n: 3 }), [...values], await subscribe({ n: -1 }), await subscribe({ n: 1000 })];
  // Refused as a whole, before the server knows of a transformer.
  const outside = createTRPCClient<AppRouter>({ links: [links({ ...opts, url: guarded })[kind as "single"]] });
  const refused = await Promise.allSettled([client.orders.create.mutate({ id: "o-9", picture: "A".repeat(100_000) }), outside.orders.touch.mutate()]);
  result[name + "-refused"] = refused.map((one) => (one.status === "fulfilled" ? one.value ?? null : failure(one.reason)));
  if (opts === plain) continue;
  // What the types of the router do not allow, but superjson carries.
  const at = new Date("2026-01-02T03:04:05Z");
  const beyond = await Promise.allSettled([
    client.orders.create.mutate({ id: "o-3", at: at as never, picture: undefined }),
    client.orders.create.mutate({ id: "o-4", big: 7n as never }),
    client.orders.create.mutate({ id: "o-5", count: new Map([["a", 1]]) as never }),
    client.orders.create.mutate({ id: "o-6", count: NaN }),
  ]);
  result[name + "-values"] = beyond.map((one) => (one.status === "fulfilled" ? one.value ?? null : failure(one.reason)));
  result[name + "-subscription-values"] = await subscribe({ n: 3n as never });
}

async function typed(client: ReturnType<typeof createTRPCClient<AppRouter>>) {
  const order = await client.orders.get.query({ id: "o-1" });
  order.id satisfies string;
  order.at satisfies string | undefined;
  // @ts-expect-error an order has no such field
  order.nothing;
  // @ts-expect-error the input has to have an id
  await client.orders.get.query({});
  // @ts-expect-error a mutation is no query
  await client.orders.create.query({ id: "o-1" });
  // @ts-expect-error there is no such procedure
  await client.orders.secret.query();
}
void typed;

process.stdout.write(JSON.stringify(result, null, 1) + "\n");
process.exit(0);
