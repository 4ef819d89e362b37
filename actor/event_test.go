package actor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

type price struct{ N int }

// stranger is a message that no seat has a handler for.
type stranger struct{ N int }

// seat is a process that reports what it gets, and does what the test orders.
type seat struct{ received chan any }

type seatDo struct{ Fn func(p *actor.Process) error }

func (s *seat) Init(p *actor.Process, received chan any) error { s.received = received; return nil }
func (s *seat) Do(p *actor.Process, m seatDo) (sabir.Empty, error) {
	return sabir.Empty{}, m.Fn(p)
}
func seatHears[M any](s *seat, p *actor.Process, m M) error { s.received <- m; return nil }
func (s *seat) Exit(p *actor.Process, e actor.Exit) error {
	if e.From.Zero() && e.Topic.Name == "" {
		return e.Reason // the system stops
	}
	s.received <- e
	return nil
}

var seatB = actor.Define("seat", (*seat).Init, actor.OnMessage(seatHears[price]), actor.OnMessage(seatHears[actor.Down]), actor.OnMessage(seatHears[actor.GroupChange]), actor.OnMessage((*seat).Exit), actor.OnCall((*seat).Do))

// plainSeat has no handler for Exit.
type plainSeat struct{ seat }

func (s *plainSeat) Init(p *actor.Process, received chan any) error {
	s.received = received
	return nil
}
func (s *plainSeat) Price(p *actor.Process, m price) error { s.received <- m; return nil }
func (s *plainSeat) Do(p *actor.Process, m seatDo) (sabir.Empty, error) {
	return sabir.Empty{}, m.Fn(p)
}

var plainSeatB = actor.Define("plain-seat", (*plainSeat).Init, actor.OnMessage((*plainSeat).Price), actor.OnCall((*plainSeat).Do))

// taken is a seat as the test sees it.
type taken struct {
	t        testing.TB
	s        *actor.System
	pid      actor.PID
	received chan any
}

func sit(t testing.TB, s *actor.System, config ...actor.SpawnConfig) taken {
	t.Helper()
	received := make(chan any, 10_000)
	pid, err := actor.Spawn(s, seatB, received, config...)
	if err != nil {
		t.Fatal(err)
	}
	return taken{t, s, pid.PID(), received}
}

// do runs fn in a callback of the process.
func (w taken) do(fn func(p *actor.Process) error) error {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	_, err := actor.Call[sabir.Empty](ctx, w.s, w.pid, seatDo{fn})
	return err
}

func (w taken) must(fn func(p *actor.Process) error) {
	w.t.Helper()
	if err := w.do(fn); err != nil {
		w.t.Fatal(err)
	}
}

// wants checks what the process gets next, in this order.
func (w taken) wants(all ...any) {
	w.t.Helper()
	for _, want := range all {
		if got := (watched{w.pid, w.received}).next(w.t); got != want {
			w.t.Fatalf("the process got %T %+v, not %T %+v", got, got, want, want)
		}
	}
}

func (w taken) wantsPrices(from, to int) {
	w.t.Helper()
	for n := from; n <= to; n++ {
		w.wants(price{n})
	}
}

// wantsNothing checks that what was given to the process until now brought nothing.
func (w taken) wantsNothing() {
	w.t.Helper()
	w.must(func(*actor.Process) error { return nil })
	select {
	case m := <-w.received:
		w.t.Fatalf("the process got %T %+v", m, m)
	default:
	}
}

// announces makes the process register a topic.
func (w taken) announces(name string, config actor.TopicConfig) *actor.Topic[price] {
	w.t.Helper()
	var ev *actor.Topic[price]
	w.must(func(p *actor.Process) (err error) {
		ev, err = actor.NewTopic[price](p, name, config)
		return err
	})
	return ev
}

func (w taken) publishes(ev *actor.Topic[price], from, to int) {
	w.t.Helper()
	w.must(func(p *actor.Process) error {
		for n := from; n <= to; n++ {
			if err := ev.Publish(p, price{n}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w taken) links(event actor.Name) {
	w.t.Helper()
	w.must(func(p *actor.Process) error { return p.Subscribe(event) })
}

func (w taken) monitors(event actor.Name) (ref actor.MonitorRef) {
	w.t.Helper()
	w.must(func(p *actor.Process) (err error) {
		ref, err = p.SubscribeMonitored(event)
		return err
	})
	return ref
}

func newSystem(t testing.TB) *actor.System {
	s := actor.NewSystem(actor.Config{Logger: quiet})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// onOneAndTwoNodes runs a test with producer and subscriber on one node, and on two.
func onOneAndTwoNodes(t *testing.T, test func(t *testing.T, producer, subscriber *actor.System, node string)) {
	t.Run("one node", func(t *testing.T) {
		s := newSystem(t)
		test(t, s, s, "")
	})
	t.Run("two nodes", func(t *testing.T) {
		all := joinMembers(t, "tcp://127.0.0.1:0", "a", "b")
		test(t, all[0].System, all[1].System, "a")
	})
}

func TestSubscribersGetKeptValuesFirstAndThenAllLaterOnesOnceAndInOrder(t *testing.T) {
	onOneAndTwoNodes(t, func(t *testing.T, at, here *actor.System, node string) {
		producer := sit(t, at)
		ev := producer.announces("prices", actor.TopicConfig{Keep: 3})
		producer.publishes(ev, 1, 10)
		event := actor.Name{Name: "prices", Node: node}
		first := sit(t, here)
		first.links(event)
		first.wantsPrices(8, 10)
		producer.publishes(ev, 11, 3000)
		first.wantsPrices(11, 3000)
		second := sit(t, here)
		second.links(event)
		second.wantsPrices(2998, 3000)
		producer.publishes(ev, 3001, 3001)
		first.wantsPrices(3001, 3001)
		second.wantsPrices(3001, 3001)
	})
}

func TestNewcomersInTheMiddleOfPublishingMissNothing(t *testing.T) {
	onOneAndTwoNodes(t, func(t *testing.T, at, here *actor.System, node string) {
		producer := sit(t, at)
		ev := producer.announces("prices", actor.TopicConfig{Keep: 1})
		producer.publishes(ev, 1, 1)
		go producer.do(func(p *actor.Process) error {
			for n := 2; n <= 2000; n++ {
				if err := ev.Publish(p, price{n}); err != nil {
					return err
				}
			}
			return nil
		})
		for range 20 {
			w := sit(t, here)
			w.links(actor.Name{Name: "prices", Node: node})
			first := (watched{w.pid, w.received}).next(t).(price).N
			w.wantsPrices(first+1, 2000)
		}
	})
}

func TestTheEndOfAnEventComesAfterItsLastValue(t *testing.T) {
	for name, end := range map[string]struct {
		fn     func(producer taken, ev *actor.Topic[price])
		reason error
	}{
		"by End": {func(_ taken, ev *actor.Topic[price]) { ev.End() }, actor.ErrNormal},
		"when the producer fails": {func(w taken, _ *actor.Topic[price]) {
			w.do(func(p *actor.Process) error { p.Stop(errRefused); return nil })
		}, errRefused},
		"when it is killed": {func(w taken, _ *actor.Topic[price]) { w.s.Kill(w.pid) }, actor.ErrKilled},
	} {
		t.Run(name, func(t *testing.T) {
			onOneAndTwoNodes(t, func(t *testing.T, at, here *actor.System, node string) {
				producer, linked, monitoring := sit(t, at), sit(t, here), sit(t, here)
				ev := producer.announces("prices", actor.TopicConfig{Keep: 1})
				producer.publishes(ev, 0, 0)
				event := actor.Name{Name: "prices", Node: node}
				linked.links(event)
				ref := monitoring.monitors(event)
				linked.wantsPrices(0, 0)
				monitoring.wantsPrices(0, 0)
				producer.publishes(ev, 1, 500)
				end.fn(producer, ev)
				linked.wantsPrices(1, 500)
				monitoring.wantsPrices(1, 500)
				exit, ok := (watched{linked.pid, linked.received}).next(t).(actor.Exit)
				if !ok || exit.Topic != event || exit.From != producer.pid || !errors.Is(exit.Reason, end.reason) {
					t.Errorf("the linked one got %+v", exit)
				}
				down, ok := (watched{monitoring.pid, monitoring.received}).next(t).(actor.Down)
				if !ok || down.Name != event || down.Ref != ref || down.PID != producer.pid || !errors.Is(down.Reason, end.reason) {
					t.Errorf("the monitoring one got %+v", down)
				}
				if err := ev.Publish(here, price{}); !errors.Is(err, actor.ErrNoTopic) {
					t.Errorf("publishing after the end: %v", err)
				}
			})
		})
	}
}

func TestAProcessWithoutAHandlerForExitsEndsWithTheEvent(t *testing.T) {
	for _, c := range []struct {
		reason error
		ends   bool
	}{{errRefused, true}, {actor.ErrNormal, false}} {
		t.Run(fmt.Sprint("the producer ends by ", c.reason), func(t *testing.T) {
			s := newSystem(t)
			producer, w := sit(t, s), sit(t, s)
			producer.announces("prices", actor.TopicConfig{})
			pid, err := actor.Spawn(s, plainSeatB, make(chan any, 10))
			if err != nil {
				t.Fatal(err)
			}
			plain := taken{t, s, pid.PID(), nil}
			plain.links(actor.Name{Name: "prices"})
			w.monitors(actor.Name{Name: "prices"})
			producer.do(func(p *actor.Process) error { p.Stop(c.reason); return nil })
			(watched{w.pid, w.received}).next(t)
			err = plain.do(func(*actor.Process) error { return nil })
			if c.ends != errors.Is(err, actor.ErrNoProcess) {
				t.Errorf("a call to it: %v", err)
			}
		})
	}
}

func TestAnEventThatIsNotThere(t *testing.T) {
	t.Run("on this node is an error", func(t *testing.T) {
		w := sit(t, newSystem(t))
		if err := w.do(func(p *actor.Process) error { return p.Subscribe(actor.Name{Name: "none"}) }); !errors.Is(err, actor.ErrNoTopic) {
			t.Error(err)
		}
	})
	t.Run("on another node comes as its end", func(t *testing.T) {
		all := joinMembers(t, "tcp://127.0.0.1:0", "a", "b")
		w := sit(t, all[1].System)
		w.monitors(actor.Name{Name: "none", Node: "a"}) // which has no topic at all
		if down := (watched{w.pid, w.received}).next(t).(actor.Down); !errors.Is(down.Reason, actor.ErrNoTopic) {
			t.Error(down)
		}
		sit(t, all[0].System).announces("prices", actor.TopicConfig{})
		w.monitors(actor.Name{Name: "none", Node: "a"})
		if down := (watched{w.pid, w.received}).next(t).(actor.Down); !errors.Is(down.Reason, actor.ErrNoTopic) {
			t.Error(down)
		}
	})
	t.Run("on a node that is not there", func(t *testing.T) {
		all := joinMembers(t, "tcp://127.0.0.1:0", "a")
		w := sit(t, all[0].System)
		w.monitors(actor.Name{Name: "prices", Node: "nowhere"})
		if down := (watched{w.pid, w.received}).next(t).(actor.Down); !errors.Is(down.Reason, actor.ErrNoConnection) {
			t.Error(down)
		}
	})
}

func TestASubscriberOnAnotherNodeWithoutAHandlerGetsAnError(t *testing.T) {
	actor.Register[stranger]()
	all := joinMembers(t, "tcp://127.0.0.1:0", "a", "b")
	producer, w := sit(t, all[0].System), sit(t, all[1].System)
	var ev *actor.Topic[stranger]
	producer.must(func(p *actor.Process) (err error) {
		ev, err = actor.NewTopic[stranger](p, "strange", actor.TopicConfig{})
		return err
	})
	event := actor.Name{Name: "strange", Node: "a"}
	for range 2 { // it may try again
		w.monitors(event)
		if down := (watched{w.pid, w.received}).next(t).(actor.Down); !errors.Is(down.Reason, actor.ErrNotHandled) {
			t.Error(down.Reason)
		}
	}
	if err := ev.Publish(all[0].System, stranger{1}); err != nil {
		t.Error(err)
	}
	for ev.Mirrors() > 0 { // which nothing needs
		runtime.Gosched()
	}
}

func TestTheLossOfItsNodeEndsAnEvent(t *testing.T) {
	all := joinMembers(t, "tcp://127.0.0.1:0", "a", "b")
	producer, w := sit(t, all[0].System), sit(t, all[1].System)
	ev := producer.announces("prices", actor.TopicConfig{Keep: 1})
	producer.publishes(ev, 1, 1)
	w.monitors(actor.Name{Name: "prices", Node: "a"})
	w.wantsPrices(1, 1)
	all[0].stop()
	if _, ok := (watched{w.pid, w.received}).next(t).(actor.Down); !ok {
		t.Error("no Down")
	}
}

func TestABacklogOfLessThanNothingIsRefused(t *testing.T) {
	producer := sit(t, newSystem(t))
	producer.must(func(p *actor.Process) error {
		if _, err := actor.NewTopic[price](p, "prices", actor.TopicConfig{Backlog: -1}); err == nil {
			t.Error("a topic that can hold no value was registered")
		}
		_, err := actor.NewTopic[price](p, "prices", actor.TopicConfig{Backlog: 1})
		return err
	})
}

func TestUnsubscribingEndsIt(t *testing.T) {
	onOneAndTwoNodes(t, func(t *testing.T, at, here *actor.System, node string) {
		producer, stays, goes := sit(t, at), sit(t, here), sit(t, here)
		ev := producer.announces("prices", actor.TopicConfig{Keep: 1})
		producer.publishes(ev, 1, 1)
		event := actor.Name{Name: "prices", Node: node}
		stays.links(event)
		goes.links(event)
		goes.wantsPrices(1, 1)
		goes.must(func(p *actor.Process) error { p.Unsubscribe(event); return nil })
		producer.publishes(ev, 2, 3)
		stays.wantsPrices(1, 3)
		goes.wantsNothing()
		goes.links(event) // and again
		goes.wantsPrices(3, 3)
		for _, w := range []taken{stays, goes} {
			w.must(func(p *actor.Process) error { p.Unsubscribe(event); return nil })
		}
		ev.End()
		stays.wantsNothing()
		goes.wantsNothing()
	})
}

func TestSubscribersThatEndAreForgotten(t *testing.T) {
	s := newSystem(t)
	producer := sit(t, s)
	ev := producer.announces("prices", actor.TopicConfig{})
	var all []taken
	for range 100 {
		w := sit(t, s)
		w.links(actor.Name{Name: "prices"})
		all = append(all, w)
	}
	for _, w := range all[:99] {
		s.Kill(w.pid)
	}
	producer.publishes(ev, 1, 2)
	all[99].wantsPrices(1, 2)
}

func TestWhatEventsRefuse(t *testing.T) {
	s := newSystem(t)
	producer, w := sit(t, s), sit(t, s)
	producer.announces("prices", actor.TopicConfig{})
	w.links(actor.Name{Name: "prices"})
	for name, c := range map[string]struct {
		fn   func(p *actor.Process) error
		want error
	}{
		"a second event of that name": {func(p *actor.Process) error {
			_, err := actor.NewTopic[price](p, "prices", actor.TopicConfig{})
			return err
		}, actor.ErrNameTaken},
		"to subscribe twice": {func(p *actor.Process) error { return p.Subscribe(actor.Name{Name: "prices"}) }, actor.ErrSubscribed},
		"who has no handler for the values": {func(p *actor.Process) error {
			if _, err := actor.NewTopic[stranger](p, "strange", actor.TopicConfig{}); err != nil {
				return err
			}
			return p.Subscribe(actor.Name{Name: "strange"})
		}, actor.ErrNotHandled},
	} {
		t.Run(name, func(t *testing.T) {
			if err := w.do(c.fn); !errors.Is(err, c.want) {
				t.Errorf("the error is %v, not %v", err, c.want)
			}
		})
	}
}

func TestASubscriberWhoseMailboxIsFullDelaysNoOther(t *testing.T) {
	s := newSystem(t)
	producer, w := sit(t, s), sit(t, s)
	ev := producer.announces("prices", actor.TopicConfig{})
	full := sit(t, s, actor.SpawnConfig{Mailbox: 2, Overflow: actor.Wait})
	full.links(actor.Name{Name: "prices"})
	w.links(actor.Name{Name: "prices"})
	blocked, release := make(chan struct{}), make(chan struct{})
	go full.do(func(*actor.Process) error { close(blocked); <-release; return nil })
	<-blocked
	for n := 1; n <= 10; n++ { // one at a time
		producer.publishes(ev, n, n)
		w.wantsPrices(n, n)
	}
	if lost := s.Stats().Overflowed; lost < 7 {
		t.Errorf("%d values were lost, of 10 to a mailbox of 2", lost)
	}
	close(release)
	full.wantsPrices(1, 1)
}

func TestAnEventIsGoneWithItsProducerAndItsNameIsFree(t *testing.T) {
	s := newSystem(t)
	producer, w := sit(t, s), sit(t, s)
	producer.announces("prices", actor.TopicConfig{})
	w.monitors(actor.Name{Name: "prices"})
	s.Kill(producer.pid)
	(watched{w.pid, w.received}).next(t)
	sit(t, s).announces("prices", actor.TopicConfig{})
}

func TestOneMessageForANodeHoweverManySubscribeThere(t *testing.T) {
	all := joinMembers(t, "tcp://127.0.0.1:0", "a", "b")
	producer := sit(t, all[0].System)
	ev := producer.announces("prices", actor.TopicConfig{Keep: 1})
	producer.publishes(ev, 1, 1)
	var seats []taken
	for range 50 {
		w := sit(t, all[1].System)
		w.links(actor.Name{Name: "prices", Node: "a"})
		seats = append(seats, w)
	}
	for _, w := range seats {
		w.wantsPrices(1, 1)
	}
	producer.publishes(ev, 2, 2)
	for _, w := range seats {
		w.wantsPrices(2, 2)
	}
	if n := ev.Mirrors(); n != 1 {
		t.Errorf("%d subscribers for the one other node", n)
	}
	for _, w := range seats {
		all[1].Kill(w.pid)
	}
	for ev.Mirrors() > 0 { // it goes with the last one there
		runtime.Gosched()
	}
}
