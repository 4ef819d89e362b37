// Package sabir is a service runtime. Write a service once as typed functions. Call it as a function in the same process; the
// same line of code calls it over the network.
//
//	type HelloRequest struct {
//		Name string `json:"name" validate:"required,max=64"`
//	}
//
//	type HelloReply struct {
//		Text string `json:"text"`
//	}
//
//	// Hello is the contract, which the service and its callers import.
//	var Hello = sabir.NewAction[HelloRequest, HelloReply]("greeter.hello")
//
//	func hello(ctx context.Context, in HelloRequest) (HelloReply, error) {
//		return HelloReply{Text: "Hello, " + in.Name}, nil
//	}
//
//	greeter := sabir.NewService("greeter")
//	Hello.Handle(greeter, hello)
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.HTTP(":3000"))
//	if err := node.Run(ctx); err != nil {
//		log.Fatal(err)
//	}
//
// # Calls
//
// [NewAction] and [NewStream] make contracts: the name and the types of an action or a stream as one value, by which it is called
// and served. [All] makes several calls at once.
//
//	reply, err := Hello.Call(ctx, node, HelloRequest{Name: "Ada"})
//
// Programs that know an action by its name only, such as gateways, use [Call], [Bind], [CallJSON], [OpenStream] and [CallStream], and
// serve it with [Handle] and [HandleStream]. Deadlines and cancellation come with the context; what else a handler can ask of its
// context is in [InfoFromContext].
//
// # Events
//
// [NewEvent] makes the contract of an event: its Emit sends one to each group of handlers once, its Broadcast to every service, and
// its On adds a handler. [Emit], [Broadcast] and [On] do the same by name; patterns of names are for [On] alone.
//
// Package channel has durable queues, whose messages a broker keeps until each group of consumers has handled them.
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
// the handler ran. A panic in a handler, or in a goroutine that the handler started with [Go], is returned to its caller as an
// error and affects no other call.
//
// # How it works: five walks
//
// Each walk names the functions that one message passes, in their order; a test checks that they exist. A name without a package
// is of this one. What the packages below do is in their own documentation.
//
// # Walk: a local call
//
//	Call                         call.go: finds the handler of the name in the routing table
//	handler.call                 action.go: from a bare context to an action with nothing around it, all is done here
//	operation.bareContext        context.go: the context that all such calls share, so nothing is allocated
//	checkRules                   action.go: validates the input by its tags
//	handler.callWith             the same for any other call: a context of its own, options, middlewares
//	operation.enter              context.go: makes that context
//	handler.callChain            middlewares, the service's gate, and a guard where there is a deadline
//	Request.guarded              guard.go: hands the call to a worker, so that its caller can leave at the deadline
//	worker.loop                  guard.go: runs it
//	handler.invoke               the inner end of the middlewares
//	handler.run                  the author's function; its panic becomes the caller's error
//	handler.finish               waits for what the handler started with Go
//
// # Walk: a remote call
//
//	Call                         call.go: the routing table has a remoteAction for the name
//	callRemote                   remote_action.go
//	callThrough                  takes a request from the pool, with an input and an output of the caller's types
//	remoteCaller.call            one for each pair of types: the middlewares of the Remote layer
//	remoteAction.send            their inner end
//	remoteRequest.roundTrip      remote_call.go: tries nodes until one has the call
//	remoteAction.pick            remote_pick.go: the balancer chooses among those that offer the action and are well
//	remoteAction.await           absent.go: where no node does: the error, or the wait for one
//	remoteCaller.callPeer        counts the call for balancers
//	mesh.Peer.Link               one of the links to that node
//	remoteCaller.callOverLink    encodes into the link's buffer and waits for the answer
//	remoteCaller.codecOn         what was agreed with that link about the types
//	valueFormat.append           format.go
//	wire.Link.Call
//	wire.Call.Do                 sends and waits
//	mesh.Mesh.Route              the other node: once for each name on a link
//	meshHost.Route               mesh_host.go
//	inboundRoute.Serve           serve.go: for each call
//	inboundRoute.resolve         what the name means now
//	handler.serve                takes a request from the pool
//	localAction.serve            decodes, runs, encodes
//	operation.enterFromLink      the context, with what came along
//	operation.serveRequest       from here as a local call
//	handler.run                  action.go
//	localAction.answer           encodes into the link's buffer
//	wire.Inbound.Reply
//	valueFormat.decode           back on the first node, in callOverLink
//
// # Walk: an event
//
//	Emit                         event.go
//	eventTable.plan              event_table.go: which handlers and nodes take the name, remembered
//	eventGroup.pick              one handler of each group, on this node if it has one
//	deliver                      event.go
//	eventHandler.receive         runs the handler, or puts the event into its queue
//	eventQueue.push              event_queue.go
//	eventHandler.run
//	sendEvent                    remote_event.go: to groups that are on other nodes only
//	remoteAction.callAny         from here an event is a call without an answer, up to the other node
//	meshHost.Route               mesh_host.go
//	inboundEvents.Serve          serve_event.go
//	inboundEvents.deliver        one handler of the group, or all
//	eventHandler.receiveFrom     decodes; then as above
//
// # Walk: a stream
//
//	OpenStream                   stream.go
//	streamHandler.openStream     on this node: the handler runs on a goroutine of its own
//	pipe.callerSend              stream_pipe.go: two Go channels join the ends
//	pipe.handlerRecv
//	openRemoteStream             remote_stream.go: on another node
//	openOverLink
//	wire.Link.Open
//	linkStream.send              encodes a value; waits where the other side is behind
//	inboundRoute.ServeStream     serve.go: the other node
//	streamHandler.serveStream    serve_stream.go
//	streamHandler.serveOver      makes the handler's end
//	linkStream.recv              remote_stream.go: decodes a value
//	streamHandler.run            stream.go: the author's function
//
// # Walk: a durable publish
//
//	channel.Channel.Publish      channel/publish.go
//	channel.Channel.encode
//	channel.broker.publish       channel/broker.go: tries again while the broker cannot be reached
//	channel.broker.declare       once for each channel
//	channel.broker.connection    connects at first use
//	engine.Open                  internal/engine/registry.go: finds the engine by the address's scheme; it keeps the message
//	channel.consumer.Start       channel/consume.go: on each node with a consumer, see [Extension]
//	channel.runner.receive       channel/runner.go
//	channel.runner.handle        channel/attempt.go: one goroutine for each message
//	channel.runner.try           decodes
//	EventReceiver.Receive        event_receiver.go: runs the middlewares
//	EventReceiver.invoke         the author's function
//	channel.runner.settle        channel/attempt.go: done, again later, or a dead letter
//	channel.runner.acknowledge   channel/runner.go: many at once
package sabir
