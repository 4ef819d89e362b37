// Package sabir is a service runtime: write a service once as typed functions, and call it at function speed in process
// and over the network by the same lines.
//
//	type HelloRequest struct {
//		Name string `json:"name" validate:"required,max=64"`
//	}
//
//	type HelloReply struct {
//		Text string `json:"text"`
//	}
//
//	greeter := sabir.NewService("greeter")
//	sabir.Handle(greeter, "hello", func(ctx context.Context, in HelloRequest) (HelloReply, error) {
//		return HelloReply{Text: "Hello, " + in.Name}, nil
//	})
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.HTTP(":3000"))
//	if err := node.Run(ctx); err != nil {
//		log.Fatal(err)
//	}
//
// # Calls
//
// [Call] calls an action by name, [Bind] makes a function of one, [CallAll] makes several calls at once, [CallJSON] calls
// with a document instead of a value, and [OpenStream] and [CallStream] open streams. Deadlines and cancellation come
// with the context; what else a handler can ask of its context is in [Info], [RequestID] and [Metadata].
//
// # Events
//
// [Emit] tells an event to each group of handlers once, [Broadcast] to every service. [On] adds a handler.
//
// # Around a call
//
// A [Middleware] wraps calls, events, streams, and the life of services and nodes. Package policy has the usual ones:
// timeouts, retries, breakers, caches; package telemetry has metrics and traces. What is not switched on is not there: a
// call passes nothing that its node, service or action did not ask for.
//
// # Errors
//
// Every error is an [*Error] with a code, a name and, where it helps, data; it is the same on the caller's side wherever
// the handler ran. A panic in a handler, or in a goroutine that the handler started with [Go], is its caller's error and
// nobody else's.
//
// # The way of a call
//
// Read on in call.go (Call), action.go (call, travel, invoke, run), request.go and guard.go: a call goes down these in that
// order.
package sabir
