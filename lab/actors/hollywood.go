package main

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"

	"github.com/anthdm/hollywood/actor"
	"github.com/anthdm/hollywood/remote"
)

type hollywood struct {
	*actor.Engine
	remote  *remote.Remote
	options []actor.OptFunc
	peer    bool
}

// startHollywood leaves everything at its default but, where inbox is not 0, the capacity of the inboxes. A default inbox holds
// 1024 messages and takes 24 KiB from the start: a million of them do not fit into most machines. Inboxes grow.
func startHollywood(s setup, inbox int) (node, error) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError})))
	n, config := &hollywood{peer: s.Address != ""}, actor.NewEngineConfig()
	if inbox > 0 {
		n.options = []actor.OptFunc{actor.WithInboxSize(inbox)}
	}
	if n.peer {
		n.remote = remote.New(s.Address, remote.NewConfig())
		config = config.WithRemote(n.remote)
	}
	engine, err := actor.NewEngine(config)
	if err != nil {
		return nil, err
	}
	n.Engine = engine
	engine.Subscribe(engine.SpawnFunc(func(c *actor.Context) {
		switch event := c.Message().(type) {
		case actor.DeadLetterEvent:
			switch event.Message.(type) {
			case Message, *Ping, beginning: // and not what an actor that ends sends to those below it, which may have ended
				s.Fail(fmt.Errorf("a dead letter to %s", event.Target))
			}
		case actor.RemoteUnreachableEvent:
			s.Fail(fmt.Errorf("%s cannot be reached", event.ListenAddr))
		}
	}, "events"))
	return n, nil
}

// stop leaves the subscription of the events open: the process ends right after.
func (n *hollywood) stop() {
	if n.remote != nil {
		n.remote.Stop()
	}
}

const hollywoodKind = "lab"

func (n *hollywood) pid(to place) *actor.PID {
	if to.Node == "" {
		to.Node = n.Address()
	}
	return actor.NewPID(to.Node, hollywoodKind+"/"+to.Name)
}

func (n *hollywood) spawn(name string, handle func(*actor.Context)) *actor.PID {
	return n.SpawnFunc(handle, hollywoodKind, append(n.options, actor.WithID(name))...)
}

// A message is a plain struct on one node; between nodes it must be protobuf.
func (n *hollywood) receive(name string, to *counter) error {
	n.spawn(name, func(c *actor.Context) {
		switch m := c.Message().(type) {
		case Message:
			to.add(m)
		case *Ping:
			to.add(m.message())
		}
	})
	return nil
}

func (n *hollywood) send(to place, count uint64) (func() error, error) {
	target := n.pid(to)
	pid := n.spawn("to "+to.Name, func(c *actor.Context) {
		if _, ok := c.Message().(beginning); !ok {
			return
		}
		if to.Node == "" {
			for i := range count {
				c.Send(target, messageAt(i))
			}
			return
		}
		for i := range count {
			c.Send(target, messageAt(i).proto())
		}
	})
	return func() error { n.Send(pid, beginning{}); return nil }, nil
}

func (n *hollywood) answer(name string) error {
	n.spawn(name, func(c *actor.Context) {
		switch m := c.Message().(type) {
		case Message:
			c.Respond(m.answer())
		case *Ping:
			c.Respond(m.message().answer().proto())
		}
	})
	return nil
}

func (n *hollywood) calling(to place, body func(func(Message) (Message, error)) error) error {
	target := n.pid(to)
	return body(func(m Message) (Message, error) {
		if to.Node == "" {
			return messageOf(n.Request(target, m, callTimeout).Result())
		}
		return messageOf(n.Request(target, m.proto(), callTimeout).Result())
	})
}

func (n *hollywood) idle(count int, started *tally) error {
	for i := range count {
		n.spawn(strconv.Itoa(i), func(c *actor.Context) {
			if _, ok := c.Message().(actor.Started); ok {
				started.add()
			}
		})
	}
	return nil
}

func (n *hollywood) publisher() (func(Message) error, error) {
	return func(m Message) error { n.BroadcastEvent(m); return nil }, nil
}

// ready is published before the publication that is measured, to know that all are subscribed.
type ready struct{}

// subscribe is the engine's event stream. It also carries an event for each actor that starts, to all who are subscribed
// by then, so the processes start first. It is one actor: what is published comes after the subscriptions.
func (n *hollywood) subscribe(node string, count int, to *tally) error {
	if node != "" {
		return errOneNode
	}
	started, subscribed := newTally(count), newTally(count)
	var pids []*actor.PID
	for i := range count {
		s := subscriber{deliveries: to}
		pids = append(pids, n.spawn(strconv.Itoa(i), func(c *actor.Context) {
			switch m := c.Message().(type) {
			case actor.Started:
				started.add()
			case ready:
				subscribed.add()
			case Message:
				s.take(m)
			}
		}))
	}
	if err := started.wait("started"); err != nil {
		return err
	}
	for _, pid := range pids {
		n.Subscribe(pid)
	}
	n.BroadcastEvent(ready{})
	return subscribed.wait("subscribed")
}

// hollywoodPasser is an actor of a shape.
type hollywoodPasser struct {
	all []*actor.PID
	c   *actor.Context
}

func (p *hollywoodPasser) send(to int, m Message) { p.c.Send(p.all[to], m) }

func (n *hollywood) pass(count int, handle handler) (func(int, Message) error, error) {
	all := make([]*actor.PID, count)
	for i := range all {
		p := &hollywoodPasser{all: all}
		all[i] = n.SpawnFunc(func(c *actor.Context) {
			if m, ok := c.Message().(Message); ok {
				p.c = c
				handle(i, m, p)
			}
		}, hollywoodKind, n.options...)
	}
	return func(to int, m Message) error { n.Send(all[to], m); return nil }, nil
}

// tree is an actor of a tree.
func (n *hollywood) tree(g gathering) func(*actor.Context) {
	tell := func(c *actor.Context) {
		if g.done != nil {
			g.done(g.total().Sequence)
		} else {
			c.Send(c.Parent(), g.total())
		}
		n.Poison(c.PID())
	}
	return func(c *actor.Context) {
		switch m := c.Message().(type) {
		case beginning:
			if g.leaf() {
				tell(c)
				return
			}
			for i := range branching {
				c.Send(c.SpawnChildFunc(n.tree(g.below(i)), "tree", append(n.options, actor.WithID(strconv.Itoa(i)))...), beginning{})
			}
		case Message:
			if g.take(m) {
				tell(c)
			}
		}
	}
}

func (n *hollywood) skynet(first gathering) error {
	n.Send(n.SpawnFunc(n.tree(first), "tree", n.options...), beginning{})
	return nil
}
