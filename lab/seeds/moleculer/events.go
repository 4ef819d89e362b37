package moleculer

import "github.com/sabir-go/sabir/lab/bench"

// listening says how the services of an event's row listen, and whether there is a payload.
type listening struct {
	Pattern string `json:"pattern"`
	Payload bool   `json:"payload"`
}

func eventTables() []bench.Table {
	var rows []bench.Row
	for _, group := range []struct {
		name, pattern string
		size          int
		with, without string // published
	}{
		{"no subscriber", "", 0, "7 093 574/s, 140 ns", ""},
		{"1 subscriber", "user.created", 1, "6 318 996/s, 158 ns", ""},
		{"20 subscribers", "user.created", 20, "6 428 321/s, 155 ns", ""},
		{"20 subscribers, wildcard", "user.*", 20, "6 684 002/s, 149 ns", ""},
		{"20 subscribers, multi-wildcard", "user.**", 20, "6 577 082/s, 152 ns", "7 176 790/s, 139 ns"},
	} {
		with := job{group: group.name + ", payload", work: "events", size: group.size, extra: listening{group.pattern, true}}
		without := job{group: group.name + ", no payload", work: "events", size: group.size, extra: listening{group.pattern, false}}
		rows = append(rows, with.moleculer(group.with), with.sabir(""), with.limit("Plain functions in a row"),
			without.moleculer(group.without), without.sabir(""), without.limit("Plain functions in a row"))
	}
	return []bench.Table{{Name: "events", Title: "Emit events",
		About: "One operation is one event, emitted in the same process, with all its handlers done: Moleculer's promise is awaited, and Sabir's Emit " +
			"returns then. Each subscriber is a service of its own. After each event every handler must have had it, and all payloads (a number and " +
			"a name) are added up and checked. **The published figures are not comparable**: the broker of that benchmark was never started, so no " +
			"handler ran, whatever the number of subscribers.",
		Columns: localColumns("events"), Rows: rows, Duration: localDuration, Quick: localQuick}}
}
