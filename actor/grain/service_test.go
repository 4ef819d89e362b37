package grain_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
)

// listing has the members of the answer of $grains.list.
type listing struct {
	Kinds []struct {
		Kind   string
		Active int
	}
	Grains []struct {
		Kind, Key, PID string
		Waiting        int
	}
	More int
}

// keys writes the addresses in the listing, and how many others match.
func (l listing) keys() string {
	var all []string
	for _, g := range l.Grains {
		all = append(all, g.Kind+"/"+g.Key)
	}
	return fmt.Sprint(strings.Join(all, " "), " +", l.More)
}

// TestActiveGrainsAreListedByKindAndKey asks a node that serves two kinds.
func TestActiveGrainsAreListedByKindAndKey(t *testing.T) {
	others := grain.Define("other", grain.OnCall((*counter).Add))
	system := actor.NewSystem(actor.Config{})
	node := sabir.NewNode(sabir.Logger(slog.New(slog.NewTextHandler(io.Discard, nil))), system.Option(),
		grain.New(system, grain.Config{Store: store.Memory()}, counters, others).Option())
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(t.Context())
	list := func(query string) (l listing) {
		t.Helper()
		out, err := sabir.CallJSON(t.Context(), node, "$grains.list", json.RawMessage(query))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &l); err != nil {
			t.Fatal(err)
		}
		return l
	}
	want(t, "none is active", fmt.Sprint(list(`{}`)), "{[{counter 0} {other 0}] [] 0}")
	for _, to := range []grain.Address{counters.Key("cay"), counters.Key("ada"), others.Key("ada"), counters.Key("bob")} {
		call[int](t, system, to, add{1})
	}
	all := list(`{}`)
	want(t, "kinds", fmt.Sprint(all.Kinds), "[{counter 3} {other 1}]")
	want(t, "sorted", all.keys(), "counter/ada counter/bob counter/cay other/ada +0")
	want(t, "bounded", list(`{"limit":2}`).keys(), "counter/ada counter/bob +2")
	want(t, "of a kind", list(`{"kind":"other"}`).keys(), "other/ada +0")
	want(t, "by a part of the key", list(`{"match":"a","limit":1}`).keys(), "counter/ada +2")
	want(t, "of no kind", list(`{"kind":"none"}`).keys(), " +0")
	want(t, "with the process", all.Grains[0].PID != "" && all.Grains[0].Waiting == 0, true)
}
