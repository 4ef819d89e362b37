package main

import (
	"errors"
	"fmt"
	"time"

	// Two of the peers cannot be linked into one program without it.
	_ "github.com/sabir-go/sabir/lab/actors/protonames"
)

// contender is one actor library. To add one: write a file with a node, and put it into contenders.
type contender struct {
	name string
	// start starts the contender's runtime in this OS process.
	start func(setup) (node, error)
}

// contenders returns all contenders, in the order of the rows.
func contenders() []contender {
	return []contender{
		{"Sabir", startSabir},
		{"Ergo", startErgo},
		{"hollywood", func(s setup) (node, error) { return startHollywood(s, 0) }},
		{"hollywood, inbox 16", func(s setup) (node, error) { return startHollywood(s, 16) }},
		{"protoactor-go", startProtoactor},
		{"goakt", startGoakt},
		{"channels", func(s setup) (node, error) { return startChannels(s), nil }},
		{"direct", func(s setup) (node, error) { return &direct{channels: startChannels(s)}, nil }},
		{"TCP", startTCP},
	}
}

func contenderOf(name string) (contender, error) {
	for _, c := range contenders() {
		if c.name == name {
			return c, nil
		}
	}
	return contender{}, fmt.Errorf("no contender is called %q", name)
}

// setup configures a node of the test.
type setup struct {
	// Address is the host:port at which the node listens; "" is a node without a network.
	Address string
	// Peer is the address of the other node; "" for a node on its own.
	Peer string
	// Work is the name of the measurement in which the node takes part.
	Work string
	// Fail reports an error inside a process, such as a message that could not be sent. Any goroutine may call it.
	Fail func(error)
}

// place is the address of a process: Node is the address of its node, "" for this one.
type place struct{ Node, Name string }

// node is one contender's runtime in one OS process. All methods but stop are called from one goroutine, and only those
// that the contender's works need. Everything a contender does per message stands in its own file: no interface is in
// the way of a message.
type node interface {
	// receive starts a process under a name. It passes each message that comes to the counter.
	receive(name string, to *counter) error

	// send starts a process that knows the process at to. After begin is called it sends messageAt(0) to messageAt(n-1) to it,
	// as fast as it can, from within the process. begin does not wait for that. A contender whose mailboxes are bounded
	// waits where one is full, in the way its library has for that; a message that cannot be sent is reported to Fail.
	send(to place, n uint64) (begin func() error, err error)

	// answer starts a process under a name that replies to each request with its Message.answer.
	answer(name string) error

	// calling runs body in a process of its own, or on a goroutine where the library makes its calls from outside, and
	// returns when body has returned. call makes one request to the process at to and waits for the reply.
	// It is called from several goroutines at once, once for each caller.
	calling(to place, body func(call func(Message) (Message, error)) error) error

	// pass starts n processes, with numbers from 0. Each hands what comes to it to handle. tell sends to one of them from outside of all
	// processes; one goroutine at a time calls it.
	pass(n int, handle handler) (tell func(to int, m Message) error, err error)

	// skynet starts the first process of a tree, with the state that it is given. Each process is started by the one above it, which then sends it
	// beginning, and tells its total to that one; the first one gives it to done.
	skynet(first gathering) error

	// idle starts n processes that wait for messages. Each one calls started.add when it runs for the first time.
	idle(n int, started *tally) error

	// publisher makes the event, or what else the library has to publish by, before anyone has subscribed. publish publishes
	// one message to all subscribers.
	publisher() (publish func(Message) error, err error)

	// subscribe starts n processes, each with a subscriber{deliveries: to} that takes each publication that comes from the publisher
	// of a node, "" for this one. When it returns all are subscribed.
	subscribe(node string, n int, to *tally) error

	// stop ends the node. Nothing is called after it.
	stop()
}

// callTimeout is the time limit of a call with the libraries that need one. It is longer than any call takes.
const callTimeout = 30 * time.Second

// errOneNode is the answer to what a library has on one node only.
var errOneNode = errors.New("it has this on one node only")
