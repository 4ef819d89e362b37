package mion

import (
	"testing"

	"github.com/sabir-go/sabir/lab/bench"
)

func TestTablesAreWhole(t *testing.T) {
	names := map[string]bool{}
	for _, table := range Seed().Tables {
		if names[table.Name] || table.Name == "" || table.Title == "" || table.About == "" || len(table.Columns) == 0 {
			t.Errorf("the table %q is named twice, or lacks something", table.Name)
		}
		names[table.Name] = true
		for _, c := range table.Columns {
			if c.Key == "" || c.Title == "" || c.Unit == "" {
				t.Errorf("%s has a column %+v", table.Name, c)
			}
		}
		checkRows(t, table)
	}
}

func checkRows(t *testing.T, table bench.Table) {
	t.Helper()
	rows, ours, limits := map[[2]string]bool{}, map[string]bool{}, map[string]bool{}
	group := ""
	groups := map[string]bool{}
	for i, r := range table.Rows {
		if i == 0 || r.Group != group {
			if groups[r.Group] {
				t.Errorf("%s: the rows of %q do not stand together", table.Name, r.Group)
			}
			group, groups[r.Group] = r.Group, true
		}
		if key := [2]string{r.Group, r.Name}; rows[key] || r.Name == "" {
			t.Errorf("%s: %q is twice in %q", table.Name, r.Name, r.Group)
		} else {
			rows[key] = true
		}
		if (r.Open == nil) != (r.Missing != "") || r.Open != nil && len(r.Needs) == 0 {
			t.Errorf("%s: %s can neither run nor is missing, or needs nothing", table.Name, r.Name)
		}
		ours[r.Group] = ours[r.Group] || r.Ours
		limits[r.Group] = limits[r.Group] || r.Limit
	}
	for g := range groups {
		if !ours[g] || !limits[g] && g != manyRoutes {
			t.Errorf("%s: %q has no row of Sabir, or none of a limit", table.Name, g)
		}
	}
}

func TestAllRowsOfTheReportAreThere(t *testing.T) {
	published := 0
	for _, r := range updateUser().Rows {
		if r.Published != "" {
			published++
		}
	}
	if published != 10 {
		t.Errorf("%d rows have what the report says, want all 10", published)
	}
}
