package main

import (
	"context"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

func TestANodeIsDrainedAndUndrained(t *testing.T) {
	address := freePort(t)
	serve := func(name string) *sabir.Service {
		s := sabir.NewService(name)
		sabir.Handle(s, "get", func(context.Context, sabir.Empty) (int, error) { return 1, nil })
		return s
	}
	startMember(t, "a", address, serve("users"), serve("stock"))
	startMember(t, "b", address, serve("users"))
	got := sabirRun(t, "drain", "a", "--join", address)
	if got.code != exitOK || !strings.Contains(got.out, "a is drained, with 0 calls in flight\n") || !strings.Contains(got.out, "no other node that is not drained offers stock: their calls still come") {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "nodes", "--join", address); !strings.Contains(got.out, "a     drained") {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "drain", "b", "--join", address); got.code != exitOK || !strings.Contains(got.out, "no other node that is not drained offers users: their calls still come") {
		t.Errorf("all are drained: %+v", got)
	}
	if got := sabirRun(t, "undrain", "b", "--join", address); got.code != exitOK || got.out != "b is drained no more: calls and events come to it again\n" {
		t.Errorf("%+v", got)
	}
	if result := oneJSON[drainResult](t, sabirRun(t, "undrain", "a", "--join", address, "--json").out); result.Drained || result.Node != "a" {
		t.Errorf("%+v", result)
	}
	if got := sabirRun(t, "nodes", "--join", address); strings.Contains(got.out, "drained") {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "drain", "nobody", "--join", address); got.code != exitFailed || !strings.Contains(got.errOut, "the cluster has no node nobody") || !strings.Contains(got.errOut, `try: "sabir nodes" lists them`) || strings.Contains(got.errOut, "later") {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "drain", "a"); got.code != exitUsage || !strings.Contains(got.errOut, "drain needs a cluster") {
		t.Errorf("%+v", got)
	}
}

func TestTheDrainOfANodeThatHasGoneIsEnded(t *testing.T) {
	address := freePort(t)
	service := func() *sabir.Service {
		s := sabir.NewService("users")
		sabir.Handle(s, "get", func(context.Context, sabir.Empty) (int, error) { return 1, nil })
		return s
	}
	startMember(t, "a", address, service())
	b := startMember(t, "b", address, service())
	if got := sabirRun(t, "drain", "b", "--join", address); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := sabirRun(t, "undrain", "b", "--join", address); got.code != exitOK || !strings.Contains(got.out, "b is drained no more") {
		t.Errorf("%+v", got)
	}
	startMember(t, "b", address, service())
	if got := sabirRun(t, "nodes", "--join", address); !strings.Contains(got.out, "b ") || strings.Contains(got.out, "drained") {
		t.Errorf("when it is back: %+v", got)
	}
	if got := sabirRun(t, "undrain", "c", "--join", address); got.code != exitFailed || !strings.Contains(got.errOut, "the cluster has no node c") {
		t.Errorf("a node that was never drained: %+v", got)
	}
}

func TestACommandForAMisspeltNodeNamesTheNearestOne(t *testing.T) {
	address := freePort(t)
	s := sabir.NewService("users")
	sabir.Handle(s, "get", func(context.Context, sabir.Empty) (int, error) { return 1, nil })
	startMember(t, "orders-1", address, s)
	for _, args := range [][]string{{"drain", "order-1"}, {"undrain", "order-1"}, {"config", "list", "order-1"}, {"config", "set", "order-1", "log.level=debug"}, {"processes", "order-1"},
		{"call", "users.get", "--to", "order-1"}} {
		got := sabirRun(t, append(args, "--join", address)...)
		if got.code == exitOK || !strings.Contains(got.out+got.errOut, "did you mean orders-1?") || strings.Contains(got.out+got.errOut, "cli-") {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
