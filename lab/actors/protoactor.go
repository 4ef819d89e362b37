package main

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
)

type protoactor struct {
	*actor.ActorSystem
	remote *remote.Remote
}

// startProtoactor leaves everything at its default but the log. The mailboxes of protoactor-go's remote benchmark are bounded
// to a million messages; the default ones are unbounded, as those of the other peers are.
func startProtoactor(s setup) (node, error) {
	n := &protoactor{ActorSystem: actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError}))
	}))}
	n.EventStream.Subscribe(func(event any) {
		if letter, ok := event.(*actor.DeadLetterEvent); ok {
			switch letter.Message.(type) {
			case Message, *Ping:
				s.Fail(fmt.Errorf("a dead letter to %s", letter.PID))
			}
		}
	})
	if s.Address == "" {
		return n, nil
	}
	port, err := portOf(s.Address)
	if err != nil {
		return nil, err
	}
	n.remote = remote.NewRemote(n.ActorSystem, remote.Configure("127.0.0.1", int(port)))
	n.remote.Start()
	return n, nil
}

func (n *protoactor) stop() {
	if n.remote != nil {
		n.remote.Shutdown(false)
	}
	n.Shutdown()
}

func (n *protoactor) pid(to place) *actor.PID {
	if to.Node == "" {
		to.Node = n.Address()
	}
	return actor.NewPID(to.Node, to.Name)
}

func (n *protoactor) spawn(name string, handle actor.ReceiveFunc) (*actor.PID, error) {
	return n.Root.SpawnNamed(actor.PropsFromFunc(handle), name)
}

func (n *protoactor) receive(name string, to *counter) error {
	_, err := n.spawn(name, func(c actor.Context) {
		switch m := c.Message().(type) {
		case Message:
			to.add(m)
		case *Ping:
			to.add(m.message())
		}
	})
	return err
}

func (n *protoactor) send(to place, count uint64) (func() error, error) {
	target := n.pid(to)
	pid, err := n.spawn("to "+to.Name, func(c actor.Context) {
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
	return func() error { n.Root.Send(pid, beginning{}); return nil }, err
}

func (n *protoactor) answer(name string) error {
	_, err := n.spawn(name, func(c actor.Context) {
		switch m := c.Message().(type) {
		case Message:
			c.Respond(m.answer())
		case *Ping:
			c.Respond(m.message().answer().proto())
		}
	})
	return err
}

func (n *protoactor) calling(to place, body func(func(Message) (Message, error)) error) error {
	target := n.pid(to)
	return body(func(m Message) (Message, error) {
		if to.Node == "" {
			return messageOf(n.Root.RequestFuture(target, m, callTimeout).Result())
		}
		return messageOf(n.Root.RequestFuture(target, m.proto(), callTimeout).Result())
	})
}

func (n *protoactor) idle(count int, started *tally) error {
	for i := range count {
		if _, err := n.spawn(strconv.Itoa(i), func(c actor.Context) {
			if _, ok := c.Message().(*actor.Started); ok {
				started.add()
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

func (n *protoactor) publisher() (func(Message) error, error) {
	return func(m Message) error { n.EventStream.Publish(m); return nil }, nil
}

// subscribe is at the system's event stream, which calls a function for each subscription; the function sends to the process.
func (n *protoactor) subscribe(node string, count int, to *tally) error {
	if node != "" {
		return errOneNode
	}
	started := newTally(count)
	for i := range count {
		s := subscriber{deliveries: to}
		pid, err := n.spawn(strconv.Itoa(i), func(c actor.Context) {
			switch m := c.Message().(type) {
			case *actor.Started:
				started.add()
			case Message:
				s.take(m)
			}
		})
		if err != nil {
			return err
		}
		n.EventStream.Subscribe(func(event any) {
			if m, ok := event.(Message); ok {
				n.Root.Send(pid, m)
			}
		})
	}
	return started.wait("started")
}

// protoactorPasser is an actor of a shape.
type protoactorPasser struct {
	all []*actor.PID
	c   actor.Context
}

func (p *protoactorPasser) send(to int, m Message) { p.c.Send(p.all[to], m) }

func (n *protoactor) pass(count int, handle handler) (func(int, Message) error, error) {
	all := make([]*actor.PID, count)
	for i := range all {
		p := &protoactorPasser{all: all}
		all[i] = n.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
			if m, ok := c.Message().(Message); ok {
				p.c = c
				handle(i, m, p)
			}
		}))
	}
	return func(to int, m Message) error { n.Root.Send(all[to], m); return nil }, nil
}

// protoactorTree makes an actor of a tree.
func protoactorTree(g gathering) *actor.Props {
	tell := func(c actor.Context) {
		if g.done != nil {
			g.done(g.total().Sequence)
		} else {
			c.Send(c.Parent(), g.total())
		}
		c.Stop(c.Self())
	}
	return actor.PropsFromFunc(func(c actor.Context) {
		switch m := c.Message().(type) {
		case beginning:
			if g.leaf() {
				tell(c)
				return
			}
			for i := range branching {
				c.Send(c.Spawn(protoactorTree(g.below(i))), beginning{})
			}
		case Message:
			if g.take(m) {
				tell(c)
			}
		}
	})
}

func (n *protoactor) skynet(first gathering) error {
	n.Root.Send(n.Root.Spawn(protoactorTree(first)), beginning{})
	return nil
}
