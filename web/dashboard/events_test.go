package dashboard

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
)

// listens reports whether the node has the service that listens.
func listens(n *sabir.Node) bool {
	return slices.ContainsFunc(n.Services(), func(s introspect.Service) bool { return isOwn(s.Name) })
}

func TestEventsAreListenedToWhileABrowserWatchesThem(t *testing.T) {
	n := openNode(t)
	b := boardOf(t, n, config{})
	url := serve(t, b)
	if listens(n) {
		t.Fatal("it listens before anybody watches")
	}
	all, some := read(t, url+"/api/events"), read(t, url+"/api/events?pattern=user.*")
	defer all.close()
	defer some.close()
	all.next("listening")
	some.next("listening")
	must(t, sabir.Emit(t.Context(), n, "order.created", map[string]any{"id": int64(9007199254740993)}))
	must(t, sabir.Emit(t.Context(), n, "user.created", "Ada"))
	var got []passed
	for len(got) < 2 {
		got = append(got, want[batch](all, "events").Events...)
	}
	if got[0].Event != "order.created" || got[0].Payload != `{"id":9007199254740993}` || got[0].Size != 23 || got[1].Payload != `"Ada"` {
		t.Errorf("%+v", got)
	}
	if only := want[batch](some, "events").Events; len(only) != 1 || only[0].Event != "user.created" {
		t.Errorf("by the pattern: %+v", only)
	}
	all.close()
	some.close()
	until(t, "it listens no more", func() bool { return !listens(n) })
	again := read(t, url+"/api/events")
	again.next("listening")
	if !listens(n) {
		t.Error("it does not listen again")
	}
	again.close()
	until(t, "it listens no more", func() bool { return !listens(n) })
}

func TestEventsOnThePageSayHowTheyWereEmitted(t *testing.T) {
	n := openNode(t)
	all := read(t, serve(t, boardOf(t, n, config{}))+"/api/events")
	defer all.close()
	all.next("listening")
	must(t, sabir.Emit(t.Context(), n, "order.created", 1, sabir.Groups("mail")))
	must(t, sabir.Broadcast(t.Context(), n, "order.gone", 2))
	var got []passed
	for len(got) < 2 {
		got = append(got, want[batch](all, "events").Events...)
	}
	if got[0].Node != n.ID() || !slices.Equal(got[0].Groups, []string{"mail"}) || got[0].Broadcast || got[1].Groups != nil || !got[1].Broadcast {
		t.Errorf("%+v", got)
	}
}

func TestWatchingEventsTakesThemFromNoHandler(t *testing.T) {
	n := openNode(t)
	handled := make(chan string, 10)
	s := sabir.NewService("handler")
	sabir.On(s, "order.*", func(_ context.Context, id string) error { handled <- id; return nil })
	must(t, n.Add(t.Context(), s))
	b, other := boardOf(t, n, config{}), boardOf(t, n, config{}) // two dashboards of one node
	first, second := read(t, serve(t, b)+"/api/events"), read(t, serve(t, other)+"/api/events")
	defer first.close()
	defer second.close()
	first.next("listening")
	second.next("listening")
	must(t, sabir.Emit(t.Context(), n, "order.created", "o-1"))
	if got := <-handled; got != "o-1" {
		t.Error(got)
	}
	for _, r := range []*reader{first, second} {
		if e := want[batch](r, "events").Events; len(e) != 1 {
			t.Errorf("%+v", e)
		}
	}
}

func TestAFloodOfEventsIsCountedAndDelaysNoEmitter(t *testing.T) {
	b := openBoard(t, config{})
	l, err := b.events.listen(t.Context(), "**")
	must(t, err)
	defer b.events.leave(l)
	const flood = 5 * maxWaiting
	var emitting sync.WaitGroup
	for range 4 {
		emitting.Go(func() {
			for range flood / 4 {
				if err := sabir.Emit(context.Background(), b.node, "flood", 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	emitting.Wait()
	got := b.events.take(l)
	if len(got.Events) > maxWaiting || len(got.Events)+got.Missed != flood || len(got.Events) < maxPerSecond {
		t.Errorf("%d kept, %d counted, of %d", len(got.Events), got.Missed, flood)
	}
}

func TestLongPayloadsAreCutBetweenCharacters(t *testing.T) {
	var p passed
	p.setPayload([]byte(`"x` + strings.Repeat("ü", maxPayload) + `"`))
	if p.Payload != "" || len(p.Cut) != 1024 || !strings.HasSuffix(p.Cut, "ü") || p.Size != 2*maxPayload+3 {
		t.Errorf("%d %d %d", len(p.Payload), len(p.Cut), p.Size)
	}
	p = passed{}
	p.setPayload([]byte(`"x` + strings.Repeat("ü", 4*maxPayload)))
	p.setPayload([]byte(strings.Repeat("ü", maxPayload)[1:]))
	if !utf8.ValidString(p.Cut) {
		t.Errorf("%q", p.Cut)
	}
}

func TestListenersAreBoundedAndPatternsChecked(t *testing.T) {
	b := openBoard(t, config{})
	if w := b.ask(t, "GET", "/api/events?pattern=a.*b", ""); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "pattern") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for range maxListeners {
		l, err := b.events.listen(t.Context(), "**")
		must(t, err)
		defer b.events.leave(l)
	}
	if w := b.ask(t, "GET", "/api/events", ""); w.Code != http.StatusTooManyRequests {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestANodeThatDoesNotRunCannotBeListenedTo(t *testing.T) {
	n := sabir.NewNode(sabir.NodeID("n1"), quiet)
	b := boardOf(t, n, config{})
	if w := b.ask(t, "GET", "/api/events", ""); w.Code < 400 {
		t.Errorf("%d", w.Code)
	}
	if len(b.events.listeners) != 0 {
		t.Error("the listener stayed")
	}
}

func TestEventsOfOtherNodesAreSeenToo(t *testing.T) {
	w := openWorld(t)
	r := read(t, w.urls[0]+"/api/events?pattern=far.*")
	defer r.close()
	r.next("listening")
	for _, n := range w.nodes[1:] {
		until(t, "the others know that it listens", func() bool { return listens(n) })
	}
	for _, n := range w.nodes {
		must(t, sabir.Emit(t.Context(), n, "far.away", map[string]any{"from": n.ID(), "id": uint64(18446744073709551615)}))
	}
	var got []string
	for len(got) < len(w.nodes) {
		for _, e := range want[batch](r, "events").Events {
			got = append(got, e.Payload)
		}
	}
	for _, n := range w.nodes {
		if !slices.Contains(got, `{"from":"`+n.ID()+`","id":18446744073709551615}`) {
			t.Errorf("%q", got)
		}
	}
}
