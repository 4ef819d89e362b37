package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/telemetry"
)

// inTime bounds what a test waits for, on a machine that has much else to do.
const inTime = time.Minute

// reader reads a stream of Server-Sent Events.
type reader struct {
	tb    testing.TB
	lines *bufio.Scanner
	close func()
}

// read opens a stream of a dashboard that a server serves.
func read(tb testing.TB, url string, headers ...string) *reader {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), inTime)
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	must(tb, err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	answer, err := transport.RoundTrip(r)
	must(tb, err)
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		tb.Fatalf("%s: %s", url, answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	return &reader{tb, lines, func() { answer.Body.Close(); cancel() }}
}

// next is the next message of a kind; false at the stream's end.
func (r *reader) next(kind string) (data string, ok bool) {
	r.tb.Helper()
	found := false
	for r.lines.Scan() {
		line := r.lines.Text()
		if name, is := strings.CutPrefix(line, "event: "); is {
			found = name == kind
		}
		if data, is := strings.CutPrefix(line, "data: "); is && found {
			return data, true
		}
	}
	return "", false
}

// must is next into a value.
func want[T any](r *reader, kind string) (v T) {
	r.tb.Helper()
	data, ok := r.next(kind)
	if !ok {
		r.tb.Fatalf("the stream ended before a message %s: %v", kind, r.lines.Err())
	}
	must(r.tb, json.Unmarshal([]byte(data), &v))
	return v
}

// serve serves a dashboard for the length of a test.
func serve(tb testing.TB, b *dashboard) string {
	tb.Helper()
	s := httptest.NewServer(b)
	tb.Cleanup(s.Close)
	return s.URL + "/dashboard"
}

// counted is a node that counts its calls, and has no others.
func counted(tb testing.TB) *sabir.Node {
	tb.Helper()
	ring := Traces(64)
	tel, err := telemetry.New(telemetry.Config{Metrics: true, Traces: ring})
	must(tb, err)
	return openNode(tb, sabir.Serve(tel.Stats(), ring.Service()), sabir.Use(tel.Middleware()))
}

// until looks again and again, for what another goroutine is about to do.
func until(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(inTime)
	for !done() {
		select {
		case <-tick.C:
		case <-late:
			tb.Fatal("it did not happen in time: " + what)
		}
	}
}

func (h *hub) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.stopped:
		return h.stop == nil && h.last == nil && h.history == nil && len(h.watchers) == 0
	default:
		return false
	}
}

func TestOnePollerRunsWhileThereAreWatchersAndNoneOtherwise(t *testing.T) {
	b := boardOf(t, counted(t), config{every: 20 * time.Millisecond})
	url := serve(t, b)
	if !b.hub.idle() {
		t.Fatal("it runs before anybody watches")
	}
	first, second := read(t, url+"/api/stream"), read(t, url+"/api/stream")
	want[look](first, "look")
	want[look](second, "look")
	if b.hub.runs != 1 {
		t.Errorf("%d pollers for two browsers", b.hub.runs)
	}
	first.close()
	want[look](second, "look")
	want[look](second, "look")
	second.close()
	until(t, "the poller stops", b.hub.idle)
	third := read(t, url+"/api/stream")
	defer third.close()
	if l := want[look](third, "look"); l.Rated {
		t.Error("a look after a pause has rates of the pause")
	}
	if b.hub.runs != 2 {
		t.Errorf("%d runs", b.hub.runs)
	}
}

func TestALookTellsRatesAndLatencies(t *testing.T) {
	n := counted(t)
	b := boardOf(t, n, config{every: 20 * time.Millisecond})
	r := read(t, serve(t, b)+"/api/stream")
	defer r.close()
	if h := want[hello](r, "hello"); h.Node != "n1" || h.ReadOnly || h.Login || h.Every != 0.02 {
		t.Errorf("%+v", h)
	}
	c := want[catalog](r, "catalog")
	if len(c.Services) == 0 || len(c.Actions) == 0 || c.Actions[len(c.Actions)-1].Name != "ledger.lose" || c.Actions[len(c.Actions)-1].Nodes[0] != "n1" {
		t.Errorf("%+v", c)
	}
	want[look](r, "look")
	var made, calls, failed uint64
	var rated bool
	for calls < made || !rated {
		if calls == made { // at first, and where the look that had the rates was overtaken by the next
			for range 10 {
				_, _ = sabir.CallJSON(t.Context(), n, "ledger.lose", nil)
			}
			made += 10
		}
		l := want[look](r, "look")
		for _, a := range l.Actions {
			if a.Name == "ledger.lose" {
				calls, failed, rated = a.Calls, a.Failed, rated || a.Rate > 0 && a.Errors == a.Rate && a.P50 > 0 && a.P99 >= a.P50
			}
		}
		if len(l.Nodes) != 1 || !l.Nodes[0].Self || l.Nodes[0].Telemetry != "" && l.Nodes[0].Telemetry != silent { // as it is on a busy machine
			t.Fatalf("%+v", l.Nodes)
		}
	}
	if calls != made || failed != made {
		t.Errorf("%d calls of %d, %d failed", calls, made, failed)
	}
	w := b.ask(t, "GET", "/api/latency?action=ledger.lose", "")
	var lat latencies
	must(t, json.Unmarshal(w.Body.Bytes(), &lat))
	var all uint64
	for _, n := range lat.All {
		all += n
	}
	if all != made || len(lat.All) != len(lat.Bounds)+1 || len(lat.Recent) != len(lat.All) {
		t.Errorf("%+v", lat)
	}
}

func TestANodeWithoutFiguresIsSaidToHaveNone(t *testing.T) {
	tel, err := telemetry.New(telemetry.Config{Traces: Traces(64)})
	must(t, err)
	for name, test := range map[string]struct {
		options []sabir.NodeOption
		want    string
	}{
		"it does not serve them": {nil, mute},
		"it counts nothing":      {[]sabir.NodeOption{sabir.Serve(tel.Stats()), sabir.Use(tel.Middleware())}, off},
	} {
		t.Run(name, func(t *testing.T) {
			b := boardOf(t, openNode(t, test.options...), config{})
			r := read(t, serve(t, b)+"/api/stream")
			defer r.close()
			l := want[look](r, "look")
			for l.Nodes[0].Telemetry == silent { // on a busy machine it does not answer in time
				l = want[look](r, "look")
			}
			if l.Nodes[0].Telemetry != test.want || len(l.Actions) != 0 {
				t.Errorf("%+v", l)
			}
		})
	}
}

func TestWatchersSeeANewService(t *testing.T) {
	n := counted(t)
	r := read(t, serve(t, boardOf(t, n, config{every: 10 * time.Millisecond}))+"/api/stream")
	defer r.close()
	want[catalog](r, "catalog")
	s := sabir.NewService("late")
	sabir.Handle(s, "comer", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
	must(t, n.Add(t.Context(), s))
	c := want[catalog](r, "catalog")
	found := false
	for _, a := range c.Actions {
		found = found || a.Name == "late.comer"
	}
	if !found {
		t.Errorf("%+v", c.Actions)
	}
}

func TestNoMoreThanSoManyWatch(t *testing.T) {
	b := openBoard(t, config{})
	for range maxWatchers {
		w, _, err := b.hub.watch()
		must(t, err)
		defer b.hub.unwatch(w)
	}
	if w := b.ask(t, "GET", "/api/stream", ""); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestAWatcherThatReadsNothingDelaysNoOther(t *testing.T) {
	b := boardOf(t, counted(t), config{every: 5 * time.Millisecond})
	deaf, _, err := b.hub.watch()
	must(t, err)
	defer b.hub.unwatch(deaf)
	r := read(t, serve(t, b)+"/api/stream")
	defer r.close()
	for range 20 {
		want[look](r, "look")
	}
	seen, _, _ := b.hub.take(deaf)
	if len(seen) == 0 || len(deaf.wake) > 1 {
		t.Error("it holds nothing, or more than the last look")
	}
}

func TestStreamsEndWhenTheNodeStops(t *testing.T) {
	n := counted(t)
	b := boardOf(t, n, config{})
	url := serve(t, b)
	looks, events := read(t, url+"/api/stream"), read(t, url+"/api/events")
	defer looks.close()
	defer events.close()
	want[look](looks, "look")
	if _, ok := events.next("listening"); !ok {
		t.Fatal("it does not listen")
	}
	must(t, n.Stop(t.Context()))
	if _, ok := looks.next("never"); ok || looks.lines.Err() != nil {
		t.Error(looks.lines.Err())
	}
	if _, ok := events.next("never"); ok || events.lines.Err() != nil {
		t.Error(events.lines.Err())
	}
	until(t, "the poller stops", b.hub.idle)
}

func TestAStreamEndsWithItsSession(t *testing.T) {
	b := boardOf(t, counted(t), config{keys: httpaccess.NewKeys(goodKey), sessionCheck: 20 * time.Millisecond})
	session := b.logIn(t)
	r := read(t, serve(t, b)+"/api/stream", session)
	defer r.close()
	want[look](r, "look")
	b.ask(t, "POST", "/logout", "", session, callHeader+": 1")
	if _, ok := r.next("logout"); !ok {
		t.Error("it goes on after the logout")
	}
}

func TestFiguresOfSeveralNodesAddUp(t *testing.T) {
	start := time.Unix(1e9, 0)
	at := func(node string, seconds int, calls, failed uint64, buckets ...uint64) stats {
		return stats{Node: node, Taken: start.Add(time.Duration(seconds) * time.Second), Bounds: []float64{0.001, 0.01},
			Actions: []telemetry.ActionStats{{Name: "a.b", Calls: calls, Failed: failed, Active: 1, Buckets: buckets}}}
	}
	sums := make(map[string]*sum)
	add(sums, at("n1", 2, 30, 3, 20, 10, 0), at("n1", 0, 10, 1, 10, 0, 0), at("n1", 0, 10, 1, 10, 0, 0))
	add(sums, at("n2", 2, 8, 0, 0, 4, 4), at("n2", 0, 50, 9, 50, 0, 0), at("n2", 0, 50, 9, 50, 0, 0)) // was started anew
	add(sums, at("n3", 2, 5, 5, 5, 0, 0), stats{}, stats{})                                           // is new
	s := sums["a.b"]
	if s.rate != 20.0/2+8.0/2 || s.errors != 2.0/2 || s.calls != 43 || s.failed != 8 || s.active != 3 || s.nodes != 3 || s.perNode["n1"] != 10 {
		t.Errorf("%+v", s)
	}
	if got := s.buckets; got[0] != 10+0+5 || got[1] != 10+4 || got[2] != 4 {
		t.Errorf("recent calls by time: %v", got)
	}
}
