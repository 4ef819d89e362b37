package policy_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/policy"
)

func refusedFor(t *testing.T, what string, p sabir.Wrapper) {
	t.Helper()
	name := p.Middleware().Name
	if why := refused(t, p); !strings.Contains(why, "policy."+name) || !strings.Contains(why, what) {
		t.Errorf("refused with %q, want it to name policy.%s and %s", why, name, what)
	}
}

// patient is a rig whose action answers with what the test puts into outcome.
type patient struct {
	*rig
	states  policy.BreakerStates
	runs    int
	outcome error
}

func newPatient(t *testing.T, b policy.Breaker) *patient {
	p := &patient{}
	b.States = &p.states
	p.rig = newRig(t, func(context.Context, none) (int, error) { p.runs++; return 1, p.outcome },
		sabir.Use(b))
	return p
}

// meets makes n calls that meet the outcome.
func (p *patient) meets(n int, outcome error) (last error) {
	p.outcome = outcome
	for range n {
		_, last = p.call(context.Background())
	}
	return last
}

func (p *patient) state() string {
	s, ok := p.states.Of("test.run")
	if !ok {
		panic("no state")
	}
	return s
}

func TestBreakerOpensWhenTheRatioOfFailuresIsReached(t *testing.T) {
	p := newPatient(t, policy.Breaker{MinCalls: 10, FailureRatio: 0.5})
	p.meets(5, nil)
	p.meets(4, errBroken)
	if p.state() != "closed" {
		t.Fatal("open after 4 failures of 9 calls")
	}
	p.meets(1, errBroken)
	if p.state() != "open" {
		t.Fatal("not open after 5 failures of 10 calls")
	}
	if p.received(signal.BreakerOpened) != 1 {
		t.Errorf("signals %v", p.all())
	}
}

func TestBreakerStaysClosedBelowTheRatioHoweverLong(t *testing.T) {
	p := newPatient(t, policy.Breaker{FailureRatio: 0.5})
	for range 500 {
		p.meets(3, nil)
		p.meets(2, errBroken)
	}
	if p.state() != "closed" {
		t.Error("it opened at 40 percent of failures")
	}
}

func TestBreakerForgetsWhatIsOlderThanItsWindow(t *testing.T) {
	p := newPatient(t, policy.Breaker{Window: 20, MinCalls: 10, FailureRatio: 0.5})
	p.meets(1000, nil)
	p.meets(20, errBroken)
	if p.state() != "open" {
		t.Error("a window of failures after 1000 successes did not open it")
	}
}

func TestBreakerAnswersAtOnceWhileOpen(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := newPatient(t, policy.Breaker{OpenFor: 10 * time.Second})
		p.meets(20, errBroken)
		runs := p.runs
		time.Sleep(4 * time.Second)
		err := p.meets(1, nil)
		e := sabir.AsError(err)
		if !errors.Is(err, sabir.ErrBreakerOpen) || e.Code != sabir.CodeUnavailable || !e.Retryable || p.runs != runs {
			t.Errorf("got %v, retryable %v, after %d runs", err, e.Retryable, p.runs-runs)
		}
		if after, err := sabir.DataAs[policy.RetryAfter](e); err != nil || after.Seconds != 6 {
			t.Errorf("data %v, %v; want 6 seconds", after, err)
		}
	})
}

func TestBreakerClosesAfterASuccessfulTrialAndCountsAnew(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := newPatient(t, policy.Breaker{OpenFor: time.Second})
		p.meets(20, errBroken)
		time.Sleep(time.Second)
		if err := p.meets(1, nil); err != nil || p.state() != "closed" {
			t.Fatalf("the trial got %v and left it %v", err, p.state())
		}
		p.meets(19, errBroken)
		if p.state() != "closed" {
			t.Error("failures from before it closed still count")
		}
		want := []string{signal.BreakerOpened, signal.BreakerHalfOpen, signal.BreakerClosed}
		if !slices.Equal(p.all(), want) {
			t.Errorf("signals %v, want %v", p.all(), want)
		}
	})
}

func TestBreakerOpensAgainWhenATrialFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := newPatient(t, policy.Breaker{OpenFor: time.Second, Probes: 3})
		p.meets(20, errBroken)
		time.Sleep(time.Second)
		p.meets(2, nil)
		if p.state() != "half-open" {
			t.Fatalf("%v after two of three trials", p.state())
		}
		p.meets(1, errBroken)
		if p.state() != "open" {
			t.Errorf("%v after a failed trial", p.state())
		}
	})
}

func TestBreakerCounts(t *testing.T) {
	for _, test := range []struct {
		what string
		err  error
		want string
	}{
		{"plain errors as failures", errors.New("plain"), "open"},
		{"Unavailable as a failure", errBusy, "open"},
		{"DeadlineExceeded as a failure", sabir.NewError(sabir.CodeDeadlineExceeded, "Late", ""), "open"},
		{"DataLoss as a failure", sabir.NewError(sabir.CodeDataLoss, "Lost", ""), "open"},
		{"InvalidArgument as none", sabir.NewError(sabir.CodeInvalidArgument, "Bad", ""), "closed"},
		{"NotFound as none", sabir.NewError(sabir.CodeNotFound, "Gone", ""), "closed"},
		{"Canceled as none", sabir.NewError(sabir.CodeCanceled, "Bye", ""), "closed"},
		{"ResourceExhausted as none", sabir.NewError(sabir.CodeResourceExhausted, "Full", ""), "closed"},
	} {
		t.Run(test.what, func(t *testing.T) {
			p := newPatient(t, policy.Breaker{})
			if p.meets(50, test.err); p.state() != test.want {
				t.Errorf("it is %v, want %v", p.state(), test.want)
			}
		})
	}
}

func TestBreakerCountsAPanicAsAFailure(t *testing.T) {
	r := newRig(t, func(context.Context, none) (int, error) { panic("boom") }, sabir.Use(policy.Breaker{}))
	for range 20 {
		r.call(t.Context())
	}
	if _, err := r.call(t.Context()); !errors.Is(err, sabir.ErrBreakerOpen) {
		t.Errorf("got %v", err)
	}
}

func TestBreakerCountsWhatFailureIfSays(t *testing.T) {
	p := newPatient(t, policy.Breaker{FailIf: func(e *sabir.Error) bool { return e.Code == sabir.CodeNotFound }})
	if p.meets(50, errBroken); p.state() != "closed" {
		t.Error("it counted another error")
	}
	if p.meets(100, sabir.NewError(sabir.CodeNotFound, "Gone", "")); p.state() != "open" {
		t.Error("it did not count the chosen one")
	}
}

func TestBreakerIsOfEachActionItsOwn(t *testing.T) {
	var states policy.BreakerStates
	s := sabir.NewService("test", sabir.Use(policy.Breaker{States: &states}))
	sabir.Handle(s, "bad", func(context.Context, none) (int, error) { return 0, errBroken })
	sabir.Handle(s, "good", func(context.Context, none) (int, error) { return 1, nil })
	node := start(t, sabir.Serve(s))
	for range 50 {
		sabir.Call[int](t.Context(), node, "test.bad", none{})
	}
	if out, err := sabir.Call[int](t.Context(), node, "test.good", none{}); out != 1 || err != nil {
		t.Errorf("the other action answers %v", err)
	}
	if all := states.All(); len(all) != 2 || all["test.bad"] != "open" || all["test.good"] != "closed" {
		t.Errorf("states %v", all)
	}
	if _, ok := states.Of("test.none"); ok {
		t.Error("there is a state of an action that does not exist")
	}
}

func TestBreakerOpensOnAHandlerThatHangsInsideATimeout(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, func(context.Context, none) (int, error) { <-release; return 1, nil },
			sabir.Use(policy.Breaker{MinCalls: 5}, policy.Timeout(time.Second)))
		for range 5 {
			if _, err := r.call(t.Context()); !errors.Is(err, sabir.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
		}
		begun := time.Now()
		if _, err := r.call(t.Context()); !errors.Is(err, sabir.ErrBreakerOpen) || time.Since(begun) != 0 {
			t.Errorf("got %v after %v, want ErrBreakerOpen at once", err, time.Since(begun))
		}
		close(release)
	})
}

func TestBreakerOpensOnAHandlerThatHangsPastItsCallersDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, func(context.Context, none) (int, error) { <-release; return 1, nil },
			sabir.Use(policy.Breaker{MinCalls: 5}, policy.Timeout(time.Minute)))
		for range 5 {
			r.call(t.Context(), sabir.WithTimeout(time.Second))
			bubbletest.Wait() // the breaker gets it just after the caller
		}
		if _, err := r.call(t.Context()); !errors.Is(err, sabir.ErrBreakerOpen) {
			t.Errorf("got %v, want ErrBreakerOpen", err)
		}
		close(release)
	})
}

func TestBreakerLetsOneTrialThroughAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		release := make(chan struct{})
		broken := true
		r := newRig(t, func(context.Context, none) (int, error) {
			if broken {
				return 0, errBroken
			}
			<-release
			return 1, nil
		}, sabir.Use(policy.Breaker{OpenFor: time.Second}))
		for range 20 {
			r.call(t.Context())
		}
		broken = false
		time.Sleep(time.Second)
		var wg sync.WaitGroup
		wg.Go(func() {
			if out, err := r.call(context.Background()); out != 1 || err != nil {
				t.Errorf("the trial got %v", err)
			}
		})
		bubbletest.Wait()
		for range 10 {
			if _, err := r.call(t.Context()); !errors.Is(err, sabir.ErrBreakerOpen) {
				t.Errorf("got %v beside the trial", err)
			}
		}
		close(release)
		wg.Wait()
		if _, err := r.call(t.Context()); err != nil {
			t.Errorf("got %v after the trial", err)
		}
	})
}

func TestBreakerAbandonsATrialThatNeverReturns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		release, hangs := make(chan struct{}), false
		failing := true
		r := newRig(t, func(context.Context, none) (int, error) {
			switch {
			case failing:
				return 0, errBroken
			case hangs:
				<-release
				return 0, errBroken // comes far too late to count
			}
			return 1, nil
		}, sabir.Use(policy.Breaker{OpenFor: time.Second}))
		for range 20 {
			r.call(t.Context())
		}
		failing, hangs = false, true
		time.Sleep(time.Second)
		var wg sync.WaitGroup
		wg.Go(func() { r.call(context.Background()) })
		bubbletest.Wait()
		hangs = false
		time.Sleep(time.Second)
		if out, err := r.call(t.Context()); out != 1 || err != nil {
			t.Errorf("the next trial got %v", err)
		}
		close(release)
		wg.Wait()
		if out, err := r.call(t.Context()); out != 1 || err != nil {
			t.Errorf("got %v after the late failure", err)
		}
	})
}

// The failure of a probe that was abandoned says how the service was before the probe that is under way now.
func TestBreakerHeedsNoAbandonedProbeWhileAnotherIsUnderWay(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		answers := make(chan chan error, 2)
		failing := true
		r := newRig(t, func(context.Context, none) (int, error) {
			if failing {
				return 0, errBroken
			}
			answer := make(chan error)
			answers <- answer
			return 1, <-answer
		}, sabir.Use(policy.Breaker{OpenFor: time.Second}))
		for range 20 {
			r.call(t.Context())
		}
		failing = false
		var wg sync.WaitGroup
		for range 2 {
			time.Sleep(time.Second)
			wg.Go(func() { r.call(context.Background()) })
			bubbletest.Wait()
		}
		old, now := <-answers, <-answers
		old <- errBroken
		bubbletest.Wait()
		now <- nil
		wg.Wait()
		wg.Go(func() {
			if _, err := r.call(context.Background()); err != nil {
				t.Errorf("after a probe that went well: %v", err)
			}
		})
		(<-answers) <- nil
		wg.Wait()
	})
}

// A probe that is refused for overload shows nothing, and gives its place to the next one.
func TestBreakerTriesAgainAtOnceAfterAProbeThatShowedNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := newPatient(t, policy.Breaker{OpenFor: time.Second})
		p.meets(20, errBroken)
		time.Sleep(time.Second)
		p.meets(1, sabir.ErrTooManyCalls)
		if err := p.meets(1, nil); err != nil || p.state() != "closed" {
			t.Errorf("the next probe got %v, and the breaker is %v", err, p.state())
		}
	})
}

// What counts neither way must not make a service look well whose other calls all fail.
func TestCallsThatCountNeitherWayDoNotKeepABreakerClosed(t *testing.T) {
	p := newPatient(t, policy.Breaker{MinCalls: 10, FailureRatio: 0.5})
	p.meets(30, sabir.ErrTooManyCalls)
	p.meets(10, errBroken)
	if p.state() != "open" {
		t.Errorf("after 10 failures and nothing else that counts it is %v", p.state())
	}
}

func TestBreakerRefusesOptionsOutOfRange(t *testing.T) {
	for name, p := range map[string]sabir.Wrapper{
		"FailureRatio is 2": policy.Breaker{FailureRatio: 2},
		"MinCalls is -1":    policy.Breaker{MinCalls: -1},
		"MinCalls is 60":    policy.Breaker{MinCalls: 60, Window: 100},
		"Window is 1":       policy.Breaker{Window: 1},
		"OpenFor is -1ns":   policy.Breaker{OpenFor: -1},
		"Probes is -1":      policy.Breaker{Probes: -1},
	} {
		refusedFor(t, name, p)
	}
}

// nowhere answers every call of another node's action.
type nowhere struct{}

func (nowhere) Name() string                               { return "nowhere" }
func (nowhere) Send(context.Context, *sabir.Request) error { return nil }

func TestStatesOfBreakersGoWithTheirActions(t *testing.T) {
	var states policy.BreakerStates
	node := start(t, sabir.WithUpstream(nowhere{}), sabir.Use(policy.Breaker{States: &states}))
	for i := range 20_000 {
		if _, err := sabir.Call[int](t.Context(), node, fmt.Sprintf("users.get%d", i), 1); err != nil {
			t.Fatal(err)
		}
	}
	const remembered = 8192 // actions of other nodes that a node remembers
	for limit := time.Now().Add(time.Minute); len(states.All()) > remembered; runtime.GC() {
		if time.Now().After(limit) {
			t.Fatalf("%d states are held", len(states.All()))
		}
	}
	if _, ok := states.Of("users.get19999"); !ok {
		t.Error("the last one has no state")
	}
}

func TestATrialOfWhichFailureIfPanicsIsAFailure(t *testing.T) {
	panics := false
	failure := func(*sabir.Error) bool {
		if panics {
			panic("boom")
		}
		return true
	}
	p := newPatient(t, policy.Breaker{MinCalls: 1, OpenFor: time.Millisecond, FailIf: failure})
	p.meets(1, errBroken)
	panics = true
	for before := p.runs; p.runs == before; { // until a trial is let through
		p.meets(1, errBroken)
	}
	if p.state() != "open" {
		t.Errorf("the breaker is %v after the trial, want open", p.state())
	}
}
