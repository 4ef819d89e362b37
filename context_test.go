package sabir_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	_ "github.com/sabir-go/sabir/codec/json"
)

var jsonCodec, _ = codec.Lookup("json")

func TestHandlersKnowWhoCallsThemAndHowDeep(t *testing.T) {
	s := sabir.NewService("chain", sabir.Version(2))
	var seen []sabir.CallInfo
	look := func(next string) func(context.Context, struct{}) (struct{}, error) {
		return func(ctx context.Context, _ struct{}) (struct{}, error) {
			seen = append(seen, sabir.InfoFromContext(ctx))
			if next == "" {
				return struct{}{}, nil
			}
			return sabir.Call[struct{}](ctx, sabir.NodeFromContext(ctx), next, struct{}{})
		}
	}
	sabir.Handle(s, "a", look("v2.chain.b"))
	sabir.Handle(s, "b", look("chain.c"))
	sabir.Handle(s, "c", look(""))
	node := start(t, sabir.Serve(s), sabir.NodeID("n1"))
	for name, ctx := range waysToCall(t) {
		for _, id := range []string{"", "r1"} {
			seen = nil
			if id != "" {
				ctx = sabir.WithRequestID(ctx, id)
			}
			if _, err := sabir.Call[struct{}](ctx, node, "chain.a", struct{}{}); err != nil {
				t.Fatal(err)
			}
			for i, want := range []sabir.CallInfo{
				{Action: "v2.chain.a", Service: "v2.chain", Depth: 1, RequestID: id, Node: "n1", From: "n1"},
				{Action: "v2.chain.b", Service: "v2.chain", Depth: 2, RequestID: id, Node: "n1", From: "n1", CalledBy: "v2.chain.a"},
				{Action: "v2.chain.c", Service: "v2.chain", Depth: 3, RequestID: id, Node: "n1", From: "n1", CalledBy: "v2.chain.b"},
			} {
				if !reflect.DeepEqual(seen[i], want) {
					t.Errorf("%s: got %+v, want %+v", name, seen[i], want)
				}
			}
		}
	}
}

func TestRequestIDsGivesAnIDToWhatHasNone(t *testing.T) {
	s := sabir.NewService("chain")
	var ids []string
	sabir.Handle(s, "a", func(ctx context.Context, _ struct{}) (struct{}, error) {
		ids = append(ids, sabir.InfoFromContext(ctx).RequestID)
		return sabir.Call[struct{}](ctx, s, "chain.b", struct{}{})
	})
	sabir.Handle(s, "b", func(ctx context.Context, _ struct{}) (struct{}, error) {
		ids = append(ids, sabir.InfoFromContext(ctx).RequestID)
		return struct{}{}, sabir.Emit(ctx, s, "chain.done", 1)
	})
	sabir.On(s, "chain.done", func(ctx context.Context, _ int) error {
		ids = append(ids, sabir.InfoFromContext(ctx).RequestID)
		return nil
	})
	node := start(t, sabir.Serve(s), sabir.Use(sabir.RequestIDs()))
	for name, ctx := range waysToCall(t) {
		ids = nil
		if _, err := sabir.Call[struct{}](ctx, node, "chain.a", struct{}{}); err != nil {
			t.Fatal(err)
		}
		if len(ids) != 3 || ids[0] == "" || ids[0] != ids[1] || ids[1] != ids[2] {
			t.Errorf("%s: got %q", name, ids)
		}
		ids = nil
		if _, err := sabir.Call[struct{}](sabir.WithRequestID(ctx, "mine"), node, "chain.a", struct{}{}); err != nil || ids[0] != "mine" {
			t.Errorf("%s: got %q, %v", name, ids, err)
		}
	}
}

func TestMetadataIsPassedOnThroughNestedCalls(t *testing.T) {
	s := sabir.NewService("chain")
	sabir.Handle(s, "a", func(ctx context.Context, _ struct{}) (string, error) {
		return sabir.Call[string](sabir.WithMetadata(ctx, "added", "2"), s, "chain.b", struct{}{})
	})
	sabir.Handle(s, "b", func(ctx context.Context, _ struct{}) (string, error) {
		return fmt.Sprint(sabir.InfoFromContext(ctx).Metadata), nil
	})
	node := start(t, sabir.Serve(s))
	ctx := sabir.WithMetadata(context.Background(), "tenant", "1")
	got, err := sabir.Call[string](ctx, node, "chain.a", struct{}{})
	if err != nil || got != "map[added:2 tenant:1]" || len(sabir.InfoFromContext(ctx).Metadata) != 1 {
		t.Fatalf("got %s, %v", got, err)
	}
}

func TestValuesOfTheCallersContextReachTheHandler(t *testing.T) {
	type key struct{}
	s := sabir.NewService("s")
	sabir.Handle(s, "a", func(ctx context.Context, _ struct{}) (string, error) { return ctx.Value(key{}).(string), nil })
	node := start(t, sabir.Serve(s))
	for name, ctx := range waysToCall(t) {
		if got, err := sabir.Call[string](context.WithValue(ctx, key{}, "v"), node, "s.a", struct{}{}); err != nil || got != "v" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestActionsThatCallEachOtherInACircleEndInAnError(t *testing.T) {
	s := sabir.NewService("circle")
	sabir.Handle(s, "a", func(ctx context.Context, _ struct{}) (struct{}, error) {
		return sabir.Call[struct{}](ctx, s, "circle.b", struct{}{})
	})
	sabir.Handle(s, "b", func(ctx context.Context, _ struct{}) (struct{}, error) {
		return sabir.Call[struct{}](ctx, s, "circle.a", struct{}{})
	})
	node := start(t, sabir.Serve(s), sabir.Limits{MaxDepth: 10})
	for name, ctx := range waysToCall(t) {
		for range 3 {
			_, err := sabir.Call[struct{}](ctx, node, "circle.a", struct{}{})
			if e := sabir.AsError(err); e == nil || e.Name != "TooManyLevels" || !strings.Contains(err.Error(), "circle.") {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
}

func TestMorePathsToAnActionThanAreRememberedStillWork(t *testing.T) {
	s := sabir.NewService("wide")
	for i := range 100 {
		sabir.Handle(s, fmt.Sprint("caller", i), func(ctx context.Context, _ struct{}) (string, error) {
			return sabir.Call[string](ctx, s, "wide.callee", struct{}{})
		})
	}
	sabir.Handle(s, "callee", func(ctx context.Context, _ struct{}) (string, error) { return sabir.InfoFromContext(ctx).CalledBy, nil })
	node := start(t, sabir.Serve(s))
	for range 2 {
		for i := range 100 {
			want := fmt.Sprint("wide.caller", i)
			if got, err := sabir.Call[string](context.Background(), node, want, struct{}{}); err != nil || got != want {
				t.Fatalf("got %q, %v", got, err)
			}
		}
	}
}

func TestOutsideAHandlerThereIsNoCall(t *testing.T) {
	if sabir.NodeFromContext(t.Context()) != nil || !reflect.DeepEqual(sabir.InfoFromContext(t.Context()), sabir.CallInfo{}) {
		t.Fatal("found a call")
	}
}

func TestErrorsFromHandlersKeepTheirIdentity(t *testing.T) {
	sentinel := errors.New("plain")
	own := sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "not enough")
	s := sabir.NewService("bad")
	for name, err := range map[string]error{
		"plain": sentinel, "own": own, "wrapped": fmt.Errorf("order 7: %w", own), "late": fmt.Errorf("db: %w", context.DeadlineExceeded),
	} {
		sabir.Handle(s, name, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, err })
	}
	node := start(t, sabir.Serve(s), sabir.NodeID("n1"))
	for name, want := range map[string]struct {
		is      error
		code    sabir.Code
		message string
	}{
		"plain":   {sentinel, sabir.CodeUnknown, "plain"},
		"own":     {own, sabir.CodeFailedPrecondition, "not enough"},
		"wrapped": {own, sabir.CodeFailedPrecondition, "order 7: OutOfStock: not enough"},
		"late":    {context.DeadlineExceeded, sabir.CodeDeadlineExceeded, "db: context deadline exceeded"},
	} {
		_, err := sabir.Call[struct{}](t.Context(), node, "bad."+name, struct{}{})
		e, ok := errors.AsType[*sabir.Error](err)
		if !ok || !errors.Is(err, want.is) || e.Code != want.code || e.Message != want.message || e.Node != "n1" {
			t.Errorf("%s: got %#v", name, err)
		}
	}
	if own.Node != "" {
		t.Error("the author's variable was changed")
	}
}

func TestRetryableDoesNotPassThroughAHandlerThatHasRun(t *testing.T) {
	s := sabir.NewService("s")
	sabir.Handle(s, "inner", func(context.Context, struct{}) (struct{}, error) {
		return struct{}{}, sabir.NewError(sabir.CodeUnavailable, "Busy", "nothing was done").AsRetryable()
	})
	sabir.Handle(s, "outer", func(ctx context.Context, _ struct{}) (struct{}, error) {
		return sabir.Call[struct{}](ctx, s, "s.inner", struct{}{})
	})
	node := start(t, sabir.Serve(s))
	for name, ctx := range waysToCall(t) {
		for action, want := range map[string]bool{"s.inner": true, "s.outer": false} {
			_, err := sabir.Call[struct{}](ctx, node, action, struct{}{})
			if e := sabir.AsError(err); e == nil || e.Name != "Busy" || e.Retryable != want {
				t.Errorf("%s, %s: got %+v", name, action, e)
			}
		}
	}
}

func TestACallThatFailsReturnsNoOutput(t *testing.T) {
	s := sabir.NewService("s")
	sabir.Handle(s, "half", func(context.Context, struct{}) (int, error) { return 7, errors.New("failed") })
	node := start(t, sabir.Serve(s))
	for name, ctx := range waysToCall(t) {
		if out, err := sabir.Call[int](ctx, node, "s.half", struct{}{}); out != 0 || err == nil {
			t.Errorf("%s: got %d, %v", name, out, err)
		}
	}
}
