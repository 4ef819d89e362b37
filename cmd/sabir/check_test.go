package main

import (
	"context"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
)

func TestCheckFailsWhereAServiceDoesNotFitWhatIsOffered(t *testing.T) {
	type named struct{ Name string }
	type keyed struct{ Key int }
	ask, other := sabir.NewAction[named, sabir.Empty]("users.ask"), sabir.NewAction[keyed, sabir.Empty]("users.ask")
	users := sabir.NewService("users")
	ask.Handle(users, func(context.Context, named) (out sabir.Empty, err error) { return out, nil })
	address := freePort(t)
	startMember(t, "a", address, users)
	startMember(t, "b", address, sabir.NewService("orders", sabir.DependsOn(ask)))
	if got := sabirRun(t, "check", "--join", address); got.code != exitOK || !strings.Contains(got.out, "orders   b     users.ask   a           fits") {
		t.Errorf("%+v", got)
	}
	startMember(t, "c", address, sabir.NewService("mail", sabir.DependsOn(other)))
	got := sabirRun(t, "check", "--join", address)
	if got.code != exitFailed || !strings.Contains(got.out, "mail     c     users.ask   a           its input: it has no member in common: Key is sent, and Name wanted") ||
		!strings.Contains(got.errOut, "1 of the dependencies do not fit what is offered") {
		t.Errorf("%+v", got)
	}
	list := oneJSON[[]dependencyOn](t, sabirRun(t, "check", "--join", address, "--json").out)
	if len(list) != 2 || list[0].Problem == "" == (list[1].Problem == "") {
		t.Errorf("%+v", list)
	}
}

func TestCheckOverHTTPSaysThatOneNodeWasAsked(t *testing.T) {
	startNode(t, sabir.NewNode(quiet(), sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}})))) // as a gateway before others, whose services it has not
	got := sabirRun(t, "check")
	if got.code != exitOK || got.out != "no service of the asked node says what it depends on: --join asks all nodes\n" {
		t.Errorf("%+v", got)
	}
}
