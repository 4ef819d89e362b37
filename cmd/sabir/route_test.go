package main

import (
	"context"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
)

func TestCallsAreSharedOutAndNotAnyMore(t *testing.T) {
	address := freePort(t)
	s := sabir.NewService("users")
	sabir.Handle(s, "get", func(context.Context, sabir.Empty) (int, error) { return 1, nil })
	startMember(t, "a", address, s)
	startMember(t, "b", address)
	if got := sabirRun(t, "route", "list", "--join", address); got.code != exitOK || got.out != "no calls are shared out\n" {
		t.Errorf("%+v", got)
	}
	got := sabirRun(t, "route", "set", "users.get", "v2=5%", "v3=2.5%", "--join", address)
	if got.code != exitOK || got.out != "calls of users.get: v2=5%, v3=2.5%, the rest to the others\n" {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "route", "list", "--join", address); got.code != exitOK || !strings.Contains(got.out, "users.get") || !strings.Contains(got.out, "v2=5%, v3=2.5%") {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "nodes", "--join", address); !strings.Contains(got.out, "calls of users.get: v2=5%") {
		t.Errorf("%+v", got)
	}
	list := oneJSON[[]introspect.Route](t, sabirRun(t, "route", "set", "users.*", "node=b=100%", "--join", address, "--json").out)
	if len(list) != 2 {
		t.Errorf("%+v", list)
	}
	if got := sabirRun(t, "route", "clear", "users.get", "--join", address); got.code != exitOK || got.out != "calls of users.get are not shared out any more\n" {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "route", "clear", "users.get", "--join", address); got.code != exitFailed || !strings.Contains(got.errOut, "users.get are not shared out") {
		t.Errorf("%+v", got)
	}
}

func TestWhatRouteCannotReadIsAMistakeOfUse(t *testing.T) {
	for want, args := range map[string][]string{
		"route needs set, list or clear":            {"route"},
		`route cannot "stop"`:                       {"route", "stop"},
		`"v2" is not TARGET=PERCENT%`:               {"route", "set", "users.get", "v2"},
		`"v2=5" does not end with a percentage`:     {"route", "set", "users.get", "v2=5"},
		`"v2=five%" does not end with a percentage`: {"route", "set", "users.get", "v2=five%"},
		"route list needs a cluster":                {"route", "list"},
	} {
		if got := sabirRun(t, args...); got.code != exitUsage || !strings.Contains(got.errOut, want) {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

func TestASharingOutThatTakesNothingIsNoted(t *testing.T) {
	address := freePort(t)
	s := sabir.NewService("users")
	sabir.Handle(s, "get", func(context.Context, sabir.Empty) (int, error) { return 1, nil })
	startMember(t, "a", address, s)
	for want, args := range map[string][]string{
		"note: no node offers an action called users.gett now; did you mean users.get?": {"users.gett", "v2=5%"},
		"note: no node offers an action called order.* now\n":                           {"order.*", "v2=5%"},
		"note: nothing that is there now is v2: its share goes to the rest":             {"users.get", "v2=5%"},
		"note: nothing that is there now is node=aa: its share goes to the rest":        {"users.*", "node=aa=5%"},
	} {
		got := sabirRun(t, append([]string{"route", "set", "--join", address}, args...)...)
		if got.code != exitOK || !strings.Contains(got.out, args[0]) || !strings.Contains(got.errOut, want) {
			t.Errorf("%+v, want %q", got, want)
		}
	}
	if got := sabirRun(t, "route", "set", "users.get", "node=a=5%", "--join", address); got.code != exitOK || got.errOut != "" {
		t.Errorf("%+v", got)
	}
}
