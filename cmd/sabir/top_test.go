package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
	"github.com/sabir-go/sabir/telemetry"
	"github.com/sabir-go/sabir/web"
)

func TestTopTellsWhatTheActionsOfAClusterDo(t *testing.T) {
	startCluster(t, &cli{})
	ctx, end := context.WithCancel(t.Context())
	calls := make(chan int)
	go func() {
		bench := []string{"bench", "users.get", "id=u-1", "-c", "4", "-d", "1h", "--warmup", "0s"}
		calls <- execute(ctx, bench, strings.NewReader(""), io.Discard, io.Discard)
	}()
	var got clusterFigures
	i := -1
	for late := time.Now().Add(time.Minute); time.Now().Before(late); { // until the calls have begun
		got = oneJSON[clusterFigures](t, sabirRun(t, "top", "--once", "--every", "300ms", "--json").out)
		i = slices.IndexFunc(got.Actions, func(a actionFigures) bool { return a.Name == "users.get" })
		if i >= 0 && got.Actions[i].Nodes == 2 && got.Actions[i].PerSecond >= 100 {
			break
		}
	}
	end()
	if code := <-calls; code != exitOK {
		t.Errorf("the calls: exit code %d", code)
	}
	if i < 0 || len(got.Nodes) != 3 || len(got.Mute) != 0 {
		t.Fatalf("%+v", got)
	}
	if a := got.Actions[i]; a.Nodes != 2 || a.PerSecond < 100 || a.P50 <= 0 || a.P99 < a.P50 || a.Calls == 0 || a.ErrorsPerSec != 0 {
		t.Errorf("%+v", a)
	}
	plain := sabirRun(t, "top", "--once", "--every", "100ms")
	for _, want := range []string{" · 3 nodes · ", "NODE    STATE", "demo-2  running", "ACTION ", "users.get"} {
		if plain.code != exitOK || !strings.Contains(plain.out, want) || strings.Contains(plain.out, "\x1b") {
			t.Errorf("%q is not in %+v", want, plain)
		}
	}
}

func TestTopOverHTTPTellsOfTheAskedNode(t *testing.T) {
	tel, err := telemetry.New(telemetry.Config{Metrics: true})
	if err != nil {
		t.Fatal(err)
	}
	startNode(t, sabir.NewNode(quiet(), sabir.NodeID("one"), sabir.Serve(tel.Stats()), sabir.Use(tel.Middleware()), sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}}))))
	got := sabirRun(t, "top", "--once", "--every", "100ms", "--all")
	if got.code != exitOK || !strings.Contains(got.out, "$telemetry.stats") || !strings.Contains(got.out, "one") {
		t.Errorf("%+v", got)
	}
}

func TestTopNamesNodesThatReportNothing(t *testing.T) {
	address := freePort(t)
	startMember(t, "mute", address)
	got := sabirRun(t, "top", "--once", "--every", "100ms", "--join", address)
	if got.code != exitFailed || !strings.Contains(got.out, "no figures of actions from mute: they do not serve telemetry.Stats") || !strings.Contains(got.errOut, "telemetry.Stats") {
		t.Errorf("%+v", got)
	}
}

func TestANodeThatWasStartedAnewCountsFromZero(t *testing.T) {
	bounds := []float64{1}
	before := telemetry.Stats{Node: "a", Bounds: bounds, Actions: []telemetry.ActionStats{{Name: "x", Calls: 100, Failed: 9, Buckets: []uint64{100, 0}}}}
	for name, test := range map[string]struct {
		now            telemetry.ActionStats
		recent, failed uint64
	}{
		"it went on":         {telemetry.ActionStats{Name: "x", Calls: 130, Failed: 10, Buckets: []uint64{130, 0}}, 30, 1},
		"it began anew":      {telemetry.ActionStats{Name: "x", Calls: 7, Failed: 2, Buckets: []uint64{7, 0}}, 7, 2},
		"an action is new":   {telemetry.ActionStats{Name: "y", Calls: 5, Buckets: []uint64{5, 0}}, 5, 0},
		"nothing was called": {telemetry.ActionStats{Name: "x", Calls: 100, Failed: 9, Buckets: []uint64{100, 0}}, 0, 0},
	} {
		sums := make(map[string]*sum)
		addNode(sums, telemetry.Stats{Node: "a", Bounds: bounds, Actions: []telemetry.ActionStats{test.now}}, before)
		if s := sums[test.now.Name]; s.recent != test.recent || s.recentF != test.failed || s.buckets[0] != test.recent {
			t.Errorf("%s: %+v, want %d calls, %d failed", name, s, test.recent, test.failed)
		}
	}
}

// aScreen shows nine actions: a.1 is called most, a.9 is slowest.
func aScreen() *screen {
	s := &screen{title: "tcp://:7700", figures: clusterFigures{Seconds: 1, Nodes: []surveyed{{Node: introspect.Node{ID: "demo-1", State: "running", Since: time.Now()}, Offers: []string{"a"}}}}}
	for i := range 9 {
		s.figures.Actions = append(s.figures.Actions, actionFigures{Name: "a." + string(rune('1'+i)), PerSecond: float64(90 - i), P99: float64(100 + i)})
	}
	return s
}

// actionsOn lists the actions on a frame from the top.
func actionsOn(lines []string) (names []string) {
	for _, line := range lines {
		if strings.HasPrefix(line, "a.") {
			names = append(names, line[:3])
		}
	}
	return names
}

func TestKeysScrollSortAndQuit(t *testing.T) {
	for typed, want := range map[string]string{
		"":                   "a.1 a.2 a.3 a.4",
		"\x1b[B":             "a.2 a.3 a.4 a.5",
		"\x1b[B\x1b[B\x1b[A": "a.2 a.3 a.4 a.5",
		"\x1b[A":             "a.1 a.2 a.3 a.4",
		"\x1b[6~":            "a.5 a.6 a.7 a.8",
		"\x1b[6~\x1b[6~":     "a.6 a.7 a.8 a.9", // the last page is full
		"\x1b[6~\x1b[5~":     "a.1 a.2 a.3 a.4",
		"jj":                 "a.3 a.4 a.5 a.6",
		"sss":                "a.9 a.8 a.7 a.6", // by p99
		"jsssssjx\x1b[Z":     "a.2 a.3 a.4 a.5", // sorting goes to the top; keys that stand for nothing do nothing
	} {
		s := aScreen()
		s.frame(80, 11)
		for _, k := range keysIn([]byte(typed)) {
			if s.press(k) {
				t.Errorf("%q quits", typed)
			}
			s.frame(80, 11)
		}
		if got := strings.Join(actionsOn(s.frame(80, 11)), " "); got != want {
			t.Errorf("after %q: %s, want %s", typed, got, want)
		}
	}
	for _, typed := range []string{"q", "Q", "\x03", "\x04"} {
		if s := aScreen(); !s.press(keysIn([]byte(typed))[0]) {
			t.Errorf("%q does not quit", typed)
		}
	}
}

func TestAFrameFitsTheTerminal(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {80, 11}, {20, 11}, {10, 5}, {1, 1}} {
		lines := aScreen().frame(size[0], size[1])
		if len(lines) > size[1] {
			t.Errorf("%d lines on a terminal of %v", len(lines), size)
		}
		for _, line := range lines {
			if n := len([]rune(line)); n > size[0] {
				t.Errorf("a line of %d on a terminal of %v: %q", n, size, line)
			}
		}
	}
	if lines := aScreen().frame(0, 0); len(actionsOn(lines)) != 9 || strings.Contains(strings.Join(lines, ""), "quit") {
		t.Errorf("what is no terminal gets all, and no keys: %q", lines)
	}
}

func TestWhatWentWrongStandsBelowTheOldFigures(t *testing.T) {
	s := aScreen()
	s.trouble = "the link\x1b[2J was lost"
	lines := s.frame(80, 24)
	if last := lines[len(lines)-1]; !strings.Contains(last, "was lost") || strings.Contains(last, "\x1b") || len(actionsOn(lines)) != 9 {
		t.Errorf("%q", lines)
	}
}
