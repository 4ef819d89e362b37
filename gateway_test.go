package sabir_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/uuid"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/race"
	"github.com/sabir-go/sabir/internal/requestid"
)

type doubleIn struct {
	N int `json:"n" validate:"min=1"`
}

func TestACallFromOutside(t *testing.T) {
	var seen sabir.CallInfo
	var metadata map[string]string
	var left time.Duration
	s := sabir.NewService("math")
	sabir.Handle(s, "double", func(ctx context.Context, in doubleIn) (int, error) {
		seen, metadata = sabir.InfoFromContext(ctx), sabir.InfoFromContext(ctx).Metadata
		if deadline, ok := ctx.Deadline(); ok {
			left = time.Until(deadline)
		}
		return 2 * in.N, nil
	})
	node := start(t, sabir.Serve(s))
	double := node.Action("math.double")
	in := gateway.Inbound{Context: t.Context(), RequestID: "r-1", Metadata: map[string]string{"tenant": "a"}, Limit: time.Minute, Watched: true}

	out, err := double.ServeJSON(in, []byte("x"), []byte(`{"n":21}`))
	if err != nil || string(out) != "x42" {
		t.Fatalf("got %s, %v; want the answer appended", out, err)
	}
	if seen.RequestID != "r-1" || seen.Depth != 1 || seen.CalledBy != "" || metadata["tenant"] != "a" {
		t.Errorf("the handler saw %+v and %v", seen, metadata)
	}
	if left <= 0 || left > time.Minute {
		t.Errorf("the handler has %v left, want up to a minute", left)
	}
	if out, err := double.ServeJSON(in, []byte("x"), []byte(`{"n":0}`)); !errors.Is(err, sabir.ErrValidationFailed) || string(out) != "x" {
		t.Errorf("a bad input: %q, %v", out, err)
	}
	if _, err := double.ServeJSON(in, nil, []byte(`{"n":`)); !errors.Is(err, sabir.ErrBadInput) {
		t.Errorf("a broken input: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := double.ServeJSON(gateway.Inbound{Context: gone}, nil, []byte(`{"n":1}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone: %v", err)
	}
}

func TestACallFromOutsideEndsAtItsLimit(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		release := make(chan struct{})
		s := sabir.NewService("slow")
		sabir.Handle(s, "deaf", func(context.Context, sabir.Empty) (int, error) { <-release; return 0, nil })
		sabir.Handle(s, "polite", func(ctx context.Context, _ sabir.Empty) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
		node := sabir.NewNode(sabir.Serve(s))
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer node.Stop(context.Background())
		defer close(release)

		begin := time.Now()
		_, err := node.Action("slow.deaf").ServeJSON(gateway.Inbound{Context: t.Context(), Limit: time.Second}, nil, nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("a handler that does not listen: %v after %v", err, time.Since(begin))
		}
		begin = time.Now()
		_, err = node.Action("slow.polite").ServeJSON(gateway.Inbound{Context: t.Context(), Limit: time.Second, Watched: true}, nil, nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("a handler that listens, for a gateway that watches: %v after %v", err, time.Since(begin))
		}
	})
}

func TestAWrappedActionPassesMoreMiddlewares(t *testing.T) {
	s := sabir.NewService("math")
	sabir.Handle(s, "double", func(_ context.Context, in doubleIn) (int, error) { return 2 * in.N, nil })
	sabir.HandleStream(s, "count", func(_ context.Context, s *sabir.Stream[int, int]) error { return s.Send(1) })
	node := start(t, sabir.Serve(s))
	var passed []string
	note := func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			passed = append(passed, a.Name)
			return next(ctx, r)
		}
	}
	hook := sabir.Middleware{Name: "hook", Local: note, Stream: note}

	wrapped, err := node.Action("math.double").With(hook)
	if err != nil {
		t.Fatal(err)
	}
	out, err := wrapped.ServeJSON(gateway.Inbound{Context: t.Context()}, nil, []byte(`{"n":4}`))
	if err != nil || string(out) != "8" || len(passed) != 1 {
		t.Fatalf("got %s, %v, passed %v", out, err, passed)
	}
	if _, err := sabir.Call[int](t.Context(), node, "math.double", doubleIn{4}); err != nil || len(passed) != 1 {
		t.Errorf("another call: %v, passed %v", err, passed)
	}

	count, err := node.Action("math.count").With(hook)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := sabir.OpenAction[json.RawMessage, json.RawMessage](t.Context(), count)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if v, err := stream.Recv(); err != nil || string(v) != "1" || len(passed) != 2 {
		t.Errorf("a stream: %s, %v, passed %v", v, err, passed)
	}

	_, err = node.Action("math.double").With(sabir.Middleware{Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		a.Reject("not this one")
		return next
	}})
	if err == nil || !strings.Contains(err.Error(), "not this one") {
		t.Errorf("a middleware that refuses: %v", err)
	}
}

func TestWhatAnActionSaysOfItself(t *testing.T) {
	outOfStock := sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "nothing left")
	s := sabir.NewService("shop")
	sabir.Handle(s, "buy", func(context.Context, doubleIn) (int, error) { return 0, nil },
		sabir.Route("POST", "/shop"), sabir.Errors(outOfStock), sabir.Example(doubleIn{1}, 2), sabir.Deprecated("use shop.order"),
		sabir.Use(sabir.Middleware{Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
			a.Annotate("roles", "buyer")
			return next
		}}))
	buy := start(t, sabir.Serve(s)).Action("shop.buy")
	if len(buy.Routes) != 1 || buy.Routes[0].Pattern != "/shop" || len(buy.Errors) != 1 || buy.Errors[0] != outOfStock ||
		len(buy.Examples) != 1 || buy.Deprecated != "use shop.order" || buy.Annotation("roles") != "buyer" || buy.Annotation("other") != nil {
		t.Errorf("got %+v", buy)
	}
}

type lentKey struct{}

// lender answers for lentKey.
type lender string

func (l *lender) Value(key any) any {
	if _, ok := key.(lentKey); ok {
		return l
	}
	return nil
}

func TestWhatAFaceLendsIsFoundUntilTheCallHasEnded(t *testing.T) {
	type ownKey struct{}
	var kept context.Context
	s := sabir.NewService("math")
	sabir.Handle(s, "double", func(ctx context.Context, in doubleIn) (int, error) {
		kept = context.WithValue(ctx, ownKey{}, "own")
		if l, _ := kept.Value(lentKey{}).(*lender); l == nil || *l != "lent" {
			t.Errorf("the handler finds %v", l)
		}
		return 2 * in.N, nil
	})
	double := start(t, sabir.Serve(s)).Action("math.double")
	lent := lender("lent")
	for name, limit := range map[string]time.Duration{"with a limit": time.Minute, "without": 0} {
		buffer := []byte("r-1")
		in := gateway.Inbound{Context: context.WithValue(t.Context(), ownKey{}, "outer"), Limit: limit, Watched: true, Borrowed: &lent,
			RequestID: unsafe.String(&buffer[0], len(buffer)), Metadata: map[string]string{"tenant": "a"}}
		if _, err := double.ServeJSON(in, nil, []byte(`{"n":21}`)); err != nil {
			t.Fatal(err)
		}
		clear(buffer)
		if kept.Value(lentKey{}) != nil || kept.Value(ownKey{}) != "own" {
			t.Errorf("%s: after the call it finds %v", name, kept.Value(lentKey{}))
		}
		if sabir.InfoFromContext(kept).RequestID != "r-1" || sabir.InfoFromContext(kept).Metadata["tenant"] != "a" {
			t.Errorf("%s: after the call the id is %q, the metadata %v", name, sabir.InfoFromContext(kept).RequestID, sabir.InfoFromContext(kept).Metadata)
		}
	}
}

func TestACallFromOutsideWithoutALimitEndsWithItsCaller(t *testing.T) {
	s := sabir.NewService("slow")
	caller, leave := context.WithCancel(t.Context())
	sabir.Handle(s, "polite", func(ctx context.Context, _ sabir.Empty) (bool, error) {
		derived, cancel := context.WithCancel(ctx)
		defer cancel()
		leave() // not before the call is here, which would be refused
		<-derived.Done()
		_, limited := ctx.Deadline()
		return limited || ctx.Err() == nil, nil
	})
	polite := start(t, sabir.Serve(s)).Action("slow.polite")
	if out, err := polite.ServeJSON(gateway.Inbound{Context: caller}, nil, nil); err != nil || string(out) != "false" {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestRequestIDsFromOutsideMayBeLong(t *testing.T) {
	s := sabir.NewService("ids")
	sabir.Handle(s, "mine", func(ctx context.Context, _ sabir.Empty) (string, error) {
		return sabir.InfoFromContext(ctx).RequestID, nil
	})
	mine := start(t, sabir.Serve(s)).Action("ids.mine")
	for _, length := range []int{0, 1, 36, 37, 128} {
		id := strings.Repeat("a", length)
		if out, err := mine.ServeJSON(gateway.Inbound{Context: t.Context(), RequestID: id}, nil, nil); err != nil || string(out) != `"`+id+`"` {
			t.Errorf("%d: got %s, %v", length, out, err)
		}
	}
}

func TestACallFromOutsideTakesOneAllocation(t *testing.T) {
	s := sabir.NewService("math")
	sabir.Handle(s, "double", func(_ context.Context, in doubleIn) (int, error) { return 2 * in.N, nil })
	double := start(t, sabir.Serve(s)).Action("math.double")
	lent := lender("lent")
	in := gateway.Inbound{Context: t.Context(), RequestID: "r-1", Limit: time.Minute, Watched: true, Borrowed: &lent}
	body, out := []byte(`{"n":21}`), make([]byte, 0, 64)
	if n := testing.AllocsPerRun(1000, func() { double.ServeJSON(in, out, body) }); n > 1 && !race.Enabled {
		t.Errorf("%v allocations", n)
	}
}

func TestRequestIDsAreRandomUUIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		text := string(requestid.Append([]byte("x")))
		id, err := uuid.Parse(text[1:])
		if err != nil || text[0] != 'x' || id.Version() != 4 || id.Variant() != uuid.RFC4122 || id.String() != text[1:] || seen[text] {
			t.Fatalf("%q: version %v, %v", text, id.Version(), err)
		}
		seen[text] = true
	}
}

func BenchmarkACallFromOutside(b *testing.B) {
	s := sabir.NewService("math")
	sabir.Handle(s, "double", func(_ context.Context, in doubleIn) (int, error) { return 2 * in.N, nil })
	double := start(b, sabir.Serve(s)).Action("math.double")
	in := gateway.Inbound{Context: b.Context(), RequestID: "r-1", Limit: time.Minute, Watched: true}
	body, out := []byte(`{"n":21}`), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if out, err = double.ServeJSON(in, out[:0], body); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAGatewayThatCannotBeMadeIsReportedBeforeTheNodeJoins(t *testing.T) {
	var lines strings.Builder
	tooShort := errors.New("the secret is too short")
	node := sabir.NewNode(sabir.Logger(slog.New(slog.NewTextHandler(&lines, nil))), sabir.Join("tcp://127.0.0.1:0"),
		sabir.WithGateway(func(*sabir.Node) (gateway.Gateway, error) { return nil, tooShort }))
	if err := node.Start(t.Context()); !errors.Is(err, tooShort) {
		t.Error(err)
	}
	if strings.Contains(lines.String(), "joined") {
		t.Errorf("the node was a member meanwhile:\n%s", &lines)
	}
}
