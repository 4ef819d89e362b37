package isolation_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	_ "github.com/sabir-go/sabir/codec/cbor"
	_ "github.com/sabir-go/sabir/codec/gob"
	_ "github.com/sabir-go/sabir/codec/msgpack"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/wire"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// The formats of links that the rows are for.
var linkFormats = []string{native.Name, "json", "msgpack", "cbor", "gob"}

// ownGoroutine is the reason of entry points at which the code of a value runs on the caller's goroutine.
const ownGoroutine = "the goroutine is the sender's own"

// notChecked is the reason of entry points that check no rules.
const notChecked = "only what comes in to a handler is validated"

// linkEntryPoints are the ways between a caller on one node and a handler on another.
func linkEntryPoints() (list []entryPoint) {
	for _, format := range linkFormats {
		rows := []entryPoint{
			entryPoint{name: "input of a call over a link, " + format, open: callOverLink(format), cannot: map[fault]string{exitsWritten: ownGoroutine}},
			entryPoint{name: "answer of a call over a link, " + format, open: answerOverLink(format),
				cannot: map[fault]string{exitsRead: ownGoroutine, panicsChecked: notChecked, exitsChecked: notChecked}},
			entryPoint{name: "event to another node, " + format, open: eventOverLink(format),
				silent: map[fault]string{panicsRead: handlersLog, exitsRead: handlersLog, exitsChecked: handlersLog},
				cannot: map[fault]string{exitsWritten: ownGoroutine}},
			entryPoint{name: "stream to another node, " + format, open: streamOverLink(format, true), cannot: map[fault]string{exitsWritten: ownGoroutine}},
			entryPoint{name: "stream from another node, " + format, open: streamOverLink(format, false),
				cannot: map[fault]string{exitsRead: ownGoroutine, panicsChecked: notChecked, exitsChecked: notChecked}},
		}
		if format == "gob" {
			for _, row := range rows {
				for _, f := range []fault{panicsWritten, panicsRead, exitsWritten, exitsRead} {
					row.cannot[f] = "gob asks no MarshalText"
				}
			}
		}
		list = append(list, rows...)
	}
	return append(list,
		entryPoint{name: "data of an error over a link", open: errorDataOverLink, cannot: map[fault]string{panicsRead: untypedData, exitsRead: untypedData,
			panicsChecked: notChecked, exitsChecked: notChecked}},
		entryPoint{name: "JSON call over a link", open: jsonOverLink, cannot: map[fault]string{panicsWritten: written, exitsWritten: written}},
	)
}

const (
	handlersLog = "what happens to handlers of events is logged where they run"
	untypedData = "the data arrives as what JSON makes of it, without the type"
	written     = "the caller has a document already"
)

// pair starts two nodes with a link, of which one serves s, and returns the other, which has more options. Both have the
// format only, or any where it is "". When the test ends, the link must still be the same.
func pair(t *testing.T, log *slog.Logger, format string, s *sabir.Service, more ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	watch := &linkWatch{}
	at := "mem://" + strings.NewReplacer("/", "-", ",", "", " ", "-").Replace(t.Name())
	options := []sabir.NodeOption{sabir.Logger(log)}
	if format != "" {
		c, ok := codec.Lookup(format)
		if !ok {
			t.Fatalf("no codec is registered as %q", format)
		}
		options = append(options, sabir.Codecs(c))
	}
	start(t, append(slices.Clone(options), sabir.NodeID("there"), sabir.Join(at), sabir.Serve(s))...)
	here := start(t, slices.Concat(options, more, []sabir.NodeOption{sabir.NodeID("here"), sabir.Join(at), sabir.WithExtension(watch)})...)
	t.Cleanup(func() {
		if linked := watch.linked.Load(); linked != 1 {
			t.Errorf("the nodes were linked %d times, want once: the fault has ended a link", linked)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := here.WaitFor(ctx, "there"); err != nil {
		t.Fatal(err)
	}
	return here
}

// linkWatch is an extension that counts links.
type linkWatch struct{ linked atomic.Int32 }

func (w *linkWatch) Topic() uint8                             { return 200 }
func (w *linkWatch) Name() string                             { return "link watch" }
func (w *linkWatch) Start(context.Context, *sabir.Node) error { return nil }
func (w *linkWatch) Stop(context.Context) error               { return nil }
func (w *linkWatch) Linked(*wire.Link)                        { w.linked.Add(1) }
func (w *linkWatch) Posted(*wire.Link, []byte)                {}
func (w *linkWatch) Unlinked(*wire.Link, error)               {}

// way is a way through an entry point.
type way = func(context.Context, Payload) error

func callOverLink(format string) func(*testing.T, *slog.Logger) way {
	return func(t *testing.T, log *slog.Logger) way {
		s := sabir.NewService("there")
		sabir.Handle(s, "take", func(context.Context, Payload) (sabir.Empty, error) { return sabir.Empty{}, nil })
		n := pair(t, log, format, s)
		return func(ctx context.Context, p Payload) error {
			_, err := sabir.Call[sabir.Empty](ctx, n, "there.take", p)
			return err
		}
	}
}

func answerOverLink(format string) func(*testing.T, *slog.Logger) way {
	return func(t *testing.T, log *slog.Logger) way {
		var answer atomic.Pointer[Payload]
		s := sabir.NewService("there")
		sabir.Handle(s, "give", func(context.Context, sabir.Empty) (Payload, error) { return *answer.Load(), nil })
		n := pair(t, log, format, s)
		return func(ctx context.Context, p Payload) error {
			answer.Store(&p)
			_, err := sabir.Call[Payload](ctx, n, "there.give", sabir.Empty{})
			return err
		}
	}
}

func eventOverLink(format string) func(*testing.T, *slog.Logger) way {
	return func(t *testing.T, log *slog.Logger) way {
		var others atomic.Int32
		s := sabir.NewService("there")
		sabir.On(s, "came", func(context.Context, Payload) error { return nil })
		sabir.On(s, "came", func(context.Context, sabir.Empty) error { others.Add(1); return nil }, sabir.Delivery{Group: "others"})
		n := pair(t, log, format, s)
		return func(ctx context.Context, p Payload) error {
			before := others.Load()
			err := sabir.Broadcast(ctx, n, "came", p)
			if err == nil && others.Load() == before {
				return errors.New("the other handlers of the event did not get it")
			}
			return err
		}
	}
}

// streamOverLink is a stream on which the value goes up to its handler, or comes down from it.
func streamOverLink(format string, up bool) func(*testing.T, *slog.Logger) way {
	return func(t *testing.T, log *slog.Logger) way {
		var down atomic.Pointer[Payload]
		s := sabir.NewService("there")
		sabir.HandleStream(s, "flow", func(_ context.Context, s *sabir.Stream[Payload, Payload]) error {
			if p := down.Load(); p != nil {
				return s.Send(*p)
			}
			if _, err := s.Recv(); err != nil {
				return err
			}
			return s.Send(good())
		})
		n := pair(t, log, format, s)
		return func(ctx context.Context, p Payload) error {
			sent := p
			if !up {
				down.Store(&p)
				sent = good()
			}
			stream, err := sabir.OpenStream[Payload, Payload](ctx, n, "there.flow")
			if err != nil {
				return err
			}
			defer stream.Close()
			if err := stream.Send(sent); err != nil && err != io.EOF {
				return err
			}
			_, err = stream.Recv()
			return err
		}
	}
}

// errorDataOverLink sends values as the data of errors, which the caller gets as data again.
func errorDataOverLink(t *testing.T, log *slog.Logger) way {
	failed := sabir.NewError(sabir.CodeFailedPrecondition, "Refused", "no")
	var data atomic.Pointer[Payload]
	s := sabir.NewService("there")
	sabir.Handle(s, "fail", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, failed.WithData(data.Load())
	})
	n := pair(t, log, "", s)
	return func(ctx context.Context, p Payload) error {
		data.Store(&p)
		_, err := sabir.Call[sabir.Empty](ctx, n, "there.fail", sabir.Empty{})
		if got, wrong := sabir.DataAs[Payload](err); errors.Is(err, failed) && wrong == nil && got.Text == p.Text {
			return nil
		}
		return err
	}
}

func jsonOverLink(t *testing.T, log *slog.Logger) way {
	s := sabir.NewService("there")
	sabir.Handle(s, "take", func(context.Context, Payload) (sabir.Empty, error) { return sabir.Empty{}, nil })
	n := pair(t, log, "", s)
	return func(ctx context.Context, p Payload) error {
		_, err := sabir.CallJSON(ctx, n, "there.take", document(t, p))
		return err
	}
}

// document is the value as JSON, whose words are written as they are.
func document(t *testing.T, p Payload) []byte {
	t.Helper()
	var text []byte
	depth := 0
	for at := &p; ; at = at.Next {
		word, err := json.Marshal(string(at.Text))
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, `{"word":`...), word...)
		if depth++; at.Next == nil {
			return append(text, strings.Repeat("}", depth)...)
		}
		text = append(text, `,"next":`...)
	}
}
