package policy_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/policy"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// nodes is some nodes that offer svc.it, and one that calls it through policies.
type nodes struct {
	caller *sabir.Node
	nodes  []*sabir.Node
	serve  sync.Map // by node: what its handler does, func(context.Context) (string, error)
	runs   atomic.Int64
}

func startNodes(t *testing.T, ids []string, policies ...sabir.Wrapper) *nodes {
	t.Helper()
	n := &nodes{}
	at := "mem://" + strings.NewReplacer("/", "-", ",", "", " ", "-").Replace(t.Name())
	for _, id := range ids {
		s := sabir.NewService("svc")
		sabir.Handle(s, "it", func(ctx context.Context, _ none) (string, error) {
			n.runs.Add(1)
			if serve, ok := n.serve.Load(id); ok {
				return serve.(func(context.Context) (string, error))(ctx)
			}
			return id, nil
		}, sabir.Idempotent())
		n.nodes = append(n.nodes, start(t, sabir.NodeID(id), sabir.Serve(s), sabir.Join(at)))
	}
	n.caller = start(t, sabir.NodeID("caller"), sabir.Join(at, cluster.Outlier{Off: true}), sabir.Use(policies...))
	for changed := n.caller.Changed(); ; changed = n.caller.Changed() {
		if a := n.caller.Action("svc.it"); a != nil && len(a.Nodes()) == len(ids) {
			return n
		}
		<-changed
	}
}

func (n *nodes) call(ctx context.Context, options ...sabir.CallOption) (string, error) {
	return sabir.Call[string](ctx, n.caller, "svc.it", none{}, options...)
}

// are sets what the handlers of nodes do.
func (n *nodes) are(serve func(context.Context) (string, error), ids ...string) {
	for _, id := range ids {
		n.serve.Store(id, serve)
	}
}

func busy(context.Context) (string, error) { return "", errBusy }

// hanging answers when the call ends.
func hanging(ctx context.Context) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func TestRetryGoesToAnotherNode(t *testing.T) {
	n := startNodes(t, []string{"a", "b", "c"}, policy.Retry{FirstPause: time.Microsecond, MaxPause: time.Microsecond})
	n.are(busy, "a", "b")
	for range 30 {
		if on, err := n.call(t.Context()); on != "c" || err != nil {
			t.Errorf("%q, %v", on, err)
		}
	}
}

func TestABreakerIsOfEachNodeItsOwn(t *testing.T) {
	var states policy.BreakerStates
	n := startNodes(t, []string{"a", "b", "c"}, policy.Breaker{MinCalls: 5, OpenFor: 20 * time.Millisecond, States: &states})
	n.are(busy, "a")
	for range 15 {
		n.call(t.Context())
	}
	if s, ok := states.Of("svc.it@a"); !ok || s != "open" {
		t.Errorf("that of the sick node is %v", s)
	}
	runs, failed := n.runs.Load(), 0
	for range 100 {
		if _, err := n.call(t.Context()); err != nil {
			if failed++; errors.Is(err, sabir.ErrBreakerOpen) {
				t.Fatalf("the other nodes are not called: %v", err)
			}
		}
	}
	if n.runs.Load()-runs != 100 || failed > 20 { // probes
		t.Errorf("%d of 100 calls failed", failed)
	}
	n.serve.Delete("a")
	for limit := time.Now().Add(time.Minute); ; {
		if s, _ := states.Of("svc.it@a"); s == "closed" {
			break
		}
		if n.call(t.Context()); time.Now().After(limit) {
			t.Fatal("the breaker of a node that is well does not close")
		}
	}
}

func TestABreakerRefusesWhereThoseOfAllNodesAreOpen(t *testing.T) {
	n := startNodes(t, []string{"a", "b"}, policy.Breaker{MinCalls: 5, OpenFor: time.Hour})
	n.are(busy, "a", "b")
	for range 10 {
		n.call(t.Context())
	}
	runs := n.runs.Load()
	if _, err := n.call(t.Context()); !errors.Is(err, sabir.ErrBreakerOpen) || n.runs.Load() != runs {
		t.Errorf("%v", err)
	}
}

func TestHedgeCopiesALateCallToAnotherNode(t *testing.T) {
	var signals rig
	n := startNodes(t, []string{"a", "b"}, signals.listener(), policy.Hedge{After: time.Millisecond})
	n.are(hanging, "a")
	for range 20 {
		if on, err := n.call(t.Context()); on != "b" || err != nil {
			t.Errorf("%q, %v", on, err)
		}
	}
	if signals.received(signal.Hedged) < 10 { // every other call goes to the one that hangs
		t.Errorf("%d copies", signals.received(signal.Hedged))
	}
}

func TestHedgeFindsOutWhatIsLate(t *testing.T) {
	n := startNodes(t, []string{"a", "b"}, policy.Hedge{})
	for range 300 {
		if _, err := n.call(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	n.are(hanging, "a")
	for range 20 {
		if on, err := n.call(t.Context(), sabir.WithTimeout(time.Minute)); on != "b" || err != nil {
			t.Errorf("%q, %v", on, err)
		}
	}
}

func TestHedgeCopiesNoCallOfAnActionThatIsNotIdempotent(t *testing.T) {
	a, b := sabir.NewService("svc"), sabir.NewService("svc")
	for _, s := range []*sabir.Service{a, b} {
		sabir.Handle(s, "once", func(ctx context.Context, _ none) (string, error) { return hanging(ctx) })
	}
	at := "mem://hedge-once"
	start(t, sabir.NodeID("a"), sabir.Serve(a), sabir.Join(at))
	start(t, sabir.NodeID("b"), sabir.Serve(b), sabir.Join(at))
	var signals rig
	caller := start(t, sabir.NodeID("c"), sabir.Join(at), sabir.Use(signals.listener(), policy.Hedge{After: time.Millisecond}))
	for changed := caller.Changed(); caller.Action("svc.once") == nil || len(caller.Action("svc.once").Nodes()) < 2; changed = caller.Changed() {
		<-changed
	}
	_, err := sabir.Call[string](t.Context(), caller, "svc.once", none{}, sabir.WithTimeout(30*time.Millisecond))
	if !errors.Is(err, sabir.ErrDeadlineExceeded) || signals.received(signal.Hedged) > 0 {
		t.Errorf("%v after %d copies", err, signals.received(signal.Hedged))
	}
}

func TestFurtherAttemptsStayWithinTheBudget(t *testing.T) {
	const calls = 1000
	for _, test := range []struct {
		name   string
		budget float64
		most   int64
	}{
		{"a fifth of the calls and ten a second by default", 0, calls + calls/5 + 100},
		{"as many as is set", 0.5, calls + calls/2 + 100},
		{"all without a budget", -1, 3 * calls},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				runs := int64(0)
				r := newRig(t, func(context.Context, none) (int, error) { runs++; return 0, errBusy },
					sabir.Use(policy.Retry{FirstPause: 1, MaxPause: 1, Budget: test.budget}))
				for range calls {
					r.call(t.Context())
				}
				if runs > test.most || runs < test.most*95/100 {
					t.Errorf("%d attempts of %d calls, want at most %d", runs, calls, test.most)
				}
				if spent := r.received(signal.BudgetSpent) > 0; spent != (test.budget != -1) {
					t.Errorf("a signal says that the budget was spent: %v", spent)
				}
			})
		})
	}
}

func TestFurtherAttemptsToOtherNodesStayWithinTheBudget(t *testing.T) {
	n := startNodes(t, []string{"a", "b"}, policy.Retry{FirstPause: 1, MaxPause: 1})
	n.are(busy, "a", "b")
	const calls = 500
	began := time.Now()
	for range calls {
		n.call(t.Context())
	}
	most := int64(calls + calls/5 + 100 + 10*time.Since(began)/time.Second + 10)
	if runs := n.runs.Load(); runs > most || runs < calls+100 {
		t.Errorf("%d attempts of %d calls, want at most %d", runs, calls, most)
	}
}

// Each of three services calls the next one, each through three attempts.
func TestAttemptsInsideOneAnotherDoNotMultiply(t *testing.T) {
	retry := sabir.Use(policy.Retry{FirstPause: 1, MaxPause: 1, Budget: -1})
	for _, where := range []string{"on one node", "on three nodes"} {
		t.Run(where, func(t *testing.T) {
			runs := 0
			var services []*sabir.Service
			for i, name := range []string{"one", "two", "three"} {
				s := sabir.NewService(name)
				sabir.Handle(s, "it", func(ctx context.Context, _ none) (int, error) {
					if i == 2 {
						runs++
						return 0, errBusy
					}
					if _, err := sabir.Call[int](ctx, s, []string{"two.it", "three.it"}[i], none{}); err != nil {
						return 0, errBusy // it takes the mark upon itself
					}
					return 1, nil
				}, retry)
				services = append(services, s)
			}
			var first *sabir.Node
			if where == "on one node" {
				first = start(t, sabir.Serve(services[0], services[1], services[2]))
			} else {
				const at = "mem://nested-attempts"
				start(t, sabir.NodeID("c"), sabir.Serve(services[2]), sabir.Join(at))
				b := start(t, sabir.NodeID("b"), sabir.Serve(services[1]), sabir.Join(at))
				first = start(t, sabir.NodeID("a"), sabir.Serve(services[0]), sabir.Join(at))
				for _, n := range []*sabir.Node{b, first} {
					if err := n.WaitFor(t.Context(), "three"); err != nil {
						t.Fatal(err)
					}
				}
				if err := first.WaitFor(t.Context(), "two"); err != nil {
					t.Fatal(err)
				}
			}
			sabir.Call[int](t.Context(), first, "one.it", none{})
			if runs != 3+2+2 {
				t.Errorf("the innermost was tried %d times, want 7", runs)
			}
		})
	}
}

func TestHedgeAndRetryRefuseOptionsOutOfRange(t *testing.T) {
	for name, p := range map[string]sabir.Wrapper{"Budget is -2": policy.Retry{Budget: -2}, "Budget is 11": policy.Retry{Budget: 11}} {
		refusedFor(t, name, p)
	}
	node := start(t, sabir.WithUpstream(elsewhere(func(context.Context, *sabir.Request) error { return nil })), sabir.Use(policy.Hedge{After: -1}))
	if _, err := callElsewhere[int](t, node, 1); codeOf(err) != sabir.CodeInvalidArgument || !strings.Contains(err.Error(), "After is -1ns") {
		t.Errorf("got %v", err)
	}
}

func TestABreakerDoesNotHideThatNoNodeOffersTheAction(t *testing.T) {
	var states policy.BreakerStates
	n := startNodes(t, []string{"a", "b"}, policy.Breaker{MinCalls: 2, OpenFor: time.Hour, States: &states})
	for _, one := range n.nodes {
		stop(t, one)
	}
	for changed := n.caller.Changed(); n.caller.Action("svc.it") != nil; changed = n.caller.Changed() {
		<-changed
	}
	for range 10 {
		if _, err := n.call(t.Context()); !errors.Is(err, sabir.ErrServiceUnavailable) || !strings.Contains(err.Error(), "no node offers svc.it") {
			t.Fatal(err)
		}
	}
	if s, _ := states.Of("svc.it"); s != "closed" {
		t.Errorf("the breaker of calls that reach no node is %v", s)
	}
}
