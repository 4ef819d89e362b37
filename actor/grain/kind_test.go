package grain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
)

func TestMistakesInAKindShowWhenItIsDefined(t *testing.T) {
	type stateless struct{}
	for what, define := range map[string]func(){
		"a name that is not one":     func() { grain.Define[counter]("Counter!") },
		"a type without a state":     func() { grain.Define[stateless]("x") },
		"two handlers for one type":  func() { grain.Define("x", grain.OnCall((*counter).Add), grain.OnCall((*counter).Add)) },
		"two handlers for a message": func() { grain.Define("x", grain.OnMessage((*counter).Bump), grain.OnMessage((*counter).Bump)) },
		"a handler of the runtime's": func() {
			grain.Define("x", grain.OnMessage(func(*counter, *actor.Process, actor.Exit) error { return nil }))
		},
	} {
		t.Run(what, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("Define did not panic")
				}
			}()
			define()
		})
	}
}

func TestMistakesInTheOptionsShowAtTheStart(t *testing.T) {
	for what, test := range map[string]struct {
		config grain.Config
		kinds  []grain.Served
		want   string
	}{
		"a kind twice":        {grain.Config{Store: store.Memory()}, []grain.Served{counters, counters}, "twice"},
		"no store":            {grain.Config{}, []grain.Served{counters}, "Store"},
		"a rest before":       {grain.Config{IdleAfter: -time.Minute}, nil, "IdleAfter -1m0s"},
		"no grains":           {grain.Config{MaxActive: -1}, nil, "MaxActive -1"},
		"no mailbox":          {grain.Config{Mailbox: -1}, nil, "Mailbox -1"},
		"fewer than no nodes": {grain.Config{Among: -1}, nil, "Among -1"},
	} {
		t.Run(what, func(t *testing.T) {
			system := actor.NewSystem(actor.Config{})
			defer system.Stop(t.Context())
			if err := grain.New(system, test.config, test.kinds...).Start(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want something about %s", err, test.want)
			}
		})
	}
	t.Run("grains twice", func(t *testing.T) {
		system, _ := start(t, grain.Config{})
		if err := grain.New(system, grain.Config{}).Start(t.Context()); err == nil {
			t.Error("it started")
		}
		want(t, "the first goes on", call[int](t, system, ada, add{1}), 1)
	})
}

func TestStatesOfBothFormsAreRead(t *testing.T) {
	st := store.Memory()
	for i, native := range []bool{false, true, true, false} {
		system := actor.NewSystem(actor.Config{})
		g := grain.New(system, grain.Config{Store: st, NativeState: native}, counters)
		if err := g.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		want(t, "the count", call[int](t, system, ada, add{1}), i+1)
		if err := g.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if err := system.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
