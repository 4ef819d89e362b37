package policy_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/policy"
)

// elsewhere is another node, in this process.
type elsewhere func(ctx context.Context, r *sabir.Request) error

func (elsewhere) Name() string                                       { return "elsewhere" }
func (e elsewhere) Send(ctx context.Context, r *sabir.Request) error { return e(ctx, r) }

func callElsewhere[Out, In any](t *testing.T, node *sabir.Node, in In) (Out, error) {
	t.Helper()
	return sabir.Call[Out](t.Context(), node, "far.away", in)
}

func TestRetryRepeatsCallsToOtherNodes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		tries := 0
		node := start(t, sabir.Use(policy.Retry{}), sabir.WithUpstream(elsewhere(func(_ context.Context, r *sabir.Request) error {
			if tries++; tries < 3 {
				return errBusy
			}
			return r.SetOutput(tries)
		})))
		if out, err := callElsewhere[int](t, node, 1); out != 3 || err != nil {
			t.Errorf("got %d, %v", out, err)
		}
	})
}

func TestTimeoutEndsCallsToOtherNodes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		node := start(t, sabir.Use(policy.Timeout(time.Second)), sabir.WithUpstream(elsewhere(func(ctx context.Context, _ *sabir.Request) error {
			<-ctx.Done()
			return ctx.Err()
		})))
		begun := time.Now()
		if _, err := callElsewhere[int](t, node, 1); !errors.Is(err, sabir.ErrDeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(begun))
		}
	})
}

func TestCacheKeepsAnswersOfOtherNodesByTheTypesOfTheCall(t *testing.T) {
	sent := 0
	node := start(t, sabir.Use(policy.Cached{Cache: &policy.Cache{}, Keys: []string{"id"}}), sabir.WithUpstream(elsewhere(func(_ context.Context, r *sabir.Request) error {
		sent++
		return r.DecodeOutput(json.Codec, []byte(`{"id":"ada","run":1,"tags":["a"]}`))
	})))
	type brief struct {
		ID string `json:"id"`
	}
	for range 2 {
		if out, err := callElsewhere[user](t, node, getUser{ID: "ada"}); err != nil || out.Run != 1 {
			t.Errorf("got %v, %v", out, err)
		}
		if out, err := callElsewhere[brief](t, node, getUser{ID: "ada"}); err != nil || out.ID != "ada" {
			t.Errorf("got %v, %v", out, err)
		}
	}
	if sent != 2 {
		t.Errorf("%d calls were sent, want one for each type of answer", sent)
	}
	for range 2 { // an input that has no such field has no key
		if _, err := callElsewhere[user](t, node, 5); err != nil {
			t.Error(err)
		}
	}
	if sent != 4 {
		t.Errorf("%d calls were sent, want 4", sent)
	}
}

func TestACacheAnswersACallThatNamesItsNodeWithAnswersOfThatNode(t *testing.T) {
	n := startNodes(t, []string{"a", "b"}, policy.Cached{})
	if _, err := n.call(t.Context()); err != nil { // of any node: kept for calls that name none
		t.Fatal(err)
	}
	for range 2 {
		for _, id := range []string{"a", "b"} {
			if out, err := n.call(t.Context(), sabir.ToNode(id)); out != id || err != nil {
				t.Errorf("the call of %s was answered by %q, %v", id, out, err)
			}
		}
	}
	if runs := n.runs.Load(); runs != 3 {
		t.Errorf("the handlers ran %d times, want once for any node and once for each that was named", runs)
	}
}

func TestACacheOfTheNodeLeavesCallEachTheAnswersOfAllNodes(t *testing.T) {
	n := startNodes(t, []string{"a", "b", "c"}, policy.Cached{})
	for range 2 {
		var got []string
		for out, err := range sabir.NewAction[none, string]("svc.it").CallEach(t.Context(), n.caller, none{}) {
			if err != nil {
				t.Error(err)
			}
			got = append(got, out)
		}
		if slices.Sort(got); !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("answers of %v", got)
		}
	}
}

func TestFallbackValueAnswersForOtherNodesWhereTheTypeFits(t *testing.T) {
	node := start(t, sabir.WithUpstream(elsewhere(func(context.Context, *sabir.Request) error { return errBroken })),
		sabir.Use(sabir.Middleware{Remote: policy.FallbackValue(7).Middleware().Remote}))
	if out, err := callElsewhere[int](t, node, 1); out != 7 || err != nil {
		t.Errorf("got %d, %v", out, err)
	}
	if _, err := callElsewhere[string](t, node, 1); !errors.Is(err, errBroken) {
		t.Errorf("a caller with another type got %v, want the error", err)
	}
}

func TestOptionsOutOfRangeFailCallsToOtherNodes(t *testing.T) {
	node := start(t, sabir.WithUpstream(elsewhere(func(context.Context, *sabir.Request) error { return nil })),
		sabir.Use(sabir.Middleware{Remote: policy.Retry{Attempts: -1}.Middleware().Remote}))
	if _, err := callElsewhere[int](t, node, 1); codeOf(err) != sabir.CodeInvalidArgument {
		t.Errorf("got %v", err)
	}
}

func TestABreakerOfAContractOpensForTheCallsThroughIt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		sent := 0
		node := start(t, sabir.WithUpstream(elsewhere(func(context.Context, *sabir.Request) error {
			sent++
			return errBusy
		})))
		get := sabir.NewAction[int, int]("far.away")
		guarded := get.With(policy.Breaker{MinCalls: 2})
		for range 2 {
			if _, err := guarded.Call(t.Context(), node, 1); !errors.Is(err, errBusy) {
				t.Fatal(err)
			}
		}
		if _, err := guarded.Call(t.Context(), node, 1); !errors.Is(err, sabir.ErrBreakerOpen) || sent != 2 {
			t.Errorf("got %v after %d calls", err, sent)
		}
		if _, err := get.Call(t.Context(), node, 1); !errors.Is(err, errBusy) {
			t.Errorf("without the policy: %v", err)
		}
	})
}
