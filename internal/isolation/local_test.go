package isolation_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/description"
	"github.com/sabir-go/sabir/policy"
)

// noCodec is the reason of entry points through which values go as they are.
const noCodec = "values go through as they are"

// localEntryPoints are the ways between a caller and a handler of one process.
var localEntryPoints = []entryPoint{
	{name: "local call", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		s := sabir.NewService("local")
		sabir.Handle(s, "take", func(context.Context, Payload) (sabir.Empty, error) { return sabir.Empty{}, nil })
		n := start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.Serve(s))
		return func(ctx context.Context, p Payload) error {
			_, err := sabir.Call[sabir.Empty](ctx, n, "local.take", p)
			return err
		}
	}, cannot: map[fault]string{panicsWritten: noCodec, panicsRead: noCodec, exitsWritten: noCodec, exitsRead: noCodec, nestsTooDeep: noCodec,
		exitsChecked: "the goroutine is the caller's own"}},
	{name: "local call with other types", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		type other struct {
			Text Text   `json:"word"`
			Next *other `json:"next,omitempty"`
		}
		n := start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.Serve(taker()))
		return func(ctx context.Context, p Payload) error {
			var converted *other
			for _, at := range slices.Backward(chain(p)) {
				converted = &other{Text: at.Text, Next: converted}
			}
			_, err := sabir.Bind[*other, sabir.Empty](n, "local.take")(ctx, converted)
			return err
		}
	}, cannot: sameGoroutine},
	{name: "answer of a local call with other types", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		var answer atomic.Pointer[Payload]
		s := sabir.NewService("local")
		sabir.Handle(s, "give", func(context.Context, sabir.Empty) (Payload, error) { return *answer.Load(), nil })
		n := start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.Serve(s))
		return func(ctx context.Context, p Payload) error {
			answer.Store(&p)
			_, err := sabir.Call[map[string]any](ctx, n, "local.give", sabir.Empty{})
			return err
		}
	}, cannot: merge(sameGoroutine, map[fault]string{panicsRead: untypedData, panicsChecked: notChecked})},
	{name: "local JSON call", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		n := start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.Serve(taker()))
		return func(ctx context.Context, p Payload) error {
			_, err := sabir.CallJSON(ctx, n, "local.take", document(t, p))
			return err
		}
	}, cannot: merge(sameGoroutine, map[fault]string{panicsWritten: written})},
	{name: "JSON call from outside", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		n := start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.Serve(taker()))
		return func(ctx context.Context, p Payload) error {
			a := n.Action("local.take")
			_, err := a.ServeJSON(gateway.Inbound{Context: ctx, Strict: true}, nil, document(t, p))
			return err
		}
	}, cannot: merge(sameGoroutine, map[fault]string{panicsWritten: written})},
	{name: "JSON answer of a call from outside", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		var answer atomic.Pointer[Payload]
		s := sabir.NewService("local")
		sabir.Handle(s, "give", func(context.Context, sabir.Empty) (Payload, error) { return *answer.Load(), nil })
		n := start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.Serve(s))
		return func(ctx context.Context, p Payload) error {
			answer.Store(&p)
			a := n.Action("local.give")
			_, err := a.ServeJSON(gateway.Inbound{Context: ctx}, nil, nil)
			return err
		}
	}, cannot: merge(sameGoroutine, map[fault]string{panicsRead: untypedData, panicsChecked: notChecked})},
	{name: "local event with another type", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		type other struct {
			Text Text   `json:"word"`
			Next *other `json:"next,omitempty"`
		}
		s := sabir.NewService("local")
		sabir.On(s, "came", func(context.Context, other) error { return nil })
		n := start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.Serve(s))
		return func(ctx context.Context, p Payload) error { return sabir.Emit(ctx, n, "came", p) }
	}, silent: map[fault]string{panicsWritten: handlersLog, panicsRead: handlersLog, nestsTooDeep: handlersLog},
		cannot: merge(sameGoroutine, map[fault]string{panicsChecked: notChecked})},
	{name: "local stream with other types", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		type other struct {
			Text Text   `json:"word"`
			Next *other `json:"next,omitempty"`
		}
		s := sabir.NewService("local")
		sabir.HandleStream(s, "flow", func(_ context.Context, s *sabir.Stream[other, Payload]) error {
			in, err := s.Recv()
			if err != nil {
				return err
			}
			return s.Send(Payload{Text: in.Text})
		})
		n := start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.Serve(s))
		return func(ctx context.Context, p Payload) error {
			a := n.Action("local.flow")
			stream, err := sabir.OpenAction[Payload, Payload](ctx, a)
			if err != nil {
				return err
			}
			defer stream.Close()
			if err := stream.Send(p); err != nil {
				return err
			}
			_, err = stream.Recv()
			return err
		}
	}, cannot: merge(sameGoroutine, map[fault]string{panicsChecked: notChecked})},
	{name: "data of an error, read into a type", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		return func(_ context.Context, p Payload) error {
			var data any
			if err := json.Unmarshal(document(t, p), &data); err != nil {
				return err
			}
			_, err := sabir.DataAs[Payload](sabir.NewError(sabir.CodeInternal, "Failed", "failed").WithData(data))
			if panicked, ok := errors.AsType[*sabir.Error](err); ok {
				log.Error("panic", "error", panicked)
			}
			return err
		}
	}, cannot: merge(sameGoroutine, map[fault]string{panicsWritten: untypedData, panicsChecked: notChecked})},
	{name: "answer kept in a cache", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		var answer atomic.Pointer[Payload]
		s := sabir.NewService("local")
		sabir.Handle(s, "give", func(context.Context, Text) (Payload, error) { return *answer.Load(), nil }, sabir.Use(policy.Cached{Cache: &policy.Cache{}, Clone: policy.CloneJSON()}))
		n := start(t, sabir.NodeID("one"), sabir.Logger(log), sabir.Serve(s))
		return func(ctx context.Context, p Payload) error {
			answer.Store(&p)
			for range 2 { // the second time from the cache
				if _, err := sabir.Call[Payload](ctx, n, "local.give", p.Text[:1]); err != nil {
					return err
				}
			}
			return nil
		}
	}, silent: map[fault]string{panicsWritten: "what cannot be kept is still an answer", panicsRead: "what cannot be read is worked out anew",
		nestsTooDeep: "what cannot be kept is still an answer"},
		cannot: merge(sameGoroutine, map[fault]string{panicsChecked: notChecked})},
	{name: "example in a description", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		n := start(t, sabir.NodeID("one"), sabir.Logger(log))
		return func(ctx context.Context, p Payload) error {
			s := sabir.NewService("described")
			sabir.Handle(s, "take", func(context.Context, Payload) (Payload, error) { return Payload{}, nil }, sabir.Example(p, good()))
			if err := n.Add(ctx, s); err != nil {
				return err
			}
			_, err := sabir.Call[map[string]any](ctx, n, "$node.api", description.Request{Action: "described.take"})
			return errors.Join(err, n.Remove(ctx, s))
		}
	}, silent: map[fault]string{panicsWritten: leftOut, nestsTooDeep: leftOut},
		cannot: merge(sameGoroutine, map[fault]string{panicsRead: written, panicsChecked: notChecked})},
}

// leftOut is the reason of entry points that leave out what cannot be written.
const leftOut = "the document is without the example"

// sameGoroutine lists the faults that cannot happen if everything runs on the caller's goroutine.
var sameGoroutine = map[fault]string{exitsWritten: ownGoroutine, exitsRead: ownGoroutine, exitsChecked: ownGoroutine}

func merge(reasons ...map[fault]string) map[fault]string {
	all := map[fault]string{}
	for _, r := range reasons {
		maps.Copy(all, r)
	}
	return all
}

func taker() *sabir.Service {
	s := sabir.NewService("local")
	sabir.Handle(s, "take", func(context.Context, Payload) (sabir.Empty, error) { return sabir.Empty{}, nil })
	return s
}

// chain is the value and those that it leads to.
func chain(p Payload) (list []Payload) {
	for at := &p; at != nil; at = at.Next {
		list = append(list, *at)
	}
	return list
}

// start starts a node that stops with the test.
func start(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	n := sabir.NewNode(options...)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Errorf("%s does not stop: %v", n.ID(), err)
		}
	})
	return n
}
