package conformance

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
)

var contextBehaviours = []behaviour{
	{"the caller's deadline ends the caller in time though the handler does not return", deadlineEndsCaller},
	{"the handler's context has the caller's deadline and ends at it", deadlineReachesHandler},
	{"the option Timeout ends the caller and the handler's context", timeoutOption},
	{"a call whose deadline has passed does not leave", deadlinePassed},
	{"cancellation of the caller reaches the handler", cancellation},
	{"a deadline holds over two nodes", deadlineOverTwoHops},
	{"cancellation reaches the handler behind a node in between", cancellationOverTwoHops},
	{"a handler without a deadline has none", noDeadline},
	{"metadata and request id travel over two nodes", metadataTravels},
	{"the handler knows its caller and its level over two nodes", levelTravels},
	{"what a handler adds to the metadata does not come back", metadataDoesNotReturn},
	{"a call on its way to another node belongs to the trace of its caller", traceOfCall},
	{"a stream belongs to the trace of its caller", traceOfStream},
	{"an event belongs to the trace of its emitter", traceOfEvent},
	{"a broadcast belongs to the trace of its emitter", traceOfBroadcast},
}

// soon is the time that the calls have that are to meet their deadline. A call whose time has passed before it arrives does not
// reach its handler, so on a busy machine it must be long beside what a call takes.
const soon = 2 * time.Second

// reaching makes a call that has the time that it is given, and where that had passed before its handler began, one that has
// twice as long.
func reaching(t *testing.T, began <-chan struct{}, call func(limit time.Duration)) {
	t.Helper()
	for limit := soon; limit < waitLimit; limit *= 2 {
		call(limit)
		select {
		case <-began:
			return
		case <-time.After(limit):
			t.Logf("a call does not reach its handler in %v", limit)
		}
	}
	t.Fatal("no call reaches its handler")
}

func deadlineEndsCaller(t *testing.T, s *suite) {
	w := s.threeNodes
	free, began := make(chan struct{}), make(chan struct{}, 10)
	t.Cleanup(func() { close(free) })
	action := remote(t, w, func(context.Context, int) (int, error) {
		began <- struct{}{}
		<-free // as if it knew of no context
		return 1, nil
	})
	reaching(t, began, func(limit time.Duration) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := sabir.Call[int](ctx, w.ann, action, 1)
		if !errors.Is(err, sabir.ErrDeadlineExceeded) || !errors.Is(err, context.DeadlineExceeded) || sabir.AsError(err).Retryable {
			t.Errorf("got %+v", err)
		}
		if took := time.Since(start); took < limit || took > limit+atOnce {
			t.Errorf("the caller was let go after %v", took)
		}
	})
}

// ending records the state of a handler's context when it ended.
type ending struct {
	began    time.Time
	deadline time.Time
	has      bool
	err      error
}

// waits is a handler that waits for the end of its context and reports what it saw.
func waits(began chan<- struct{}, ended chan<- ending) func(context.Context, int) (int, error) {
	return func(ctx context.Context, _ int) (int, error) {
		e := ending{began: time.Now()}
		e.deadline, e.has = ctx.Deadline()
		began <- struct{}{}
		select {
		case <-ctx.Done():
		case <-time.After(waitLimit):
		}
		e.err = ctx.Err()
		ended <- e
		return 0, ctx.Err()
	}
}

func deadlineReachesHandler(t *testing.T, s *suite) {
	w := s.threeNodes
	began, ended := make(chan struct{}, 10), make(chan ending, 10)
	action := remote(t, w, waits(began, ended))
	var start, limit time.Time
	var given time.Duration
	reaching(t, began, func(lasting time.Duration) {
		start, given = time.Now(), lasting
		ctx, cancel := context.WithTimeout(t.Context(), given)
		defer cancel()
		limit, _ = ctx.Deadline()
		if _, err := sabir.Call[int](ctx, w.ann, action, 1); !errors.Is(err, sabir.ErrDeadlineExceeded) {
			t.Errorf("the caller got %v", err)
		}
	})
	e := get(t, "the handler's end", ended)
	if off := e.deadline.Sub(limit); !e.has || off < -time.Second || off > e.began.Sub(start)+time.Second { // later by as long as the call was under way
		t.Errorf("the handler's deadline is %v from the caller's (%v)", off, e.has)
	}
	if e.err == nil || time.Since(start) > given+atOnce { // its own deadline or the caller's goodbye, whichever comes first
		t.Errorf("the handler saw %v after %v", e.err, time.Since(start))
	}
}

func timeoutOption(t *testing.T, s *suite) {
	w := s.threeNodes
	began, ended := make(chan struct{}, 10), make(chan ending, 10)
	action := remote(t, w, waits(began, ended))
	reaching(t, began, func(limit time.Duration) {
		start := time.Now()
		_, err := sabir.Call[int](context.Background(), w.ann, action, 1, sabir.WithTimeout(limit))
		if took := time.Since(start); !errors.Is(err, sabir.ErrDeadlineExceeded) || took < limit || took > limit+atOnce {
			t.Errorf("got %v after %v", err, took)
		}
	})
	if e := get(t, "the handler's end", ended); !e.has || !errors.Is(e.err, context.DeadlineExceeded) {
		t.Errorf("the handler saw %+v", e)
	}
}

func deadlinePassed(t *testing.T, s *suite) {
	w := s.threeNodes
	ran := make(chan struct{}, 1)
	action := remote(t, w, func(context.Context, int) (int, error) {
		ran <- struct{}{}
		return 1, nil
	})
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := sabir.Call[int](ctx, w.ann, action, 1); !errors.Is(err, sabir.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	// A second call over the same link comes after the first would have.
	if _, err := sabir.Call[int](brief(t), w.ann, action, 1); err != nil || len(ran) != 1 {
		t.Errorf("the handler ran %d times, %v", len(ran), err)
	}
}

func cancellation(t *testing.T, s *suite) {
	w := s.threeNodes
	began, ended := make(chan struct{}, 1), make(chan ending, 1)
	action := remote(t, w, waits(began, ended))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := sabir.Call[int](ctx, w.ann, action, 1)
		failed <- err
	}()
	get(t, "the call at the handler", began)
	cancel()
	if err := get(t, "the caller's error", failed); !errors.Is(err, sabir.ErrCanceled) || !errors.Is(err, context.Canceled) {
		t.Errorf("the caller got %v", err)
	}
	if e := get(t, "the handler's end", ended); !errors.Is(e.err, context.Canceled) || e.has {
		t.Errorf("the handler saw %+v", e)
	}
}

// between serves an action on cid that calls another.
func between(t *testing.T, w *threeNodes, inner string) string {
	s := sabir.NewService(name())
	sabir.Handle(s, "it", func(ctx context.Context, in int) (int, error) { return sabir.Call[int](ctx, s, inner, in) })
	w.serve(t, w.cid, s)
	return s.Name() + ".it"
}

func deadlineOverTwoHops(t *testing.T, s *suite) {
	w := s.threeNodes
	began, ended := make(chan struct{}, 10), make(chan ending, 10)
	outer := between(t, w, remote(t, w, waits(began, ended)))
	reaching(t, began, func(limit time.Duration) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		if _, err := sabir.Call[int](ctx, w.ann, outer, 1); !errors.Is(err, sabir.ErrDeadlineExceeded) {
			t.Errorf("the caller got %v", err)
		}
	})
	if e := get(t, "the handler's end", ended); !e.has || e.err == nil {
		t.Errorf("the handler saw %+v", e)
	}
}

func cancellationOverTwoHops(t *testing.T, s *suite) {
	w := s.threeNodes
	began, ended := make(chan struct{}, 1), make(chan ending, 1)
	outer := between(t, w, remote(t, w, waits(began, ended)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := sabir.Call[int](ctx, w.ann, outer, 1)
		failed <- err
	}()
	get(t, "the call at the handler", began)
	cancel()
	if err := get(t, "the caller's error", failed); !errors.Is(err, sabir.ErrCanceled) {
		t.Errorf("the caller got %v", err)
	}
	if e := get(t, "the handler's end", ended); !errors.Is(e.err, context.Canceled) {
		t.Errorf("the handler saw %+v", e)
	}
}

func noDeadline(t *testing.T, s *suite) {
	w := s.threeNodes
	action := remote(t, w, func(ctx context.Context, _ int) (bool, error) {
		_, has := ctx.Deadline()
		return has, ctx.Err()
	})
	if has, err := sabir.Call[bool](context.Background(), w.ann, action, 1); err != nil || has {
		t.Errorf("got %v, %v", has, err)
	}
}

// seen holds the information that a handler has about its call.
type seen struct {
	Info     sabir.CallInfo
	Metadata map[string]string
}

func look(ctx context.Context, _ int) (seen, error) {
	return seen{sabir.InfoFromContext(ctx), sabir.InfoFromContext(ctx).Metadata}, nil
}

// lookFrom serves an action on cid that calls one that looks.
func lookFrom(t *testing.T, w *threeNodes, inner string) string {
	s := sabir.NewService(name())
	sabir.Handle(s, "it", func(ctx context.Context, in int) (seen, error) { return sabir.Call[seen](ctx, s, inner, in) })
	w.serve(t, w.cid, s)
	return s.Name() + ".it"
}

func metadataTravels(t *testing.T, s *suite) {
	w := s.threeNodes
	outer := lookFrom(t, w, remote(t, w, look))
	ctx := sabir.WithRequestID(sabir.WithMetadata(sabir.WithMetadata(brief(t), "tenant", "añ"), "empty", ""), "r-1")
	out, err := sabir.Call[seen](ctx, w.ann, outer, 1)
	if err != nil || out.Info.RequestID != "r-1" || !maps.Equal(out.Metadata, map[string]string{"tenant": "añ", "empty": ""}) {
		t.Errorf("got %+v, %v", out, err)
	}
	out, err = sabir.Call[seen](context.Background(), w.ann, outer, 1)
	if err != nil || out.Info.RequestID != "" || len(out.Metadata) > 0 {
		t.Errorf("a bare call: %+v, %v", out, err)
	}
}

func levelTravels(t *testing.T, s *suite) {
	w := s.threeNodes
	inner := remote(t, w, look)
	outer := lookFrom(t, w, inner)
	for name, ctx := range map[string]context.Context{"bare": context.Background(), "with a deadline": brief(t)} {
		out, err := sabir.Call[seen](ctx, w.ann, outer, 1)
		if err != nil || out.Info.Action != inner || out.Info.CalledBy != outer || out.Info.Depth != 2 || out.Info.Node != "bob" {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		out, err = sabir.Call[seen](ctx, w.ann, inner, 1)
		if err != nil || out.Info.CalledBy != "" || out.Info.Depth != 1 {
			t.Errorf("%s, directly: %+v, %v", name, out, err)
		}
	}
}

func metadataDoesNotReturn(t *testing.T, s *suite) {
	w := s.threeNodes
	inner := remote(t, w, look)
	outer := sabir.NewService(name())
	sabir.Handle(outer, "it", func(ctx context.Context, in int) (seen, error) {
		if _, err := sabir.Call[seen](sabir.WithMetadata(ctx, "more", "1"), outer, inner, in); err != nil {
			return seen{}, err
		}
		return sabir.Call[seen](ctx, outer, inner, in)
	})
	w.serve(t, w.cid, outer)
	ctx := sabir.WithMetadata(brief(t), "tenant", "a")
	out, err := sabir.Call[seen](ctx, w.ann, outer.Name()+".it", 1)
	if err != nil || !maps.Equal(out.Metadata, map[string]string{"tenant": "a"}) {
		t.Errorf("got %+v, %v", out, err)
	}
}

// traced is two nodes with traces of their own, as in two processes, where the second offers what the first starts.
type traced struct {
	first, second *sabir.Node
	spans         []*tracetest.InMemoryExporter
	telemetry     []*telemetry.Telemetry
}

func (s *suite) traced(t *testing.T, offered *sabir.Service, start func(context.Context, *sabir.Service) error) *traced {
	tr := &traced{}
	c := s.cluster(t)
	starter := sabir.NewService("starter")
	sabir.Handle(starter, "it", func(ctx context.Context, _ int) (int, error) { return 0, start(ctx, starter) })
	first, second := tr.option(t), tr.option(t)
	tr.second = c.start("second", sabir.Serve(offered), second)
	tr.first = c.start("first", sabir.Serve(starter), first)
	must(t, tr.first.WaitFor(brief(t), offered.Name()))
	_, err := sabir.Call[int](brief(t), tr.first, "starter.it", 1)
	must(t, err)
	return tr
}

// option lets one more node have traces.
func (tr *traced) option(t *testing.T) sabir.NodeOption {
	exporter := tracetest.NewInMemoryExporter()
	made, err := telemetry.New(telemetry.Config{Traces: exporter})
	must(t, err)
	tr.spans, tr.telemetry = append(tr.spans, exporter), append(tr.telemetry, made)
	return sabir.Use(made.Middleware())
}

// continues checks that the second node's span of the name is in the trace of the first node's span of starter.it.
func (tr *traced) continues(t *testing.T, name string) {
	t.Helper()
	find := func(node int, name string) (found tracetest.SpanStub) {
		eventually(t, "there is a span of "+name, func() bool {
			must(t, tr.telemetry[node].Flush(t.Context()))
			for _, span := range tr.spans[node].GetSpans() {
				if span.Name == name {
					found = span
					return true
				}
			}
			return false
		})
		return found
	}
	outer, inner := find(0, "starter.it"), find(1, name)
	if inner.SpanContext.TraceID() != outer.SpanContext.TraceID() {
		t.Errorf("the span of %s is in another trace: its parent is %v, remote %v", name, inner.Parent.SpanID(), inner.Parent.IsRemote())
	}
	if !inner.Parent.IsValid() || !inner.Parent.IsRemote() {
		t.Errorf("the span of %s has the parent %v, remote %v", name, inner.Parent.SpanID(), inner.Parent.IsRemote())
	}
}

func traceOfCall(t *testing.T, s *suite) {
	offered := sabir.NewService("offered")
	sabir.Handle(offered, "it", look)
	s.traced(t, offered, func(ctx context.Context, from *sabir.Service) error {
		_, err := sabir.Call[seen](ctx, from, "offered.it", 1)
		return err
	}).continues(t, "offered.it")
}

func traceOfStream(t *testing.T, s *suite) {
	offered := sabir.NewService("offered")
	sabir.HandleStream(offered, "it", double)
	s.traced(t, offered, func(ctx context.Context, from *sabir.Service) error {
		for _, err := range sabir.CallStream[int](ctx, from, "offered.it", 1) {
			if err != nil {
				return err
			}
		}
		return nil
	}).continues(t, "offered.it")
}

func traceOfEvent(t *testing.T, s *suite) {
	offered := sabir.NewService("offered")
	sabir.On(offered, "thing.happened", func(context.Context, int) error { return nil })
	s.traced(t, offered, func(ctx context.Context, from *sabir.Service) error {
		return sabir.Emit(ctx, from, "thing.happened", 1)
	}).continues(t, "handle thing.happened")
}

func traceOfBroadcast(t *testing.T, s *suite) {
	offered := sabir.NewService("offered")
	sabir.On(offered, "thing.happened", func(context.Context, int) error { return nil })
	s.traced(t, offered, func(ctx context.Context, from *sabir.Service) error {
		return sabir.Broadcast(ctx, from, "thing.happened", 1)
	}).continues(t, "handle thing.happened")
}
