package sabir_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

func TestAComponentOpensBeforeTheStartHooksAndClosesBeforeTheStopHooks(t *testing.T) {
	var notes []string
	hook := func(what string) func(context.Context) error {
		return func(context.Context) error {
			notes = append(notes, what)
			return nil
		}
	}
	s := sabir.NewService("shop", sabir.OnStart(hook("start hook")), sabir.OnStop(hook("stop hook")))
	s.Attach(&part{name: "part", notes: &notes}, 0)
	want := []string{"part open", "start hook", "part begin", "part close", "stop hook"}
	for range 2 { // a service can be served again
		notes = nil
		n := startNode(t, sabir.Serve(s))
		stopIfRunning(t, n)
		if !slices.Equal(notes, want) {
			t.Errorf("got %q, want %q", notes, want)
		}
	}
}

func TestOneComponentThatCannotOpenKeepsItsServiceFromStarting(t *testing.T) {
	for name, fails := range map[string]func() error{"an error": func() error { return errors.New("no") }, "a panic": func() error { panic("no") }} {
		t.Run(name, func(t *testing.T) {
			var notes []string
			s := sabir.NewService("shop")
			s.Attach(&part{name: "first", notes: &notes}, 0)
			s.Attach(&part{name: "second", notes: &notes, open: fails}, 0)
			s.Attach(&part{name: "third", notes: &notes}, 0)
			err := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(s)).Start(t.Context())
			for _, word := range []string{"service shop", "second", "component_test.go:"} {
				if err == nil || !strings.Contains(err.Error(), word) {
					t.Errorf("%q is not in %v", word, err)
				}
			}
			if want := []string{"first open", "second open", "first close"}; !slices.Equal(notes, want) {
				t.Errorf("got %q, want %q", notes, want)
			}
		})
	}
}

func TestAComponentThatIsOpenClosesWhereAStartHookFails(t *testing.T) {
	var notes []string
	failing := errors.New("no")
	s := sabir.NewService("shop", sabir.OnStart(func(context.Context) error { return failing }))
	s.Attach(&part{name: "part", notes: &notes}, 0)
	if err := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(s)).Start(t.Context()); !errors.Is(err, failing) {
		t.Errorf("got %v", err)
	}
	if want := []string{"part open", "part close"}; !slices.Equal(notes, want) {
		t.Errorf("got %q, want %q", notes, want)
	}
}

func TestComponentsCloseAtTheSameTimeAndTheirErrorsAreThatOfTheStop(t *testing.T) {
	s := sabir.NewService("shop")
	met := make(chan bool) // each of the two waits for the other
	for i, meet := range []func(){func() { met <- true }, func() { <-met }} {
		s.Attach(&part{name: fmt.Sprint("part ", i), close: func(context.Context) error {
			meet()
			panic(fmt.Sprint("broken ", i))
		}}, 0)
	}
	n := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(s))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := n.Stop(t.Context())
	reports(t, err, sabir.ErrPanic, "the closing of the part 0", "the closing of the part 1")
}

func TestMistakesInAComponentAreReportedTogetherWithTheLineOfTheProgram(t *testing.T) {
	s := sabir.NewService("shop")
	attachPart(s, "a part", errors.New("no size"), errors.New("no colour"))
	attachPart(s, "a part")
	err := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(s)).Start(t.Context())
	reports(t, err, sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "no size", "no colour", "a part twice")
	if lines := strings.Count(fmt.Sprint(err), "component_test.go:"); lines != 4 { // of the two problems, and both of what is there twice
		t.Errorf("%v names %d lines, want 4", err, lines)
	}
}

// eventReceiver starts a node with a service that hands events to a handler, and returns what does that.
func eventReceiver(t *testing.T, handle func(ctx context.Context, payload any) error, options ...sabir.NodeOption) *sabir.EventReceiver {
	t.Helper()
	var r *sabir.EventReceiver
	s := sabir.NewService("shop", sabir.Version(2))
	s.Attach(&part{name: "part", open: func() (err error) {
		r, err = s.EventReceiver("order.placed", sabir.Subscription{Pattern: "order.*", Group: s.Group(), Type: reflect.TypeFor[string]()}, handle)
		return err
	}}, 0)
	startNode(t, append(options, sabir.NodeID("n1"), sabir.Serve(s))...)
	return r
}

func TestAnEventFromElsewhereReachesItsHandlerAsThoseOfTheNodeDo(t *testing.T) {
	seen := make(chan string, 1)
	watch := sabir.Middleware{Event: func(s *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
		return func(ctx context.Context, e *sabir.Event) error {
			seen <- fmt.Sprint(e.Name, " ", s.Service, " ", s.Pattern, " ", s.Group, " ", *e.Payload().(*string))
			return next(ctx, e)
		}
	}}
	finished := false
	r := eventReceiver(t, func(ctx context.Context, payload any) error {
		info := sabir.InfoFromContext(ctx)
		if info.Event != "order.placed" || info.Service != "v2.shop" || info.Node != "n1" || info.RequestID != "r-1" || sabir.InfoFromContext(ctx).Metadata["tenant"] != "acme" {
			t.Errorf("the context says %+v, %v", info, sabir.InfoFromContext(ctx).Metadata)
		}
		sabir.Go(ctx, func(context.Context) error {
			finished = true
			return nil
		})
		return nil
	}, sabir.Use(watch))
	payload := "tea"
	if err := r.Receive(t.Context(), &payload, "r-1", map[string]string{"tenant": "acme"}); err != nil || !finished {
		t.Errorf("%v, and what it started with Go has ended: %v", err, finished)
	}
	if got := <-seen; got != "order.placed v2.shop order.* shop tea" {
		t.Errorf("the middleware saw %q", got)
	}
}

// wicked is an error whose text panics.
type wicked struct{}

func (wicked) Error() string { panic("wicked") }

func TestWhatAHandlerOfAnEventFromElsewhereFailsWithIsTheErrorOfReceive(t *testing.T) {
	failing := errors.New("no")
	for name, test := range map[string]struct {
		handle func(context.Context, any) error
		want   error
	}{
		"an error": {func(context.Context, any) error { return failing }, failing},
		"a panic":  {func(context.Context, any) error { panic("fire") }, sabir.ErrPanic},
		"a goroutine": {func(ctx context.Context, _ any) error {
			sabir.Go(ctx, func(context.Context) error { return failing })
			return nil
		}, failing},
		"an error that panics": {func(context.Context, any) error { return wicked{} }, sabir.ErrPanic},
	} {
		t.Run(name, func(t *testing.T) {
			if err := eventReceiver(t, test.handle).Receive(t.Context(), new(string), "", nil); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}
