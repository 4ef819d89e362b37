package main

import (
	"fmt"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"ergo.services/ergo"
	"ergo.services/ergo/act"
	"ergo.services/ergo/gen"
	"ergo.services/ergo/net/edf"
	"ergo.services/ergo/net/handshake"
	"ergo.services/ergo/net/registrar"
)

// ergoCallSeconds is callTimeout as Ergo counts it.
const ergoCallSeconds = int(callTimeout / 1e9)

type ergoNode struct {
	gen.Node
	fail func(error)
	lock *sync.Mutex
}

// startErgo starts a node with the options of Ergo's own ping benchmark: all defaults but the cookie, and for N-N a pool of
// CPUs/2 connections. For 1-1 the pool is 1, not the default 3: one pair of processes uses one connection of the pool, but
// which one changes while the others join, and what is sent meanwhile comes out of order. Logging is off. The node is called after its port, and finds its peer by a static route, so that
// the registrar, which every node with a network has, is not asked. Its port is the lower of the two nodes' ports, on
// UDP and TCP of another loopback address; whoever is first serves it.
func startErgo(s setup) (node, error) {
	var options gen.NodeOptions
	options.Log.DefaultLogger.Disable = true
	options.Network.Cookie = "lab"
	options.Network.Mode = gen.NetworkModeDisabled
	if s.Address == "" {
		started, err := ergo.StartNode("local@localhost", options)
		return ergoNode{started, s.Fail, new(sync.Mutex)}, err
	}
	if err := edf.RegisterTypeOf(Message{}); err != nil && err != gen.ErrTaken {
		return nil, fmt.Errorf("register the message: %w", err)
	}
	port, err := portOf(s.Address)
	if err != nil {
		return nil, err
	}
	peerPort, err := portOf(s.Peer)
	if err != nil {
		return nil, err
	}
	pool := 0 // Ergo's default, 3
	switch s.Work {
	case remote11, remotePublish:
		pool = 1
	case remoteNN:
		pool = max(runtime.NumCPU()/2, 1)
	}
	options.Network.Mode = gen.NetworkModeEnabled
	options.Network.Registrar = registrar.Create(registrar.Options{Port: min(port, peerPort) - 1})
	options.Network.Acceptors = []gen.AcceptorOptions{{
		Host: "127.0.0.1", Port: port, PortRange: 1, Handshake: handshake.Create(handshake.Options{PoolSize: pool}),
	}}
	started, err := ergo.StartNode(ergoName(s.Address), options)
	if err != nil {
		return nil, err
	}
	err = started.Network().AddRoute(string(ergoName(s.Peer)), gen.NetworkRoute{Route: gen.Route{Host: "127.0.0.1", Port: peerPort}}, 1)
	if err != nil {
		started.StopForce()
		return nil, fmt.Errorf("the route to %s: %w", s.Peer, err)
	}
	return ergoNode{started, s.Fail, new(sync.Mutex)}, nil
}

func portOf(address string) (uint16, error) {
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return 0, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	return uint16(port), err
}

func ergoName(address string) gen.Atom {
	return gen.Atom("lab" + address[strings.LastIndexByte(address, ':')+1:] + "@localhost")
}

// pid is the PID of the process at a place: what Ergo's benchmark sends to. One at a time asks for it, for the first has to
// connect to the other node.
func (n ergoNode) pid(to place) (gen.PID, error) {
	n.lock.Lock()
	defer n.lock.Unlock()
	if to.Node == "" {
		return n.ProcessPID(gen.Atom(to.Name))
	}
	pid, err := n.Call(gen.ProcessID{Name: gen.Atom(to.Name), Node: ergoName(to.Node)}, whoAreYou)
	if err != nil {
		return gen.PID{}, fmt.Errorf("ask %s at %s for its PID: %w", to.Name, to.Node, err)
	}
	return pid.(gen.PID), nil
}

// whoAreYou asks a process for its PID.
const whoAreYou = "who are you"

type ergoPong struct {
	act.Actor
	to *counter
}

func (p *ergoPong) HandleMessage(_ gen.PID, message any) error {
	p.to.add(message.(Message))
	return nil
}

func (p *ergoPong) HandleCall(gen.PID, gen.Ref, any) (any, error) { return p.PID(), nil }

func (n ergoNode) receive(name string, to *counter) error {
	_, err := n.SpawnRegister(gen.Atom(name), func() gen.ProcessBehavior { return &ergoPong{to: to} }, gen.ProcessOptions{})
	return err
}

// ergoRunner is a process that runs a function, for code that must run in a process.
type ergoRunner struct {
	act.Actor
	run func(gen.Process)
}

func (p *ergoRunner) HandleMessage(gen.PID, any) error {
	p.run(p)
	return nil
}

func (n ergoNode) runner(run func(gen.Process)) (begin func() error, err error) {
	pid, err := n.Spawn(func() gen.ProcessBehavior { return &ergoRunner{run: run} }, gen.ProcessOptions{})
	return func() error { return n.Node.Send(pid, "begin") }, err
}

func (n ergoNode) send(to place, count uint64) (func() error, error) {
	pid, err := n.pid(to)
	if err != nil {
		return nil, err
	}
	return n.runner(func(self gen.Process) {
		for i := range count {
			if err := self.SendPID(pid, messageAt(i)); err != nil {
				n.fail(fmt.Errorf("send message %d: %w", i, err))
				return
			}
		}
	})
}

type ergoAnswer struct{ act.Actor }

func (p *ergoAnswer) HandleCall(_ gen.PID, _ gen.Ref, request any) (any, error) {
	if m, ok := request.(Message); ok {
		return m.answer(), nil
	}
	return p.PID(), nil
}

func (n ergoNode) answer(name string) error {
	_, err := n.SpawnRegister(gen.Atom(name), func() gen.ProcessBehavior { return &ergoAnswer{} }, gen.ProcessOptions{})
	return err
}

func (n ergoNode) calling(to place, body func(func(Message) (Message, error)) error) error {
	pid, err := n.pid(to)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	begin, err := n.runner(func(self gen.Process) {
		done <- body(func(m Message) (Message, error) {
			reply, err := self.CallPID(pid, m, ergoCallSeconds)
			if err != nil {
				return Message{}, err
			}
			return reply.(Message), nil
		})
	})
	if err != nil {
		return err
	}
	if err := begin(); err != nil {
		return err
	}
	return <-done
}

// ergoIdle counts itself as started when Init runs, which is before Spawn returns.
type ergoIdle struct {
	act.Actor
	started *tally
}

func (p *ergoIdle) Init(...any) error {
	p.started.add()
	return nil
}

func (n ergoNode) idle(count int, started *tally) error {
	for range count {
		if _, err := n.Spawn(func() gen.ProcessBehavior { return &ergoIdle{started: started} }, gen.ProcessOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// ergoSubscriber monitors an event, as Ergo's pub/sub benchmark does: not in Init, where that is not allowed.
type ergoSubscriber struct {
	act.Actor
	subscriber
	event gen.Event
	ready *tally
}

func (p *ergoSubscriber) Init(...any) error { return p.Send(p.PID(), "subscribe") }

func (p *ergoSubscriber) HandleMessage(gen.PID, any) error {
	switch _, err := p.MonitorEvent(p.event); err {
	case nil:
		p.ready.add()
		return nil
	case gen.ErrTimeout: // Ergo's benchmark tries again
		return p.Send(p.PID(), "subscribe")
	default:
		return err
	}
}

func (p *ergoSubscriber) HandleEvent(event gen.MessageEvent) error {
	p.take(event.Message.(Message))
	return nil
}

func (n ergoNode) publisher() (func(Message) error, error) {
	token, err := n.RegisterEvent(publications, gen.EventOptions{})
	return func(m Message) error { return n.SendEvent(publications, token, gen.MessageOptions{}, m) }, err
}

func (n ergoNode) subscribe(node string, count int, to *tally) error {
	ready, event := newTally(count), gen.Event{Node: n.Name(), Name: publications}
	if node != "" {
		event.Node = ergoName(node)
	}
	for range count {
		if _, err := n.Spawn(func() gen.ProcessBehavior {
			return &ergoSubscriber{subscriber: subscriber{deliveries: to}, event: event, ready: ready}
		}, gen.ProcessOptions{}); err != nil {
			return err
		}
	}
	return ready.wait("subscribed")
}

func (n ergoNode) stop() { n.StopForce() }

// ergoPasser is a process of a shape.
type ergoPasser struct {
	act.Actor
	self   int
	handle handler
	all    []gen.PID
	fail   func(error)
}

func (p *ergoPasser) HandleMessage(_ gen.PID, message any) error {
	p.handle(p.self, message.(Message), p)
	return nil
}

func (p *ergoPasser) send(to int, m Message) {
	if err := p.SendPID(p.all[to], m); err != nil {
		p.fail(err)
	}
}

func (n ergoNode) pass(count int, handle handler) (func(int, Message) error, error) {
	all := make([]gen.PID, count)
	for i := range all {
		pid, err := n.Spawn(func() gen.ProcessBehavior { return &ergoPasser{self: i, handle: handle, all: all, fail: n.fail} }, gen.ProcessOptions{})
		if err != nil {
			return nil, err
		}
		all[i] = pid
	}
	return func(to int, m Message) error { return n.Node.Send(all[to], m) }, nil
}

// ergoTree is a process of a tree.
type ergoTree struct {
	act.Actor
	gathering
}

func newErgoTree(g gathering) gen.ProcessFactory {
	return func() gen.ProcessBehavior { return &ergoTree{gathering: g} }
}

func (t *ergoTree) HandleMessage(_ gen.PID, message any) error {
	switch m := message.(type) {
	case beginning:
		if t.leaf() {
			return t.tell()
		}
		for i := range branching {
			child, err := t.Spawn(newErgoTree(t.below(i)), gen.ProcessOptions{})
			if err == nil {
				err = t.SendPID(child, beginning{})
			}
			if err != nil {
				t.fail(err)
			}
		}
	case Message:
		if t.take(m) {
			return t.tell()
		}
	}
	return nil
}

func (t *ergoTree) tell() error {
	if t.done != nil {
		t.done(t.total().Sequence)
	} else if err := t.SendPID(t.Parent(), t.total()); err != nil {
		t.fail(err)
	}
	return gen.TerminateReasonNormal
}

func (n ergoNode) skynet(first gathering) error {
	root, err := n.Spawn(newErgoTree(first), gen.ProcessOptions{})
	if err != nil {
		return err
	}
	return n.Node.Send(root, beginning{})
}
