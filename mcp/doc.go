// Package mcp lets agents use the actions of a node as tools, over the Model Context Protocol (modelcontextprotocol.io):
//
//	node := sabir.NewNode(sabir.Serve(orders), sabir.HTTP(":3000", mcp.At("/mcp", mcp.Config{Tools: []string{"orders.*"}})))
//
// Nothing is offered that is not named. A tool is an action under its name with "_" for dots, orders_get for orders.get, with the
// schemas of its input and output. A call of it is a request of the same server, made with the headers of the client's request: it
// passes filters, authentication, auth.Require, rate limits, validation and policies as any other call over HTTP does.
//
// One address speaks all revisions of the protocol: that of 2026-07-28, which has no sessions, and those of 2024 and 2025, which begin
// one with "initialize". Actions of other nodes are tools where Forward of web.Config offers them.
//
// # What becomes of an action
//
//	the name                      the tool's title; with "_" for dots its name
//	sabir.Doc                     its description, with the declared errors and what to use instead of a deprecated action
//	the types In and Out          inputSchema and outputSchema; what is no object is in the member "input" or "result"
//	sabir.Example                 examples in the inputSchema
//	a GET route or a cache        readOnlyHint
//	sabir.Idempotent              idempotentHint
//	a route with DELETE, PUT or PATCH   destructiveHint; of other actions that is left open, which clients take for yes
//	a stream                      a tool that answers with a list: each value comes as a progress notification before
//	an error                      a result with isError and the message that callers over HTTP get
//
// docs/mcp.md is the guide.
package mcp
