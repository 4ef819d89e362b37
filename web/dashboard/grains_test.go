package dashboard

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
)

// basket is a grain.
type basket struct{ grain.State[[]string] }

func (b *basket) put(_ *actor.Process, m letter) (int, error) {
	b.Value = append(b.Value, m.text)
	return len(b.Value), nil
}

var baskets = grain.Define("basket", grain.OnCall((*basket).put))

func TestGrainsAreSearchedByKindAndKeyAndTheSearchIsBounded(t *testing.T) {
	system := actor.NewSystem(actor.Config{})
	n := openNode(t, system.Option(), grain.New(system, grain.Config{Store: store.Memory()}, baskets).Option())
	for _, key := range []string{"ada", "bob"} {
		_, err := grain.Call[int](t.Context(), system, baskets.Key(key), letter{"rope"})
		must(t, err)
	}
	board := boardOf(t, n, config{})
	for query, want := range map[string]string{
		"":                      `[{"kind":"basket","key":"ada","pid":`,
		"?match=bo":             `"grains":[{"kind":"basket","key":"bob","pid":`,
		"?kind=none":            `"grains":[]`,
		"?kind=basket&match=ob": `"more":0`,
	} {
		if w := board.ask(t, "GET", "/api/grains"+query, ""); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q: %d %s, want %s", query, w.Code, w.Body, want)
		}
	}
	if w := board.ask(t, "GET", "/api/grains?match="+strings.Repeat("x", maxGrainQuery+1), ""); w.Code != 400 || !strings.Contains(w.Body.String(), sabir.ErrBadInput.Name) {
		t.Errorf("a long search: %d %s", w.Code, w.Body)
	}
}
