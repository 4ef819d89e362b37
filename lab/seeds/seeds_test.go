package seeds

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
)

// eachTable runs a test for each table of all seeds.
func eachTable(t *testing.T, test func(*testing.T, bench.Table)) {
	for _, s := range All() {
		for _, table := range s.Tables {
			t.Run(s.Name+"/"+table.Name, func(t *testing.T) { test(t, table) })
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seeds, tables := map[string]bool{}, map[string]bool{}
	for _, s := range All() {
		if seeds[s.Name] {
			t.Errorf("two seeds are called %s", s.Name)
		}
		seeds[s.Name] = true
		for _, table := range s.Tables {
			if tables[table.Name] {
				t.Errorf("two tables are called %s", table.Name)
			}
			tables[table.Name] = true
		}
	}
}

func TestTablesCanBeRead(t *testing.T) {
	eachTable(t, func(t *testing.T, table bench.Table) {
		if table.Title == "" || table.About == "" || len(table.Columns) == 0 {
			t.Error("it has no title, no words about it, or no columns")
		}
		var groups []string
		rows, ours := map[string]bool{}, map[string]bool{}
		for _, r := range table.Rows {
			if rows[r.Group+"\n"+r.Name] {
				t.Errorf("two rows of %q are called %s", r.Group, r.Name)
			}
			rows[r.Group+"\n"+r.Name] = true
			if len(groups) == 0 || groups[len(groups)-1] != r.Group {
				if slices.Contains(groups, r.Group) {
					t.Errorf("the rows of %q do not stand together", r.Group)
				}
				groups = append(groups, r.Group)
			}
			ours[r.Group] = ours[r.Group] || r.Ours
			if (r.Open == nil) == (r.Missing == "") {
				t.Errorf("%s, %s: a row either opens or says why it cannot run", r.Name, r.Group)
			}
		}
		for _, group := range groups {
			if !ours[group] {
				t.Errorf("Sabir has no row in %q", group)
			}
		}
		for group := range table.Why {
			if group != "" && !slices.Contains(groups, group) {
				t.Errorf("it says why of %q, which is no group", group)
			}
		}
	})
}

// reported writes a run's notes to the test's log.
type reported struct{ *testing.T }

func (t reported) Write(text []byte) (int, error) { t.Logf("%s", text); return len(text), nil }
func (reported) Begin(int)                        {}
func (reported) Step(string)                      {}
func (reported) Skip(int)                         {}
func (t reported) Note(format string, a ...any)   { t.Logf(format, a...) }

// TestOneShortRowOfEachTable runs Sabir's first row of each table, and its first peer whose program is in Go.
func TestOneShortRowOfEachTable(t *testing.T) {
	if testing.Short() {
		t.Skip("builds all programs")
	}
	plan := bench.Plan{Rounds: 1, Duration: 10 * time.Millisecond, Fixed: true, Quick: true, Warm: 10 * time.Millisecond, Timeout: 2 * time.Minute}
	eachTable(t, func(t *testing.T, table bench.Table) {
		if strings.Contains(t.Name(), "/ergo/") {
			t.Skip("the tests of package ergo run all its rows, with fewer processes")
		}
		table.Rows = shortRows(table.Rows)
		if len(table.Rows) == 0 {
			t.Skip("none of its rows is in Go alone")
		}
		results := plan.Run(t.Context(), []bench.Seed{{Tables: []bench.Table{table}}}, reported{t}, func(*bench.Results) {})
		for _, r := range results.Seeds[0].Tables[0].Rows {
			if r.Failure != "" || len(r.Rounds) != 1 {
				t.Errorf("%s, %s: %d rounds, %s", r.Name, r.Group, len(r.Rounds), r.Failure)
				continue
			}
			if _, there := r.Rounds[0].Figures[table.Columns[0].Key]; !there {
				t.Errorf("%s, %s: no figure for %s", r.Name, r.Group, table.Columns[0].Title)
			}
		}
	})
}

func shortRows(rows []bench.Row) []bench.Row {
	var kept []bench.Row
	ours, peers := 0, 0
	for _, r := range rows {
		if r.Missing != "" || r.Limit || slices.ContainsFunc(r.Needs, func(p *bench.Program) bool { return p.Language != "Go" }) {
			continue
		}
		count := &peers
		if r.Ours {
			count = &ours
		}
		if *count++; *count == 1 {
			kept = append(kept, r)
		}
	}
	return kept
}
