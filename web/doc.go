// Package web serves the public actions of a node over HTTP: at POST /service/action and in REST forms ([sabir.Route]), with
// streams, events, batches, JSON in and out, errors as problem documents (RFC 9457), health and readiness. Importing it makes
// [sabir.HTTP] work:
//
//	package main
//
//	import (
//		"context"
//		"log"
//
//		"github.com/sabir-go/sabir"
//		_ "github.com/sabir-go/sabir/web"
//	)
//
//	type Hello struct {
//		Name string `json:"name" validate:"required"`
//	}
//
//	func main() {
//		greeter := sabir.NewService("greeter")
//		sabir.Handle(greeter, "hello", func(ctx context.Context, in Hello) (string, error) { return "Hello, " + in.Name, nil })
//		node := sabir.NewNode(sabir.Serve(greeter), sabir.HTTP(":3000"))
//		if err := node.Run(context.Background()); err != nil { // curl localhost:3000/greeter/hello --json '{"name":"Ada"}'
//			log.Fatal(err)
//		}
//	}
//
// [With] gives it settings, a [Config]: authentication, filters and other hooks, groups of services under a prefix, files and other handlers,
// events, limits. [Handler] is for a server of net/http that is there already.
//
// [Dial] is the other side: a [Client] calls the actions of such a node, and with [sabir.WithUpstream] lets a whole node call them
// as if they were its own. docs/http.md is the guide, with the routes, headers and statuses.
//
// # The way of a request
//
// Two engines read requests: package internal/http1 the small plain ones of HTTP/1.1, which are most, and net/http all others.
// These are the functions that a call passes, in their order, for readers of this package. With http1, on the goroutine of the
// connection:
//
//  1. http1.Server.Serve accepts the connection.
//  2. http1.conn.run starts its goroutine, and makes the TLS handshake.
//  3. http1.conn.fill reads what the client has sent, maybe several requests.
//  4. http1.conn.serveRequests takes one after the other from what was read.
//  5. http1.parse reads the head, whose strings are parts of the buffer.
//  6. server.Take finds the target of method and path. If it is no plain call, the connection goes to net/http.
//  7. http1.conn.readBody reads the body.
//  8. http1.conn.call starts the time limit, which the watchdog of the server keeps.
//  9. server.Serve counts the request.
//  10. server.handle makes its requestContext.
//  11. requestContext.runBefore lets the filters see the request: site checks, CORS, authentication, those of Use.
//  12. requestContext.call calls the action.
//  13. requestContext.inbound reads time limit, metadata, request id and caller from the headers.
//  14. bind.Binder.Append makes the input of path, query, headers and body, for REST forms.
//  15. sabir.Action.ServeJSON decodes and validates the input, runs the handler and encodes its output.
//  16. requestContext.fail makes a problem document of an error, if there is one.
//  17. requestContext.runAfter lets the filters see the response, the innermost first.
//  18. http1.conn.respond adds the response to those that wait to be written.
//  19. http1.Server.appendResponse writes status line and headers.
//  20. http1.conn.flush writes all responses to the requests of one read at once.
//
// With net/http, steps 10 to 17 are the same, on another goroutine, so that a handler that ends its goroutine gets a response too:
//
//  1. server.ServeHTTP gets the request.
//  2. fill copies it to an exchange.
//  3. server.find finds the target, also those that are no calls.
//  4. server.read reads the body.
//  5. server.handleInGoroutine runs server.handle.
//  6. write writes the response.
package web
