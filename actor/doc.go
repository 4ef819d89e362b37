// Package actor runs processes: values with a mailbox, whose methods handle one message at a time. They are the processes
// of Erlang, with links, monitors, supervisors (package supervise) and names, and a message reaches a process of another node
// of the cluster in the same way as one on the same node.
//
// A process is a struct, its behaviour the list of methods that handle messages. [Define] makes the behaviour, [Spawn] starts a
// process, [Tell] sends it a message, [Ask] makes a call and waits for the answer:
//
//	type Counter struct{ total int }
//
//	type (
//		Add   struct{ N int }
//		Total struct{}
//	)
//
//	func (c *Counter) Init(p *actor.Process, start int) error           { c.total = start; return nil }
//	func (c *Counter) Add(p *actor.Process, m Add) error                { c.total += m.N; return nil }
//	func (c *Counter) Total(p *actor.Process, _ Total) (int, error)     { return c.total, nil }
//
//	var counter = actor.Define("counter", (*Counter).Init, actor.OnMessage((*Counter).Add), actor.OnCall((*Counter).Total))
//
//	func main() {
//		system := actor.NewSystem(actor.Config{})
//		ref, err := actor.Spawn(system, counter, 40)
//		if err != nil {
//			log.Fatal(err)
//		}
//		actor.Tell(system, ref, (*Counter).Add, Add{2})
//		total, err := actor.Ask(context.Background(), system, ref, (*Counter).Total, Total{})
//		fmt.Println(total, err) // 42 <nil>
//	}
//
// The compiler checks the types of Tell and Ask. [Send] and [Call] do the same with a message of any type and any [Address]; what the
// process has no handler for, it refuses with [ErrNotHandled].
//
// The methods need no locks: only one of them runs at a time. They may block, since a blocked process costs the others nothing.
// A sleeping process takes a few hundred bytes and no goroutine, so a node can have a million of them.
//
// Messages and answers are not copied on one node: who sends and who receives share the maps, slices and pointers in them, so that neither changes
// them afterwards. A handler that answers with a map or a slice of its state answers with a copy, such as maps.Clone makes.
//
// An error that a message handler returns ends the process; so does a panic. What then happens to others is up to [Process.Link]
// and [Process.Monitor], and to supervisors, which start the process again.
//
// # Other nodes
//
// Give the system to a node, and its processes can reach those of all nodes of the cluster:
//
//	system := actor.NewSystem(actor.Config{})
//	node := sabir.NewNode(system.Option(), sabir.Join("tcp://:7700"))
//
//	actor.Send(p, actor.Name{Name: "orders", Node: "shop-2"}, Place{Item: "tea"})
//
// A [PID] names one process of the cluster and can be sent in messages. Messages between two processes keep their order and
// arrive once or not at all. [Behavior.AllowRemoteSpawn] lets other nodes start a behaviour here.
//
// # The way of a message to another node
//
// These are the functions that a message passes, in their order, for readers of this package. On the node of the sender:
//
//  1. Send resolves the address. The second and later messages of a callback to one process wait in its outbox.
//  2. startRun pushes the first one, and outbox.handOver those that have gathered.
//  3. System.push sees that the PID is of another node.
//  4. network.push encodes by the kind of the envelope: a message, a call, an Exit or a Down.
//  5. network.reach finds the session with that run of the node.
//  6. session.send writes the messages into as few posts as possible.
//  7. session.typeNumber declares their type to the peer, once in a session.
//  8. encode appends the values in the native codec.
//  9. session.post gives the post to the link, or waits while that is full.
//
// On the node of the receiver, on the goroutine that reads the link, which must not wait for anything:
//
//  1. extension.Posted gets the post from the node.
//  2. network.posted finds the session of the link.
//  3. session.read reads the opcode.
//  4. session.readSend reads the header and the type.
//  5. declared.reader finds the decoder, which translates if the two nodes know the type with different fields.
//  6. reader.envelope decodes messages into an envelope.
//  7. session.deliver resolves the address.
//  8. System.push puts the envelope into the mailbox. A full mailbox refuses it, even if its rule is Wait.
//  9. entry.put makes the process ready.
//  10. scheduler.add gives it to a worker.
//  11. worker.drain takes the envelope, on the worker's goroutine.
//  12. Process.receive finds the handler.
//  13. onMessage.handle calls the method, with one message after the other.
//
// docs/processes.md is the guide, docs/processes-protocol.md the protocol.
package actor
