package gomicro

import (
	"slices"
	"testing"

	"github.com/sabir-go/sabir/lab/bench"
)

func TestGroupsStandTogetherAndHaveSabirAndALimit(t *testing.T) {
	for _, table := range Seed().Tables {
		var groups []string
		for _, r := range table.Rows {
			if len(groups) == 0 || groups[len(groups)-1] != r.Group {
				if slices.Contains(groups, r.Group) {
					t.Errorf("%s: the rows of %s do not stand together", table.Name, r.Group)
				}
				groups = append(groups, r.Group)
			}
		}
		for _, group := range groups {
			rows := slices.DeleteFunc(slices.Clone(table.Rows), func(r bench.Row) bool { return r.Group != group })
			if !rows[0].Ours || rows[0].Name != "Sabir" {
				t.Errorf("%s, %s: begins with %s, not with Sabir", table.Name, group, rows[0].Name)
			}
			if !slices.ContainsFunc(rows, func(r bench.Row) bool { return r.Limit }) {
				t.Errorf("%s, %s: no limit", table.Name, group)
			}
		}
	}
}

func TestNamesAreUniqueAndEveryRowCanBeOpened(t *testing.T) {
	tables := map[string]bool{}
	for _, table := range Seed().Tables {
		if tables[table.Name] || table.Title == "" || table.About == "" {
			t.Errorf("table %q: twice, or with no title or text", table.Name)
		}
		tables[table.Name] = true
		for _, c := range table.Columns {
			if c.Key == "" || c.Title == "" || c.Unit == "" {
				t.Errorf("%s: column %+v", table.Name, c)
			}
		}
		seen := map[string]bool{}
		for _, r := range table.Rows {
			name := r.Group + ": " + r.Name
			if seen[name] {
				t.Errorf("%s has %s twice", table.Name, name)
			}
			seen[name] = true
			if (r.Open == nil) != (r.Missing != "") || r.Missing == "" && (r.Settings == "" || len(r.Needs) == 0) {
				t.Errorf("%s, %s: it has neither a way to open it nor a reason, or no settings", table.Name, name)
			}
		}
	}
}

func TestContendersOfTablesAreThoseThatThereAre(t *testing.T) {
	var names []string
	for _, c := range Contenders() {
		if slices.Contains(names, c.Name) {
			t.Errorf("two contenders are called %s", c.Name)
		}
		names = append(names, c.Name)
	}
	used := map[string]bool{"": true} // of rows that are missing
	for _, g := range slices.Concat(streamGroups(), datagramGroups(), brokerGroups(), frameworkGroups(), openLoopGroups(), secureGroups(),
		largeGroups(), mixedGroups(), onewayGroups()) {
		for _, e := range g.entries {
			used[e.contender] = true
			if !slices.Contains(names, e.contender) && e.missing == "" {
				t.Errorf("%s, %s: no contender is called %q", g.group, e.name, e.contender)
			}
		}
	}
	for _, name := range names {
		if !used[name] {
			t.Errorf("%s is in no table", name)
		}
	}
}

func TestTheReportsRowsHaveItsFigures(t *testing.T) {
	want := map[string]bool{"HTTP": true, "TCP": true, "gRPC": true, "gRPC-TCP": true, "QUIC": true, "uTP": true, "NATS": true, "RabbitMQ": true}
	for _, r := range rows(slices.Concat(streamGroups(), datagramGroups(), brokerGroups())...) {
		if published := r.Name == "go-micro 1" && want[r.Group]; published != (r.Published != "") {
			t.Errorf("%s, %s: published %q", r.Group, r.Name, r.Published)
		}
	}
}
