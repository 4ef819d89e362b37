package sabir_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
)

func TestMiddlewaresTowardADependencyWrapTheCallsToItAlone(t *testing.T) {
	address := sabir.Join("mem://" + t.Name())
	echo := func(_ context.Context, in string) (string, error) { return in, nil }
	users, rates, own := sabir.NewService("users"), sabir.NewService("rates"), sabir.NewService("own")
	sabir.Handle(users, "get", echo)
	sabir.Handle(rates, "get", echo)
	sabir.Handle(own, "get", echo)
	start(t, sabir.NodeID("other"), sabir.Serve(users, rates), address)
	var order atomic.Pointer[string]
	noting := func(name string) sabir.Middleware {
		return sabir.Middleware{Name: name, Remote: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
			return func(ctx context.Context, r *sabir.Request) error {
				text := name + " "
				if before := order.Load(); before != nil {
					text = *before + text
				}
				order.Store(&text)
				return next(ctx, r)
			}
		}}
	}
	caller := start(t, sabir.NodeID("caller"), sabir.Serve(own), address, sabir.Toward("users.*", noting("first"), noting("second")),
		sabir.Use(noting("all")), sabir.Toward("*.get", noting("third")))
	if err := caller.WaitFor(t.Context(), "users", "rates"); err != nil {
		t.Fatal(err)
	}
	for action, want := range map[string]string{"users.get": "all first second third", "rates.get": "all third", "own.get": ""} {
		empty := ""
		order.Store(&empty)
		if got, err := sabir.Call[string](t.Context(), caller, action, "x"); err != nil || got != "x" {
			t.Fatalf("%s: %q, %v", action, got, err)
		}
		if got := strings.TrimSpace(*order.Load()); got != want {
			t.Errorf("%s passed %q, want %q", action, got, want)
		}
	}
}

func TestAnOptionTowardThatCouldDoNothingIsRefused(t *testing.T) {
	for want, option := range map[string]sabir.NodeOption{
		"the pattern":                  sabir.Toward("users..get", sabir.Middleware{Remote: func(_ *sabir.Action, next sabir.Handler) sabir.Handler { return next }}),
		"wraps no calls to other node": sabir.Toward("users.*", sabir.Middleware{Name: "local only"}),
	} {
		if err := sabir.NewNode(option, sabir.Logger(quiet)).Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "toward_test.go") {
			t.Errorf("%s: %v", want, err)
		}
	}
}
