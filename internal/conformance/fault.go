package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/policy"
)

var faultBehaviours = []behaviour{
	{"calls in flight to a node that dies fail at once, and may not be retried", lostCall},
	{"calls in flight of an idempotent action to a node that dies may be retried", lostIdempotentCall},
	{"streams to a node that dies end at once on both sides", lostStream},
	{"the handlers of a caller that dies are cancelled", lostCaller},
	{"after a node died the next calls go elsewhere, all of them", elsewhere},
	{"a node that died is out of the listings within 3 seconds", goneSoon},
	{"a retry policy takes an idempotent call from a node that died to another", retryElsewhere},
	{"a retry policy leaves a lost call alone that may have been done", noRetryElsewhere},
	{"an event in flight to a node that dies is an error for its emitter", lostEvent},
	{"a link that is lost is made again, and calls go on", linkAgain},
	{"a cluster that is split goes on in both halves, and heals", splitAndHeal},
	{"a process that is killed with SIGKILL fails its calls at once and is gone within 3 seconds", killedProcess},
	{"a process that was killed and starts again under its name is found again", restartedProcess},
}

// hanging is a service whose action "hang" reports that it runs and waits for the end of its context.
func hanging(service string, began chan<- struct{}, options ...sabir.ActionOption) *sabir.Service {
	s := sabir.NewService(service)
	sabir.Handle(s, "hang", func(ctx context.Context, _ int) (int, error) {
		if began != nil {
			began <- struct{}{}
		}
		<-ctx.Done()
		return 0, ctx.Err()
	}, options...)
	return s
}

// inFlight starts calls that hang and returns where their errors come.
func inFlight(t *testing.T, from *sabir.Node, action string, calls int, began <-chan struct{}) <-chan error {
	t.Helper()
	failed := make(chan error, calls)
	for range calls {
		go func() {
			_, err := sabir.Call[int](context.Background(), from, action, 1)
			failed <- err
		}()
	}
	for range calls {
		get(t, "a call at its handler", began)
	}
	return failed
}

func lostCalls(t *testing.T, s *suite, retryable bool, options ...sabir.ActionOption) {
	c := s.faultyCluster(t)
	began := make(chan struct{}, 100)
	near := c.start("near")
	far := c.start("far", sabir.Serve(hanging("svc", began, options...)))
	must(t, near.WaitFor(brief(t), "svc"))
	failed := inFlight(t, near, "svc.hang", 20, began)
	c.kill(far)
	died := time.Now()
	for range 20 {
		err := get(t, "the error", failed)
		if e := sabir.AsError(err); !errors.Is(err, sabir.ErrLinkLost) || e.Retryable != retryable || e.Code != sabir.CodeUnavailable ||
			e.Node != far.ID() || !contains(e.Message, far.ID(), "svc.hang") {
			t.Errorf("got %+v", e)
		}
	}
	if took := time.Since(died); took > s.cutOff() {
		t.Errorf("the last call failed after %v", took)
	}
}

func lostCall(t *testing.T, s *suite)           { lostCalls(t, s, false) }
func lostIdempotentCall(t *testing.T, s *suite) { lostCalls(t, s, true, sabir.Idempotent()) }

func lostStream(t *testing.T, s *suite) {
	c := s.faultyCluster(t)
	ended := make(chan error, 1)
	service := sabir.NewService("svc")
	sabir.HandleStream(service, "it", func(ctx context.Context, stream *sabir.Stream[int, int]) error {
		_ = stream.Send(1)
		_, err := stream.Recv()
		ended <- err
		return err
	})
	near := c.start("near")
	far := c.start("far", sabir.Serve(service))
	must(t, near.WaitFor(brief(t), "svc"))
	stream, err := sabir.OpenStream[int, int](context.Background(), near, "svc.it")
	must(t, err)
	defer stream.Close()
	_, err = stream.Recv()
	must(t, err)
	c.kill(far)
	died := time.Now()
	if _, err = stream.Recv(); !errors.Is(err, sabir.ErrLinkLost) {
		t.Errorf("the caller got %v", err)
	}
	if took := time.Since(died); took > s.cutOff() {
		t.Errorf("the stream ended after %v", took)
	}
	if err := get(t, "the end at the handler", ended); err == nil {
		t.Error("the handler's Recv gave no error")
	}
	if took := time.Since(died); took > s.cutOff() && !s.Broker { // cut off from a broker, a node goes by the silence
		t.Errorf("the handler's end after %v", took)
	}
}

func lostCaller(t *testing.T, s *suite) {
	c := s.faultyCluster(t)
	began, ended := make(chan struct{}, 1), make(chan ending, 1)
	service := sabir.NewService("svc")
	sabir.Handle(service, "it", waits(began, ended))
	far := c.start("far", sabir.Serve(service))
	near := c.start("near")
	must(t, near.WaitFor(brief(t), "svc"))
	go func() { _, _ = sabir.Call[int](context.Background(), near, "svc.it", 1) }()
	get(t, "the call at the handler", began)
	c.kill(near)
	died := time.Now()
	if e := get(t, "the handler's end", ended); !errors.Is(e.err, context.Canceled) || time.Since(died) > s.cutOff() {
		t.Errorf("the handler on %s saw %v after %v", far.ID(), e.err, time.Since(died))
	}
}

func elsewhere(t *testing.T, s *suite) {
	c := s.faultyCluster(t)
	near := c.start("near")
	a, b := c.start("a", sabir.Serve(reportingService("svc"))), c.start("b", sabir.Serve(reportingService("svc")))
	for _, n := range []*sabir.Node{a, b} {
		eventually(t, "near knows of "+n.ID(), func() bool { return offers(near, "svc", n.ID()) })
	}
	c.kill(a)
	// What was sent before the loss shows may be lost with the link: the first call over each link to a is. Those after it are not.
	failed, last := 0, error(nil)
	for i := range 100 {
		out, err := sabir.Call[string](brief(t), near, "svc.it", 1)
		switch {
		case err == nil && out != "svc on "+b.ID():
			t.Errorf("call %d: %s", i, out)
		case err != nil:
			failed, last = failed+1, err
			if !errors.Is(err, sabir.ErrLinkLost) {
				t.Errorf("call %d: %v", i, err)
			}
		}
	}
	if links := max(s.Connections, 1); failed > links {
		t.Errorf("%d calls failed, one after the other, over %d links, the last with: %v", failed, links, last)
	}
}

func goneSoon(t *testing.T, s *suite) {
	limit := max(3*time.Second, s.cutOff())
	for range 5 { // a busy machine is late now and then, but not each time
		took := goneAfter(t, s)
		if took <= limit {
			return
		}
		t.Logf("the others listed it for %v", took)
	}
	t.Errorf("the others never listed it for less than %v", limit)
}

// goneAfter is the time that the others list a node that died.
func goneAfter(t *testing.T, s *suite) time.Duration {
	t.Helper()
	c := s.faultyCluster(t)
	nodes := []*sabir.Node{c.start("a"), c.start("b"), c.start("dead", sabir.Serve(reportingService("svc")))}
	dead := nodes[2]
	for _, n := range nodes[:2] {
		must(t, n.WaitFor(brief(t), "svc"))
	}
	died := time.Now()
	c.kill(dead)
	eventually(t, "the others list neither it nor its services", func() bool {
		for _, n := range nodes[:2] {
			if sees(n, dead.ID()) || offers(n, "svc", dead.ID()) {
				return false
			}
		}
		return true
	})
	took := time.Since(died)
	if _, err := sabir.Call[string](brief(t), nodes[0], "svc.it", 1); !absent(err, "svc.it", dead.ID()) {
		t.Errorf("a call of its action: %v", err)
	}
	return took
}

// absent reports whether the error is that no node offers the action any more, and names the one that did.
func absent(err error, action, node string) bool {
	return errors.Is(err, sabir.ErrServiceUnavailable) && sabir.AsError(err).Retryable && contains(err.Error(), "no node offers "+action+"; "+node+" did until")
}

// lossy is a caller with a retry policy, and two nodes with svc.it, which hangs on the one that is asked first.
func lossy(t *testing.T, s *suite, options ...sabir.ActionOption) (answer chan string, failed chan error, runs func() int) {
	c := s.faultyCluster(t)
	began := make(chan string, 10)
	var mu sync.Mutex
	ran := 0
	offered := func() *sabir.Service {
		service := sabir.NewService("svc")
		sabir.Handle(service, "it", func(ctx context.Context, _ int) (string, error) {
			mu.Lock()
			ran++
			first := ran == 1
			mu.Unlock()
			if first {
				began <- sabir.NodeFromContext(ctx).ID()
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "done", nil
		}, options...)
		return service
	}
	near := c.start("near", sabir.Use(policy.Retry{Attempts: 3, FirstPause: time.Millisecond, MaxPause: 10 * time.Millisecond}))
	nodes := []*sabir.Node{c.start("a", sabir.Serve(offered())), c.start("b", sabir.Serve(offered()))}
	for _, n := range nodes {
		eventually(t, "near knows of "+n.ID(), func() bool { return offers(near, "svc", n.ID()) })
	}
	answer, failed = make(chan string, 1), make(chan error, 1)
	go func() {
		out, err := sabir.Call[string](context.Background(), near, "svc.it", 1)
		answer <- out
		failed <- err
	}()
	victim := get(t, "the call at its handler", began)
	for _, n := range nodes {
		if n.ID() == victim {
			c.kill(n)
		}
	}
	return answer, failed, func() int {
		mu.Lock()
		defer mu.Unlock()
		return ran
	}
}

func retryElsewhere(t *testing.T, s *suite) {
	answer, failed, _ := lossy(t, s, sabir.Idempotent())
	if out, err := get(t, "the answer", answer), get(t, "the error", failed); out != "done" || err != nil {
		t.Errorf("got %s, %v", out, err)
	}
}

func noRetryElsewhere(t *testing.T, s *suite) {
	_, failed, runs := lossy(t, s)
	if err := get(t, "the error", failed); !errors.Is(err, sabir.ErrLinkLost) || runs() != 1 {
		t.Errorf("the action ran %d times, %v", runs(), err)
	}
}

func lostEvent(t *testing.T, s *suite) {
	c := s.faultyCluster(t)
	began := make(chan struct{}, 1)
	service := sabir.NewService("svc")
	sabir.On(service, "thing.happened", func(ctx context.Context, _ int) error {
		began <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	near := c.start("near")
	far := c.start("far", sabir.Serve(service))
	must(t, near.WaitFor(brief(t), "svc"))
	failed := make(chan error, 1)
	go func() { failed <- sabir.Emit(t.Context(), near, "thing.happened", 1) }()
	get(t, "the event at its handler", began)
	c.kill(far)
	if err := get(t, "the error", failed); !errors.Is(err, sabir.ErrLinkLost) {
		t.Errorf("got %v", err)
	}
}

func linkAgain(t *testing.T, s *suite) {
	c := s.faultyCluster(t)
	a, b := c.start("a", sabir.Serve(reportingService("sa"))), c.start("b", sabir.Serve(reportingService("sb")))
	must(t, a.WaitFor(brief(t), "sb"))
	must(t, b.WaitFor(brief(t), "sa"))
	for range 3 {
		c.interrupt(a, b)
		eventually(t, "calls go both ways again", func() bool {
			_, err1 := sabir.Call[string](brief(t), a, "sb.it", 1)
			_, err2 := sabir.Call[string](brief(t), b, "sa.it", 1)
			return err1 == nil && err2 == nil
		})
	}
}

func splitAndHeal(t *testing.T, s *suite) {
	c := s.faultyCluster(t)
	var nodes []*sabir.Node
	for _, id := range []string{"a", "b", "c", "d"} {
		nodes = append(nodes, c.start(id, sabir.Serve(reportingService("everywhere"), reportingService("s"+id))))
	}
	all := func() bool {
		for _, n := range nodes {
			for i, other := range nodes {
				if other != n && !offers(n, "s"+string(rune('a'+i)), other.ID()) {
					return false
				}
			}
		}
		return true
	}
	eventually(t, "all four are linked", all)
	across := func(do func(a, b string)) {
		for _, left := range nodes[:2] {
			for _, right := range nodes[2:] {
				do(left.ID(), right.ID())
			}
		}
	}
	across(c.faulty.sever)
	halved := 3 * time.Second
	if s.Broker {
		halved = silence
	}
	within(t, halved, "each half lists itself only", func() bool {
		return len(nodes[0].Nodes()) == 2 && len(nodes[1].Nodes()) == 2 && len(nodes[2].Nodes()) == 2 && len(nodes[3].Nodes()) == 2
	})
	if out, err := sabir.Call[string](brief(t), nodes[0], "sb.it", 1); err != nil || out != "sb on "+nodes[1].ID() {
		t.Errorf("in one half: %s, %v", out, err)
	}
	if out, err := sabir.Call[string](brief(t), nodes[3], "sc.it", 1); err != nil || out != "sc on "+nodes[2].ID() {
		t.Errorf("in the other half: %s, %v", out, err)
	}
	// A node is not listed any more a moment before its actions are absent; calls end with LinkLost then, which is retryable too.
	eventually(t, "calls across say which node was lost", func() bool {
		_, err := sabir.Call[string](brief(t), nodes[0], "sc.it", 1)
		if err == nil || !sabir.AsError(err).Retryable {
			t.Errorf("across: %v", err)
		}
		return absent(err, "sc.it", nodes[2].ID())
	})
	across(c.faulty.mend)
	eventually(t, "all four are linked again", all)
	for i := range nodes {
		service := fmt.Sprint("s", string(rune('a'+i)))
		for _, n := range nodes {
			if _, err := sabir.Call[string](brief(t), n, service+".it", 1); err != nil {
				t.Errorf("%s calls %s: %v", n.ID(), service, err)
			}
		}
	}
}
