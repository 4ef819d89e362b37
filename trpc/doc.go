// Package trpc serves the actions of a node to clients of tRPC 11 (trpc.io), over HTTP:
//
//	node := sabir.NewNode(sabir.Serve(orders), sabir.HTTP(":3000", trpc.At("/trpc")))
//
// The client gets its types from the router that "sabir gen ts --trpc" writes:
//
//	import { createTRPCClient, httpBatchLink } from "@trpc/client";
//	import type { AppRouter } from "./router";
//
//	const client = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: "http://localhost:3000/trpc" })] });
//	const order = await client.orders.get.query({ id: "o-1" });
//
// # What becomes of an action
//
//	routes with GET and no others, or a cache   a query
//	any other                                   a mutation
//	a stream                                    a subscription, over Server-Sent Events, with one value in
//
// A client stream (sabir.ClientStream) is left out: tRPC has no form for it.
//
// Each call is a request of the same server to the action's own address, made with the headers of the client's request: it passes
// filters, authentication, auth.Require, rate limits, validation and policies as any other call over HTTP does. docs/doors.md has the whole table.
package trpc
