package sabir_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

// tracing notes each call that passes it, on its way in and out.
func tracing(notes *[]string, name string) sabir.Middleware {
	return sabir.Middleware{Name: name,
		Local: func(_ *sabir.Action, next sabir.Handler) sabir.Handler {
			return func(ctx context.Context, r *sabir.Request) error {
				*notes = append(*notes, name)
				err := next(ctx, r)
				*notes = append(*notes, "/"+name)
				return err
			}
		},
		Event: func(_ *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
			return func(ctx context.Context, e *sabir.Event) error {
				*notes = append(*notes, name+" "+e.Name)
				return next(ctx, e)
			}
		},
		Lifecycle: func(stage sabir.Stage, next func(context.Context) error) func(context.Context) error {
			return func(ctx context.Context) error {
				*notes = append(*notes, name+" "+stage.String())
				return next(ctx)
			}
		},
	}
}

func TestCallsPassTheNodesThenTheServicesThenTheActionsMiddlewares(t *testing.T) {
	var notes []string
	s := sabir.NewService("s", sabir.Use(tracing(&notes, "service")))
	sabir.Handle(s, "a", hello, sabir.Use(tracing(&notes, "action1"), tracing(&notes, "action2")))
	node := start(t, sabir.Serve(s), sabir.Use(tracing(&notes, "node1"), tracing(&notes, "node2")))
	notes = nil
	if _, err := sabir.Call[helloReply](t.Context(), node, "s.a", helloRequest{}); err != nil {
		t.Fatal(err)
	}
	want := "node1 node2 service action1 action2 /action2 /action1 /service /node2 /node1"
	if got := strings.Join(notes, " "); got != want {
		t.Fatalf("got %s", got)
	}
}

func TestMiddlewaresAreComposedOnceForEachAction(t *testing.T) {
	var composed []string
	m := sabir.Middleware{Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		composed = append(composed, a.Name)
		return next
	}}
	s := greeter()
	sabir.Handle(s, "bye", hello)
	node := start(t, sabir.Serve(s), sabir.Use(m))
	for range 10 {
		if _, err := sabir.Call[helloReply](t.Context(), node, "greeter.bye", helloRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	composed = slices.DeleteFunc(composed, func(name string) bool { return strings.HasPrefix(name, "$") })
	if !slices.Equal(composed, []string{"greeter.hello", "greeter.bye"}) {
		t.Fatalf("composed %v", composed)
	}
}

func TestAMiddlewareCanChangeInputAndOutputAndAnswerItself(t *testing.T) {
	change := sabir.Middleware{Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			in, ok := r.Input().(*helloRequest)
			if !ok {
				return next(ctx, r)
			}
			if in.Name == "nobody" {
				return r.SetOutput(helloReply{Text: "answered"})
			}
			if in.Name == "misfit" {
				return r.SetOutput("a string")
			}
			in.Name += "!"
			err := next(ctx, r)
			r.Output().(*helloReply).Age = 99
			return err
		}
	}}
	node := start(t, sabir.Serve(greeter()), sabir.Use(change))
	for name, want := range map[string]helloReply{"Ada": {"Ada!", 99}, "nobody": {"answered", 0}} {
		if out, err := sabir.Call[helloReply](t.Context(), node, "greeter.hello", helloRequest{Name: name}); err != nil || out != want {
			t.Errorf("%s: got %v, %v", name, out, err)
		}
	}
	if _, err := sabir.Call[helloReply](t.Context(), node, "greeter.hello", helloRequest{Name: "misfit"}); err == nil || !strings.Contains(err.Error(), "string, want sabir_test.helloReply") {
		t.Errorf("misfit: %v", err)
	}
}

func TestAPanicInAMiddlewareIsItsCallersError(t *testing.T) {
	log, _ := logged()
	bad := sabir.Middleware{Local: func(_ *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(context.Context, *sabir.Request) error { panic("middleware") }
	}, Event: func(*sabir.Subscription, sabir.EventHandler) sabir.EventHandler {
		return func(context.Context, *sabir.Event) error { panic("middleware") }
	}}
	var h received
	s := greeter()
	sabir.On(s, "x", h.add("s"))
	node := start(t, sabir.Serve(s), sabir.Use(bad), log)
	for name, ctx := range waysToCall(t) {
		if _, err := sabir.Call[helloReply](ctx, node, "greeter.hello", helloRequest{}); !errors.Is(err, sabir.ErrPanic) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := sabir.Emit(t.Context(), node, "x", helloRequest{}); err != nil {
		t.Error(err)
	}
}

func TestNodeMiddlewaresSeeCallsThatFailValidationAndServicesDoNot(t *testing.T) {
	var notes []string
	s := sabir.NewService("s", sabir.Use(tracing(&notes, "service")))
	sabir.Handle(s, "a", func(context.Context, checkedRequest) (helloReply, error) { return helloReply{}, nil })
	node := start(t, sabir.Serve(s), sabir.Use(tracing(&notes, "node")))
	notes = nil
	if _, err := sabir.Call[helloReply](t.Context(), node, "s.a", checkedRequest{}); !errors.Is(err, sabir.ErrValidationFailed) {
		t.Fatal(err)
	}
	if got := strings.Join(notes, " "); got != "node /node" {
		t.Fatalf("got %s", got)
	}
}

func TestEventsAndLifecyclePassMiddlewares(t *testing.T) {
	var notes []string
	s := sabir.NewService("s", sabir.Use(tracing(&notes, "service")))
	sabir.On(s, "x", func(context.Context, int) error { notes = append(notes, "handler"); return nil })
	node := sabir.NewNode(sabir.NodeID("n"), sabir.Serve(s), sabir.Use(tracing(&notes, "node")))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := sabir.Emit(t.Context(), node, "x", 1); err != nil {
		t.Fatal(err)
	}
	if err := node.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"node start of node n", "node start of service $node", "node start of service s", "service start of service s",
		"node x", "service x", "handler",
		"node stop of node n", "node stop of service s", "service stop of service s", "node stop of service $node",
	}
	if !slices.Equal(notes, want) {
		t.Fatalf("got %q", notes)
	}
}

func TestAMiddlewareThatFailsAtTheStopDoesNotKeepServicesRunning(t *testing.T) {
	stopped := false
	broken := sabir.Middleware{Lifecycle: func(stage sabir.Stage, next func(context.Context) error) func(context.Context) error {
		if !stage.Stop || stage.Service != "" {
			return next
		}
		return func(context.Context) error { return errors.New("no") }
	}}
	node := sabir.NewNode(sabir.Use(broken), sabir.Serve(
		sabir.NewService("s", sabir.OnStop(func(context.Context) error { stopped = true; return nil }))))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := node.Stop(t.Context()); err == nil || !stopped || node.State() != "stopped" {
		t.Fatalf("got %v, service stopped %v, node %v", err, stopped, node.State())
	}
}

func TestSignalsReachTheNodesListeners(t *testing.T) {
	var got [][3]string
	noticing := sabir.Middleware{Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			a.Signal("quota.spent")
			return next(ctx, r)
		}
	}}
	listening := sabir.Middleware{Signal: func(kind, action, node string) { got = append(got, [3]string{kind, action, node}) }}
	node := start(t, sabir.Serve(greeter(sabir.Use(noticing))), sabir.Use(listening, listening))
	if _, err := sabir.Call[helloReply](t.Context(), node, "greeter.hello", helloRequest{}); err != nil {
		t.Fatal(err)
	}
	if want := [3]string{"quota.spent", "greeter.hello"}; !slices.Equal(got, [][3]string{want, want}) {
		t.Fatalf("got %v", got)
	}
}

// direct is a Remote that calls another node of this process.
type direct struct{ to *sabir.Node }

func (d direct) Name() string { return d.to.ID() }

func (d direct) Send(ctx context.Context, r *sabir.Request) error {
	in, err := r.AppendInput(jsonCodec, nil)
	if err != nil {
		return err
	}
	out, err := sabir.CallJSON(ctx, d.to, r.Action().Name, in)
	if err != nil {
		return err
	}
	return r.DecodeOutput(jsonCodec, out)
}

func TestActionsOfAnotherNodeAreCalledByTheSameFunctions(t *testing.T) {
	var notes []string
	remote := sabir.Middleware{Remote: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			notes = append(notes, "to "+a.Name)
			return next(ctx, r)
		}
	}}
	there := start(t, sabir.Serve(greeter()), sabir.NodeID("there"))
	here := start(t, sabir.WithUpstream(direct{there}), sabir.Use(remote, tracing(&notes, "local")), sabir.NodeID("here"))
	notes = nil
	for name, ctx := range waysToCall(t) {
		if out, err := sabir.Call[helloReply](ctx, here, "greeter.hello", helloRequest{"Ada", 1}); err != nil || out.Age != 2 {
			t.Errorf("%s: Call: %v, %v", name, out, err)
		}
		if out, err := sabir.Bind[helloRequest, helloReply](here, "greeter.hello")(ctx, helloRequest{"Ada", 1}, sabir.NoCache()); err != nil || out.Age != 2 {
			t.Errorf("%s: Bind: %v, %v", name, out, err)
		}
		if out, err := sabir.CallJSON(ctx, here, "greeter.hello", nil); err != nil || string(out) != `{"text":"","age":1}` {
			t.Errorf("%s: CallJSON: %s, %v", name, out, err)
		}
	}
	if len(notes) != 9 || notes[0] != "to greeter.hello" {
		t.Errorf("middlewares: %v", notes)
	}
	_, err := sabir.Call[helloReply](t.Context(), here, "greeter.helo", helloRequest{})
	if !errors.Is(err, sabir.ErrActionNotFound) || sabir.AsError(err).Node != "there" {
		t.Errorf("unknown: %v", err)
	}
	for i := range 20_000 { // more names than are remembered
		if _, err := sabir.CallJSON(t.Context(), here, fmt.Sprintf("a.b%d", i), nil); !errors.Is(err, sabir.ErrActionNotFound) {
			t.Fatal(err)
		}
		if i == 100 && testing.Short() {
			break
		}
	}
}
