package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/errname"
)

var lifeBehaviours = []behaviour{
	{"a node that starts later finds and is found by all", joinLater},
	{"a node finds the others by any seed that can be reached, or at the broker", seeds},
	{"nodes that start at the same moment find each other", startTogether},
	{"a node that stops under load lets not one call fail", stopUnderLoad},
	{"a rolling restart under load lets not one call fail", rollingRestart},
	{"a node that stops takes no new streams and lets those that are open finish", stopWithStreams},
	{"a node that has stopped is gone from the listings, and its actions with it", stopped},
	{"a node that stops waits for calls in flight, and they get their answers", stopWaits},
	{"a node that stops lets its own handlers call the others until they are done", stopCallsOut},
	{"events go on while a node stops", stopWithEvents},
	{"a node that is started again under the same name is found again", sameNameAgain},
	{"the first node may leave, and others still join by another seed", firstLeaves},
	{"a second node of the same name is refused", sameName},
	{"all nodes may stop at the same moment, cleanly", stopTogether},
}

// load calls an action from several goroutines until it is ended, and counts.
type load struct {
	t      *testing.T
	from   *sabir.Node
	end    chan struct{}
	done   sync.WaitGroup
	made   atomic.Int64
	failed atomic.Int64
	first  atomic.Pointer[error]
}

func startLoad(t *testing.T, from *sabir.Node, callers int, call func(ctx context.Context) error) *load {
	l := &load{t: t, from: from, end: make(chan struct{})}
	for range callers {
		l.done.Go(func() {
			for {
				select {
				case <-l.end:
					return
				default:
				}
				if err := call(context.Background()); err != nil {
					l.failed.Add(1)
					l.first.CompareAndSwap(nil, &err)
				}
				l.made.Add(1)
			}
		})
	}
	return l
}

// more waits until so many more calls were made.
func (l *load) more(n int64) {
	l.t.Helper()
	want := l.made.Load() + n
	eventually(l.t, "the load goes on", func() bool { return l.made.Load() >= want })
}

// stop ends the load and checks that no call failed.
func (l *load) stop() {
	l.t.Helper()
	close(l.end)
	l.done.Wait()
	if failed := l.failed.Load(); failed > 0 {
		l.t.Errorf("%d of %d calls failed, the first with %+v", failed, l.made.Load(), sabir.AsError(*l.first.Load()))
	}
}

func joinLater(t *testing.T, s *suite) {
	c := s.cluster(t)
	a, b := c.start("a", sabir.Serve(reportingService("sa"))), c.start("b", sabir.Serve(reportingService("sb")))
	late := c.start("late", sabir.Serve(reportingService("sl")))
	for _, n := range []*sabir.Node{a, b, late} {
		must(t, n.WaitFor(brief(t), "sa", "sb", "sl"))
		for _, service := range []string{"sa", "sb", "sl"} {
			_, err := sabir.Call[string](brief(t), n, service+".it", 1)
			must(t, err)
		}
	}
}

func seeds(t *testing.T, s *suite) {
	c := s.cluster(t)
	if s.Broker { // where seeds have no meaning
		err := sabir.NewNode(c.options("a", []cluster.Option{cluster.Config{Seeds: []string{"tcp://127.0.0.1:1"}}})...).Start(brief(t))
		if err == nil || !contains(err.Error(), "Seeds") {
			t.Errorf("got %v", err)
		}
		return
	}
	a := c.start("a", sabir.Serve(reportingService("sa")))
	meet := c.meet
	c.meet = s.Address(t)
	nobody := s.cluster(t)
	gone := nobody.start("gone")
	dead := gone.Info().Addr
	stop(t, gone)
	b := c.join("b", []cluster.Option{cluster.Config{Seeds: []string{dead, meet}}})
	must(t, b.WaitFor(brief(t), "sa"))
	eventually(t, "a sees b", func() bool { return sees(a, "b") })
}

func startTogether(t *testing.T, s *suite) {
	c := s.cluster(t)
	first := c.start("n0", sabir.Serve(reportingService("s0")))
	nodes := make([]*sabir.Node, 5)
	nodes[0] = first
	var wg sync.WaitGroup
	for i := 1; i < len(nodes); i++ {
		wg.Go(func() { nodes[i] = c.start(fmt.Sprint("n", i), sabir.Serve(reportingService(fmt.Sprint("s", i)))) })
	}
	wg.Wait()
	for _, n := range nodes {
		must(t, n.WaitFor(brief(t), "s0", "s1", "s2", "s3", "s4"))
	}
}

func stopUnderLoad(t *testing.T, s *suite) {
	f := s.fleet(t, nil)
	l := startLoad(t, f.caller, 8, func(ctx context.Context) error {
		_, err := sabir.Call[string](ctx, f.caller, "svc.it", 1)
		return err
	})
	l.more(200)
	stop(t, f.nodes[0])
	l.more(200)
	stop(t, f.nodes[1])
	l.more(200)
	l.stop()
}

func rollingRestart(t *testing.T, s *suite) {
	f := s.fleet(t, nil)
	l := startLoad(t, f.caller, 4, func(ctx context.Context) error {
		_, err := sabir.Call[string](ctx, f.caller, "svc.it", 1)
		return err
	})
	f.meet = f.caller.Info().Addr
	for i, id := range []string{"x", "y", "z"} {
		l.more(50)
		stop(t, f.nodes[i])
		f.start(id, sabir.Serve(telling(nil)))
		eventually(t, "the caller knows that "+id+" is back", func() bool { return offers(f.caller, "svc", id) })
	}
	l.more(50)
	l.stop()
}

func stopWithStreams(t *testing.T, s *suite) {
	c := s.cluster(t)
	service := func() *sabir.Service {
		made := sabir.NewService("svc")
		sabir.HandleStream(made, "it", double)
		return made
	}
	caller := c.start("caller")
	a := c.start("a", sabir.Serve(service()))
	must(t, caller.WaitFor(brief(t), "svc"))
	held, err := sabir.OpenStream[int, int](brief(t), caller, "svc.it")
	must(t, err)
	defer held.Close()
	echo := func(stream *sabir.Stream[int, int]) error {
		if err := stream.Send(1); err != nil {
			return err
		}
		if out, err := stream.Recv(); err != nil || out != 2 {
			return fmt.Errorf("got %d, %w", out, err)
		}
		return nil
	}
	must(t, echo(held))
	c.start("b", sabir.Serve(service()))
	eventually(t, "the caller knows of b", func() bool { return offers(caller, "svc", "b") })

	stopping := make(chan struct{})
	go func() {
		stop(t, a)
		close(stopping)
	}()
	l := startLoad(t, caller, 2, func(ctx context.Context) error {
		stream, err := sabir.OpenStream[int, int](ctx, caller, "svc.it")
		if err != nil {
			return err
		}
		defer stream.Close()
		if err := echo(stream); err != nil {
			return err
		}
		stream.CloseSend()
		for _, err := range stream.All() {
			return err
		}
		return nil
	})
	eventually(t, "the caller knows that a stops", func() bool { return !offers(caller, "svc", "a") })
	l.more(20)
	must(t, echo(held)) // while everything new goes to b
	select {
	case <-stopping:
		t.Error("a stopped with a stream open")
	default:
	}
	held.CloseSend()
	if _, err := held.Recv(); err == nil || errors.Is(err, sabir.ErrLinkLost) {
		t.Errorf("the stream ended with %v", err)
	}
	get(t, "the end of a", stopping)
	l.stop()
}

func stopped(t *testing.T, s *suite) {
	c := s.cluster(t)
	a, b := c.start("a"), c.start("b", sabir.Serve(reportingService("svc")))
	must(t, a.WaitFor(brief(t), "svc"))
	it := sabir.Bind[int, string](a, "svc.it")
	_, err := it(brief(t), 1)
	must(t, err)
	stop(t, b)
	within(t, atOnce, "a lists neither b nor its services", func() bool { return !sees(a, "b") && !offers(a, "svc", "b") })
	if a.Action("svc.it") != nil {
		t.Error("a still lists the action")
	}
	for name, call := range map[string]func() error{
		"by name": func() error { _, err := sabir.Call[string](brief(t), a, "svc.it", 1); return err },
		"bound":   func() error { _, err := it(brief(t), 1); return err },
	} {
		if err := call(); !absent(err, "svc.it", "b") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func stopWaits(t *testing.T, s *suite) {
	c := s.cluster(t)
	began, free := make(chan struct{}, 1), make(chan struct{})
	service := sabir.NewService("svc")
	sabir.Handle(service, "it", func(_ context.Context, in int) (int, error) {
		began <- struct{}{}
		<-free
		return in + 1, nil
	})
	a, b := c.start("a"), c.start("b", sabir.Serve(service))
	must(t, a.WaitFor(brief(t), "svc"))
	type answer struct {
		out int
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		out, err := sabir.Call[int](context.Background(), a, "svc.it", 1)
		answered <- answer{out, err}
	}()
	get(t, "the call at the handler", began)
	stopping := make(chan struct{})
	go func() {
		stop(t, b)
		close(stopping)
	}()
	eventually(t, "a knows that b takes no more", func() bool { return !offers(a, "svc", "b") })
	if _, err := sabir.Call[int](brief(t), a, "svc.it", 1); err == nil || len(began) > 0 {
		t.Errorf("a new call: %v", err)
	}
	close(free)
	if got := get(t, "the answer", answered); got.out != 2 || got.err != nil {
		t.Errorf("the call in flight: %d, %v", got.out, got.err)
	}
	get(t, "the end of b", stopping)
}

func stopCallsOut(t *testing.T, s *suite) {
	c := s.cluster(t)
	began, free := make(chan struct{}, 1), make(chan struct{})
	service := sabir.NewService("svc")
	sabir.Handle(service, "it", func(ctx context.Context, in int) (string, error) {
		began <- struct{}{}
		<-free
		return sabir.Call[string](ctx, service, "other.it", in)
	})
	a, b := c.start("a", sabir.Serve(reportingService("other"))), c.start("b", sabir.Serve(service))
	must(t, a.WaitFor(brief(t), "svc"))
	must(t, b.WaitFor(brief(t), "other"))
	answered := make(chan error, 1)
	go func() {
		out, err := sabir.Call[string](context.Background(), a, "svc.it", 1)
		if err == nil && out != "other on a" {
			err = errors.New(out)
		}
		answered <- err
	}()
	get(t, "the call at the handler", began)
	stopping := make(chan struct{})
	go func() {
		stop(t, b)
		close(stopping)
	}()
	eventually(t, "a knows that b takes no more", func() bool { return !offers(a, "svc", "b") })
	close(free)
	if err := get(t, "the answer", answered); err != nil {
		t.Errorf("the call in flight: %v", err)
	}
	get(t, "the end of b", stopping)
}

func stopWithEvents(t *testing.T, s *suite) {
	c := s.cluster(t)
	var receivedEvents atomic.Int64
	service := func() *sabir.Service {
		made := sabir.NewService("svc")
		sabir.On(made, "thing.happened", func(context.Context, int) error {
			receivedEvents.Add(1)
			return nil
		})
		return made
	}
	a := c.start("a")
	b := c.start("b", sabir.Serve(service()))
	c.start("c", sabir.Serve(service()))
	for _, id := range []string{"b", "c"} {
		eventually(t, "a knows of "+id, func() bool { return offers(a, "svc", id) })
	}
	l := startLoad(t, a, 4, func(ctx context.Context) error { return sabir.Emit(ctx, a, "thing.happened", 1) })
	l.more(100)
	stop(t, b)
	l.more(100)
	l.stop()
	if made := l.made.Load(); receivedEvents.Load() != made {
		t.Errorf("%d events were emitted and %d received", made, receivedEvents.Load())
	}
}

func sameNameAgain(t *testing.T, s *suite) {
	c := s.cluster(t)
	a, b := c.start("a"), c.start("b", sabir.Serve(reportingService("svc")))
	must(t, a.WaitFor(brief(t), "svc"))
	it := sabir.Bind[int, string](a, "svc.it")
	soonest := waitLimit
	for round := 0; round < 2 || soonest > 3*time.Second; round++ { // a busy machine is late now and then, but not each time
		if round == 10 {
			t.Fatalf("a found b again after %v at the soonest", soonest)
		}
		stop(t, b)
		b = c.start("b", sabir.Serve(reportingService("svc")))
		start := time.Now()
		eventually(t, "a knows of b again", func() bool { return offers(a, "svc", "b") })
		soonest = min(soonest, time.Since(start))
		if out, err := it(brief(t), 1); err != nil || out != "svc on b" {
			t.Errorf("got %s, %v", out, err)
		}
	}
}

func firstLeaves(t *testing.T, s *suite) {
	c := s.cluster(t)
	first, second := c.start("first"), c.start("second", sabir.Serve(reportingService("svc")))
	stop(t, first)
	c.meet = second.Info().Addr
	third := c.start("third")
	must(t, third.WaitFor(brief(t), "svc"))
	if out, err := sabir.Call[string](brief(t), third, "svc.it", 1); err != nil || out != "svc on second" {
		t.Errorf("got %s, %v", out, err)
	}
}

func sameName(t *testing.T, s *suite) {
	c := s.cluster(t)
	a := c.start("a", sabir.Serve(reportingService("svc")))
	err := sabir.NewNode(c.options("a", nil)...).Start(brief(t))
	if !errors.Is(err, sabir.NewError(sabir.CodeUnavailable, errname.JoinFailed, "")) || !contains(err.Error(), "same node id") {
		t.Errorf("got %v", err)
	}
	if out, err := sabir.Call[string](brief(t), a, "svc.it", 1); err != nil || out != "svc on a" {
		t.Errorf("the first one: %s, %v", out, err)
	}
}

func stopTogether(t *testing.T, s *suite) {
	c := s.cluster(t)
	nodes := []*sabir.Node{c.start("a", sabir.Serve(reportingService("svc"))), c.start("b"), c.start("c")}
	for _, n := range nodes[1:] {
		must(t, n.WaitFor(brief(t), "svc"))
	}
	var wg sync.WaitGroup
	for _, n := range nodes {
		wg.Go(func() { stop(t, n) })
	}
	wg.Wait()
}
