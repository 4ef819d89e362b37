package main

import (
	"strings"
	"testing"
	"time"
)

func TestPeersStandBeforeLimitsFromFastToSlow(t *testing.T) {
	one := func(name string, limit bool, calls int64) group {
		return group{contender: contender{name: name, limit: limit}, callers: 1, outcomes: []outcome{{Calls: calls, Elapsed: time.Second}}}
	}
	p := plan{mode: callMode, runs: 1, callers: []int{1}}
	groups := []group{one("limit-slow", true, 10), one("peer-slow", false, 5), one("limit-fast", true, 100), one("peer-fast", false, 20)}
	var out strings.Builder
	if err := writeTables(&out, p, groups); err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, name := range []string{"peer-fast", "peer-slow", "limit-fast", "limit-slow"} {
		at := strings.Index(out.String(), name)
		if at <= last {
			t.Errorf("%s stands in the wrong place of\n%s", name, out.String())
		}
		last = at
	}
}

func TestFiguresAreMediansPerCall(t *testing.T) {
	g := group{outcomes: []outcome{
		{Calls: 100, Elapsed: time.Second, Client: usage{CPU: time.Millisecond, Mallocs: 300}, Server: usage{CPU: time.Millisecond, Mallocs: 100}},
		{Calls: 200, Elapsed: time.Second, Client: usage{CPU: time.Millisecond, Mallocs: 600}, Server: usage{CPU: time.Millisecond, Mallocs: 200}},
		{Calls: 400, Elapsed: time.Second, Errors: 2, Problem: "lost"},
	}, failures: []string{"did not start"}}
	f := g.figures()
	if f.PerSecond.Median != 200 || f.PerSecond.Min != 100 || f.PerSecond.Max != 400 {
		t.Errorf("per second %+v", f.PerSecond)
	}
	if f.CPU.Max != 20_000 || f.ClientMallocs.Median != 3 || f.ServerMallocs.Median != 1 {
		t.Errorf("CPU %+v, allocations %+v and %+v", f.CPU, f.ClientMallocs, f.ServerMallocs)
	}
	if f.Errors != 3 || len(f.Problems) != 2 {
		t.Errorf("%d errors, problems %v; a run that failed counts as one", f.Errors, f.Problems)
	}
}

func TestAContenderThatFailedHasNoFigures(t *testing.T) {
	p := plan{mode: callMode}
	row := p.row(group{contender: contender{name: "x", codec: "c", settings: "s"}, failures: []string{"no"}}.figures())
	if row[1] != "-" || row[len(row)-3] != "1" || row[len(row)-1] != "s" {
		t.Errorf("row %v", row)
	}
}
