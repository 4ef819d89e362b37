package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/tochemey/goakt/v4/actor"
	"github.com/tochemey/goakt/v4/log"
	"github.com/tochemey/goakt/v4/remote"
)

type goakt struct {
	actor.ActorSystem
	fail func(error)
	self *actor.PID // whose name the calls from outside have, as in goakt's benchmark
}

// startGoakt has the options of goakt's own benchmarks. Actors are long-lived, so that idle ones are not passivated.
func startGoakt(s setup) (node, error) {
	options := []actor.Option{actor.WithLogger(log.DiscardLogger), actor.WithActorInitMaxRetries(1)}
	if s.Address != "" {
		port, err := portOf(s.Address)
		if err != nil {
			return nil, err
		}
		options = append(options, actor.WithRemote(remote.NewConfig("127.0.0.1", int(port))))
	}
	if s.Work == publish {
		options = append(options, actor.WithPubSub())
	}
	system, err := actor.NewActorSystem("lab", options...)
	if err != nil {
		return nil, err
	}
	if err := system.Start(context.Background()); err != nil {
		return nil, err
	}
	n := &goakt{ActorSystem: system, fail: s.Fail}
	n.self, err = n.spawn("self", func(*actor.ReceiveContext) {})
	return n, err
}

// goaktActor is an actor that is one function.
type goaktActor struct{ handle func(*actor.ReceiveContext) }

func (a *goaktActor) PreStart(*actor.Context) error   { return nil }
func (a *goaktActor) PostStop(*actor.Context) error   { return nil }
func (a *goaktActor) Receive(c *actor.ReceiveContext) { a.handle(c) }
func (n *goakt) stop()                                { n.Stop(context.Background()) }

func (n *goakt) spawn(name string, handle func(*actor.ReceiveContext)) (*actor.PID, error) {
	return n.Spawn(context.Background(), name, &goaktActor{handle}, actor.WithLongLived())
}

func (n *goakt) pid(to place) (*actor.PID, error) {
	if to.Node == "" {
		return n.ActorOf(context.Background(), to.Name)
	}
	port, err := portOf(to.Node)
	if err != nil {
		return nil, err
	}
	return n.self.RemoteLookup(context.Background(), "127.0.0.1", int(port), to.Name)
}

func (n *goakt) receive(name string, to *counter) error {
	_, err := n.spawn(name, func(c *actor.ReceiveContext) {
		switch m := c.Message().(type) {
		case Message:
			to.add(m)
		case *Ping:
			to.add(m.message())
		}
	})
	return err
}

func (n *goakt) send(to place, count uint64) (func() error, error) {
	target, err := n.pid(to)
	if err != nil {
		return nil, err
	}
	// The PID's Tell does the same as the context's Tell, and returns an error besides.
	sender, err := n.spawn("to-"+to.Name, func(c *actor.ReceiveContext) {
		if _, ok := c.Message().(beginning); !ok {
			return
		}
		self, ctx := c.Self(), context.Background()
		for i := range count {
			var err error
			if to.Node == "" {
				err = self.Tell(ctx, target, messageAt(i))
			} else {
				err = self.Tell(ctx, target, messageAt(i).proto())
			}
			if err != nil {
				n.fail(fmt.Errorf("send message %d: %w", i, err))
				return
			}
		}
	})
	return func() error { return actor.Tell(context.Background(), sender, beginning{}) }, err
}

func (n *goakt) answer(name string) error {
	_, err := n.spawn(name, func(c *actor.ReceiveContext) {
		switch m := c.Message().(type) {
		case Message:
			c.Response(m.answer())
		case *Ping:
			c.Response(m.message().answer().proto())
		}
	})
	return err
}

func (n *goakt) calling(to place, body func(func(Message) (Message, error)) error) error {
	target, err := n.pid(to)
	if err != nil {
		return err
	}
	ctx := context.Background()
	return body(func(m Message) (Message, error) {
		if to.Node == "" {
			return messageOf(n.self.Ask(ctx, target, m, callTimeout))
		}
		return messageOf(n.self.Ask(ctx, target, m.proto(), callTimeout))
	})
}

func (n *goakt) idle(count int, started *tally) error {
	for i := range count {
		if _, err := n.spawn(strconv.Itoa(i), func(c *actor.ReceiveContext) {
			if _, ok := c.Message().(*actor.PostStart); ok {
				started.add()
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// publisher sends to the system's topic actor.
func (n *goakt) publisher() (func(Message) error, error) {
	return func(m Message) error {
		return n.self.Tell(context.Background(), n.TopicActor(), actor.NewPublish("1", publications, m))
	}, nil
}

// subscribe is at the system's topic actor too. Each subscriber waits for its acknowledgement. Between nodes topics need goakt's
// cluster, which is not measured here.
func (n *goakt) subscribe(node string, count int, to *tally) error {
	if node != "" {
		return errOneNode
	}
	ready := newTally(count)
	for i := range count {
		s := subscriber{deliveries: to}
		if _, err := n.spawn(strconv.Itoa(i), func(c *actor.ReceiveContext) {
			switch m := c.Message().(type) {
			case *actor.PostStart:
				c.Tell(n.TopicActor(), actor.NewSubscribe(publications))
			case *actor.SubscribeAck:
				ready.add()
			case Message:
				s.take(m)
			}
		}); err != nil {
			return err
		}
	}
	return ready.wait("subscribed")
}

// goaktPasser is an actor of a shape.
type goaktPasser struct {
	all  []*actor.PID
	self *actor.PID
	fail func(error)
}

func (p *goaktPasser) send(to int, m Message) {
	if err := p.self.Tell(context.Background(), p.all[to], m); err != nil {
		p.fail(err)
	}
}

func (n *goakt) pass(count int, handle handler) (func(int, Message) error, error) {
	all := make([]*actor.PID, count)
	for i := range all {
		p := &goaktPasser{all: all, fail: n.fail}
		pid, err := n.spawn("passer-"+strconv.Itoa(i), func(c *actor.ReceiveContext) {
			if m, ok := c.Message().(Message); ok {
				p.self = c.Self()
				handle(i, m, p)
			}
		})
		if err != nil {
			return nil, err
		}
		all[i] = pid
	}
	return func(to int, m Message) error { return actor.Tell(context.Background(), all[to], m) }, nil
}

// skynet is not measured: of actors that start others with PID.SpawnChild at the same moment, some got "request timed out", with 111 in all.
func (n *goakt) skynet(gathering) error { return errors.New("actors that start others time out") }
