package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/cluster"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

type sabirNode struct {
	setup
	system *actor.System
	node   *sabir.Node // nil without a network
}

func startSabir(s setup) (node, error) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	n := &sabirNode{setup: s, system: actor.NewSystem(actor.Config{Logger: quiet})}
	if s.Address == "" {
		return n, nil
	}
	options := []cluster.Option{}
	if s.Peer != "" {
		options = append(options, cluster.Config{Seeds: []string{"tcp://" + s.Peer}})
	}
	n.node = sabir.NewNode(sabir.NodeID(s.Address), sabir.Logger(quiet), n.system.Option(), sabir.Join("tcp://"+s.Address, options...))
	return n, n.node.Start(context.Background())
}

func (n *sabirNode) stop() {
	if n.node != nil {
		n.node.Stop(context.Background())
		return
	}
	n.system.Stop(context.Background())
}

func (n *sabirNode) name(to place) actor.Name { return actor.Name{Name: to.Name, Node: to.Node} }

type pong struct{ to *counter }

func (s *pong) Init(_ *actor.Process, to *counter) error           { s.to = to; return nil }
func (s *pong) Take(_ *actor.Process, m Message) error             { s.to.add(m); return nil }
func (s *pong) Who(p *actor.Process, _ who) (actor.PID, error)     { return p.PID(), nil }
func (s *answerer) Who(p *actor.Process, _ who) (actor.PID, error) { return p.PID(), nil }

// who asks a process for its PID.
type who struct{}

var pongs = actor.Define("pong", (*pong).Init, actor.OnMessage((*pong).Take), actor.OnCall((*pong).Who))

func (n *sabirNode) receive(name string, to *counter) error {
	mailbox := actor.SpawnConfig{Mailbox: 64 << 10, Overflow: actor.Wait}
	if n.node != nil {
		mailbox = actor.SpawnConfig{Mailbox: 1 << 30} // nobody waits on another node
	}
	_, err := actor.Spawn(n.system, pongs, to, actor.SpawnConfig{Name: name}, mailbox)
	return err
}

type pinger struct {
	to    actor.PID
	count uint64
	fail  func(error)
}

func (s *pinger) Init(_ *actor.Process, from pinger) error { *s = from; return nil }

func (s *pinger) Begin(p *actor.Process, _ beginning) error {
	for i := range s.count {
		if err := actor.Send(p, s.to, messageAt(i)); err != nil {
			s.fail(err)
		}
	}
	return nil
}

var pingers = actor.Define("pinger", (*pinger).Init, actor.OnMessage((*pinger).Begin))

func (n *sabirNode) send(to place, count uint64) (func() error, error) {
	pid, err := actor.Call[actor.PID](context.Background(), n.system, n.name(to), who{})
	if err != nil {
		return nil, err
	}
	ping, err := actor.Spawn(n.system, pingers, pinger{pid, count, n.Fail})
	if err != nil {
		return nil, err
	}
	return func() error { return actor.Send(n.system, ping, beginning{}) }, nil
}

type answerer struct{}

func (answerer) Answer(_ *actor.Process, m Message) (Message, error) { return m.answer(), nil }

var answerers = actor.Define[answerer, struct{}]("answerer", nil, actor.OnCall((*answerer).Answer), actor.OnCall((*answerer).Who))

func (n *sabirNode) answer(name string) error {
	_, err := actor.Spawn(n.system, answerers, struct{}{}, actor.SpawnConfig{Name: name})
	return err
}

func (n *sabirNode) calling(to place, body func(func(Message) (Message, error)) error) error {
	ctx := context.Background()
	pid, err := actor.Call[actor.PID](ctx, n.system, n.name(to), who{})
	if err != nil {
		return err
	}
	return body(func(m Message) (Message, error) { return actor.Call[Message](ctx, n.system, pid, m) })
}

type sleeper struct{}

func (*sleeper) Init(_ *actor.Process, started *tally) error { started.add(); return nil }

var sleepers = actor.Define("sleeper", (*sleeper).Init)

func (n *sabirNode) idle(count int, started *tally) error {
	for range count {
		if _, err := actor.Spawn(n.system, sleepers, started); err != nil {
			return err
		}
	}
	return nil
}

// sabirSubscriber is a subscriber whose first message, where there are two nodes, is a welcome: it is then subscribed.
type sabirSubscriber struct {
	subscriber
	subscribed *tally
}

// subscription holds the arguments of a subscriber's start.
type subscription struct {
	event                  actor.Name
	deliveries, subscribed *tally
}

var welcome = messageAt(1)

func (s *sabirSubscriber) Init(p *actor.Process, from subscription) error {
	s.deliveries, s.subscribed = from.deliveries, from.subscribed
	return p.Subscribe(from.event)
}

func (s *sabirSubscriber) Take(_ *actor.Process, m Message) error {
	if m == welcome && s.subscribed != nil {
		s.subscribed.add()
		return nil
	}
	s.take(m)
	return nil
}

var subscribing = actor.Define("subscriber", (*sabirSubscriber).Init, actor.OnMessage((*sabirSubscriber).Take))

func (n *sabirNode) subscribe(node string, count int, to *tally) error {
	s := subscription{event: actor.Name{Name: publications, Node: node}, deliveries: to}
	if node != "" { // a subscription to another node's event takes effect later
		s.subscribed = newTally(count)
	}
	for range count {
		if _, err := actor.Spawn(n.system, subscribing, s); err != nil {
			return err
		}
	}
	if s.subscribed == nil {
		return nil
	}
	return s.subscribed.wait("subscribed")
}

// publisher owns the event that the processes subscribe to.
type publisher struct{ event *actor.Topic[Message] }

// Init makes an event that welcomes subscribers, where they are on another node.
func (s *publisher) Init(p *actor.Process, welcomes bool) (err error) {
	if !welcomes {
		s.event, err = actor.NewTopic[Message](p, publications, actor.TopicConfig{})
		return err
	}
	if s.event, err = actor.NewTopic[Message](p, publications, actor.TopicConfig{Keep: 1}); err != nil {
		return err
	}
	return s.event.Publish(p, welcome)
}

func (s *publisher) Publish(p *actor.Process, m Message) error { return s.event.Publish(p, m) }

var publishers = actor.Define("publisher", (*publisher).Init, actor.OnMessage((*publisher).Publish))

func (n *sabirNode) publisher() (func(Message) error, error) {
	pid, err := actor.Spawn(n.system, publishers, n.node != nil)
	return func(m Message) error { return actor.Send(n.system, pid, m) }, err
}

// sabirPasser is a process of a shape.
type sabirPasser struct {
	self   int
	handle handler
	all    []actor.PID // of all processes, complete before the first message
	fail   func(error)
	p      *actor.Process
}

func (s *sabirPasser) Init(_ *actor.Process, from sabirPasser) error { *s = from; return nil }

func (s *sabirPasser) Take(p *actor.Process, m Message) error {
	s.p = p // of this callback: the next may have another
	s.handle(s.self, m, s)
	return nil
}

func (s *sabirPasser) send(to int, m Message) {
	if err := actor.Send(s.p, s.all[to], m); err != nil {
		s.fail(err)
	}
}

var passers = actor.Define("passer", (*sabirPasser).Init, actor.OnMessage((*sabirPasser).Take))

func (n *sabirNode) pass(count int, handle handler) (func(int, Message) error, error) {
	all := make([]actor.PID, count)
	for i := range all {
		p, err := actor.Spawn(n.system, passers, sabirPasser{self: i, handle: handle, all: all, fail: n.Fail}, actor.SpawnConfig{Mailbox: 64 << 10, Overflow: actor.Wait})
		if err != nil {
			return nil, err
		}
		all[i] = p.PID()
	}
	return func(to int, m Message) error { return actor.Send(n.system, all[to], m) }, nil
}

// sabirTree is a process of a tree.
type sabirTree struct{ gathering }

func (s *sabirTree) Init(_ *actor.Process, from gathering) error { s.gathering = from; return nil }

func (s *sabirTree) Begin(p *actor.Process, _ beginning) error {
	if s.leaf() {
		return s.tell(p)
	}
	for i := range branching {
		child, err := actor.Spawn(p, trees, s.below(i))
		if err == nil {
			err = actor.Send(p, child, beginning{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *sabirTree) Take(p *actor.Process, m Message) error {
	if !s.take(m) {
		return nil
	}
	return s.tell(p)
}

func (s *sabirTree) tell(p *actor.Process) error {
	if s.done != nil {
		s.done(s.total().Sequence)
	} else if err := actor.Send(p, p.Parent(), s.total()); err != nil {
		s.fail(err)
	}
	return actor.ErrNormal
}

// trees is set by init, as a process of the behavior starts others of it.
var trees *actor.Behavior[sabirTree, gathering]

func init() {
	trees = actor.Define("tree", (*sabirTree).Init, actor.OnMessage((*sabirTree).Begin), actor.OnMessage((*sabirTree).Take))
}

func (n *sabirNode) skynet(first gathering) error {
	root, err := actor.Spawn(n.system, trees, first)
	if err != nil {
		return err
	}
	return actor.Send(n.system, root, beginning{})
}
