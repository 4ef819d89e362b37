package moleculer

import (
	"fmt"

	"github.com/sabir-go/sabir/lab/bench"
)

// growthTables compares how calls and events get slower where there are more actions and more patterns.
func growthTables() []bench.Table {
	var rows []bench.Row
	add := func(j job, limit string) { rows = append(rows, j.moleculer(""), j.sabir(""), j.limit(limit)) }
	for _, n := range []int{10, 1000, 10_000} {
		add(job{group: fmt.Sprintf("calls, %d actions", n), work: "among actions", size: n}, "Look-up in a map")
	}
	for _, n := range []int{10, 1000, 10_000} {
		add(job{group: fmt.Sprintf("events, %d patterns", n), work: "among patterns", size: n}, "Look-up in a map by the first word")
	}
	add(job{group: "events, 10000 patterns, names never seen", work: "among new names", size: 10_000}, "Look-up in a map by the first word")
	return []bench.Table{{Name: "growth", Title: "Calls and events where there are many",
		About: "One operation is a call by name, or an event that is emitted and handled, in the same process. Each call is of another action than the one before, all in turn, " +
			"and each event of another name: one handler of many has its pattern, which ends with a wildcard. Every sum is checked, and after each event that the handler " +
			"of its pattern has had it, and no other one. The names are the same in each turn, or have never been seen before. The report has no such table. How a cluster grows with its nodes: docs/scale.md.",
		Columns: localColumns("operations"), Rows: rows, Duration: localDuration, Quick: localQuick}}
}
