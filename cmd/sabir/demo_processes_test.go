package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/telemetry"
)

// runningDemo is a demo whose nodes are processes.
type runningDemo struct {
	join  string
	nodes map[string]member
	lines chan string // that it writes after it is open
	end   context.CancelFunc
	code  chan int
	log   *lockedBuffer
}

// startProcesses runs sabir demo --processes until the test ends it.
func startProcesses(t *testing.T, flags ...string) *runningDemo {
	t.Helper()
	t.Setenv(asMain, "1")
	ctx, end := context.WithTimeout(t.Context(), 3*time.Minute)
	read, write := io.Pipe()
	d := &runningDemo{nodes: make(map[string]member), lines: make(chan string, 1000), end: end, code: make(chan int, 1), log: &lockedBuffer{}}
	args := append([]string{"demo", "--processes", "--http", ":0", "--json", "--rate", "50", "--join", freePort(t)}, flags...)
	go func() {
		code := execute(ctx, args, strings.NewReader(""), write, d.log)
		write.Close()
		d.code <- code
	}()
	go func() {
		defer close(d.lines)
		for scanner := bufio.NewScanner(read); scanner.Scan(); {
			d.lines <- scanner.Text()
		}
	}()
	first, ok := <-d.lines
	if !ok {
		t.Fatalf("the demo did not open: exit code %d, %s", <-d.code, d.log)
	}
	var ready struct {
		Join  string
		Nodes []member
	}
	if err := json.Unmarshal([]byte(first), &ready); err != nil {
		t.Fatal(err)
	}
	d.join = ready.Join
	for _, m := range ready.Nodes {
		d.nodes[m.ID[len(m.ID)-1:]] = m // by its number
	}
	return d
}

// kill ends a node's process as a crash would.
func (d *runningDemo) kill(t *testing.T, number string) {
	t.Helper()
	p, err := os.FindProcess(d.nodes[number].PID)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Error(err)
	}
}

// event waits for a line of that type.
func (d *runningDemo) event(t *testing.T, kind string) (e childEvent) {
	t.Helper()
	for line := range d.lines {
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if e.Type == kind {
			return e
		}
	}
	t.Fatalf("the demo ended without the line %q: %s", kind, d.log)
	return e
}

// stop ends the demo and waits for its exit code.
func (d *runningDemo) stop() int {
	d.end()
	for range d.lines { // until it has ended
	}
	return <-d.code
}

func TestABenchWithRetryLosesNoCallWhenAProcessIsKilled(t *testing.T) {
	brokers.Long(t)
	d := startProcesses(t, "--nodes", "3", "--restart")
	defer d.end()
	measured := make(chan outcome)
	go func() {
		measured <- sabirRun(t, "bench", "users.get", "id=u-1", "--join", d.join, "--retry", "--callers", "50", "-d", "5s", "--warmup", "0s", "--json")
	}()
	d.waitForCalls(t, "3", "users.get", 1000)
	d.kill(t, "3")
	if e := d.event(t, "ended"); e.Node != d.nodes["3"].ID || e.PID != d.nodes["3"].PID || e.Left != 2 || !e.Restart || !strings.Contains(e.Why, "killed") {
		t.Errorf("%+v", e)
	}
	if e := d.event(t, "started"); e.Node != d.nodes["3"].ID || e.PID == d.nodes["3"].PID || e.Left != 3 {
		t.Errorf("%+v", e)
	}
	got := <-measured
	r := oneJSON[benchResult](t, got.out)
	if got.code != exitOK || r.Failed != 0 || r.Calls < 2000 || !r.Retry {
		t.Errorf("%+v", got)
	}
	if len(r.Changes) == 0 || r.Changes[0].Node != d.nodes["3"].ID || !r.Changes[0].Gone || r.Changes[0].Left != 2 {
		t.Errorf("changes %+v, want that the node went", r.Changes)
	}
	if code := d.stop(); code != exitOK {
		t.Errorf("exit code %d: %s", code, d.log)
	}
}

// waitForCalls waits until a node has answered so many calls of an action.
func (d *runningDemo) waitForCalls(t *testing.T, number, action string, calls uint64) {
	t.Helper()
	g, err := (&cli{join: d.join, timeout: 10 * time.Second}).joinCluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for {
		stats, err := sabir.Call[telemetry.Stats](t.Context(), g.node, "$telemetry.stats", sabir.Empty{}, sabir.ToNode(d.nodes[number].ID), sabir.WithTimeout(10*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range stats.Actions {
			if a.Name == action && a.Calls >= calls {
				return
			}
		}
	}
}

func TestTheDemoGoesOnUntilItsLastProcessHasEnded(t *testing.T) {
	d := startProcesses(t, "--nodes", "2")
	defer d.end()
	d.kill(t, "1")
	if e := d.event(t, "ended"); e.Node != d.nodes["1"].ID || e.Left != 1 || e.Restart {
		t.Errorf("%+v", e)
	}
	other := d.nodes["2"]
	if got := sabirRun(t, "call", "users.get", "id=u-1", "--join", other.Addr); got.code != exitOK {
		t.Errorf("the node that is left: %+v", got)
	}
	d.kill(t, "2")
	if e := d.event(t, "ended"); e.Node != other.ID || e.Left != 0 {
		t.Errorf("%+v", e)
	}
	for range d.lines {
	}
	if code := <-d.code; code != exitFailed || !strings.Contains(d.log.String(), "all processes of the demo have ended") {
		t.Errorf("exit code %d: %s", code, d.log)
	}
}

func TestAProcessThatCannotStartEndsTheDemoAndIsReported(t *testing.T) {
	t.Setenv(asMain, "1")
	got := sabirRun(t, "demo", "--nodes", "2", "--processes", "--http", ":0", "--join", "tcp://192.0.2.1:7700")
	if got.code != exitFailed || !strings.Contains(got.errOut, "-1 | error:") || !strings.Contains(got.errOut, "ended before it was ready") {
		t.Errorf("%+v", got)
	}
}

func TestLinesOfAProcessAreWhole(t *testing.T) {
	var got []string
	w := &lines{each: func(line []byte) { got = append(got, string(line)) }}
	for _, piece := range []string{"one\ntw", "o", "\n\nthree", strings.Repeat("x", maxLine), "\n"} {
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if len(got) != 5 || strings.Join(got[:3], ",") != "one,two," || len(got[3]) != maxLine+len("three") || got[4] != "" {
		t.Errorf("%d lines, the first %.20q", len(got), got)
	}
}
