package moleculer

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// TestPeersOfNodeAnswerRightFromAnotherNode runs each row of a program of Node for a moment; those of the programs in Go are
// tested there.
func TestPeersOfNodeAnswerRightFromAnotherNode(t *testing.T) {
	brokers.Slow(t)
	for _, tool := range []string{"npm", "redis-server", "rabbitmq-server"} {
		brokers.Program(t, tool, tool)
	}
	plan := bench.Plan{Rounds: 1, Duration: 20 * time.Millisecond, Fixed: true, Warm: time.Millisecond, Timeout: time.Minute}
	for _, table := range append(remoteTables(), serializerTables()...) {
		t.Run(table.Name, func(t *testing.T) {
			t.Parallel()
			table.Rows = slices.DeleteFunc(table.Rows, func(r bench.Row) bool {
				return !slices.Contains(r.Needs, remoteNode) && !slices.Contains(r.Needs, serializersNode)
			})
			results := plan.Run(t.Context(), []bench.Seed{{Tables: []bench.Table{table}}}, logged{t}, func(*bench.Results) {})
			for _, r := range results.Seeds[0].Tables[0].Rows {
				if r.Failure != "" || len(r.Rounds) != 1 || r.Rounds[0].Figures["rate"] <= 0 {
					t.Errorf("%s, %s: %d rounds, %s", r.Name, r.Group, len(r.Rounds), r.Failure)
				}
			}
		})
	}
}

func TestRowsOfTheReportOfRemoteCallsAndSerializersAreKept(t *testing.T) {
	published := map[string]int{"remote-call": 4, "fake-transporter": 2, "transporters": 5, "serializers": 35}
	for _, table := range append(remoteTables(), serializerTables()...) {
		got := 0
		for _, r := range table.Rows {
			if r.Published != "" {
				got++
			}
		}
		if want := published[table.Name]; got != want {
			t.Errorf("%s has %d figures of the report, which has %d", table.Name, got, want)
		}
	}
}

// The report compares within groups, so each needs all its rows together, one of Sabir, and a limit.
func TestGroupsStandTogetherWithARowOfSabirAndALimit(t *testing.T) {
	for _, table := range append(remoteTables(), serializerTables()...) {
		var groups []string
		names, ours, limits := map[string]bool{}, map[string]int{}, map[string]int{}
		for _, r := range table.Rows {
			if len(groups) == 0 || groups[len(groups)-1] != r.Group {
				groups = append(groups, r.Group)
			}
			if names[r.Group+"/"+r.Name] {
				t.Errorf("%s has two rows %s, %s", table.Name, r.Name, r.Group)
			}
			names[r.Group+"/"+r.Name] = true
			if r.Ours {
				ours[r.Group]++
			}
			if r.Limit {
				limits[r.Group]++
			}
		}
		if len(slices.Compact(slices.Sorted(slices.Values(groups)))) != len(groups) {
			t.Errorf("%s has a group in two places: %q", table.Name, groups)
		}
		for _, group := range groups {
			if ours[group] == 0 || limits[group] == 0 {
				t.Errorf("%s, %s: %d rows of Sabir, %d limits", table.Name, group, ours[group], limits[group])
			}
		}
	}
}

func TestProcessesServeAllRowsThatShareThem(t *testing.T) {
	brokers.Slow(t) // it builds a program
	if err := remoteGo.Prepare(t.Context(), logged{t}); err != nil {
		t.Fatal(err)
	}
	all, starts := new(shared), 0
	open := func(word string) bench.Runner {
		t.Helper()
		r, err := all.row("channels", word, func() (bench.Runner, []*bench.Process, error) {
			starts++
			runner, err := bench.Children(t.Context(), bench.Child(remoteGo, child.Order{Role: "process", Row: "channels", Callers: 2,
				Extra: json.RawMessage("{}")}, bench.Unpinned))
			return runner, nil, err
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, two := open("callers 1"), open("callers 2")
	for _, r := range []bench.Runner{one, two, one} {
		if s, err := r.Measure(t.Context(), time.Millisecond); err != nil || s.Operations == 0 {
			t.Errorf("%d operations, %v", s.Operations, err)
		}
	}
	one.Close()
	if _, err := two.Measure(t.Context(), time.Millisecond); err != nil || starts != 1 {
		t.Errorf("%d starts, %v: the processes should serve the other row", starts, err)
	}
	two.Close()
	three := open("callers 1")
	defer three.Close()
	if starts != 2 {
		t.Errorf("%d starts: the processes should have ended with their last row", starts)
	}
}
