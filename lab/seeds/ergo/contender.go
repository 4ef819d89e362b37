package ergo

import (
	"slices"

	"github.com/sabir-go/sabir/lab/bench"
)

// actors is the program with the actor libraries.
var actors = bench.Go("actors")

// contender is an actor library, or a limit, in a table. name is the row's, program what program actors calls it.
type contender struct {
	name, program    string
	module, settings string
	ours, limit      bool
}

// row is the contender's row in a group.
func (c contender) row(group string) bench.Row {
	return bench.Row{Name: c.name, Group: group, Ours: c.ours, Limit: c.limit, Settings: c.settings, Module: c.module, Needs: []*bench.Program{actors}}
}

// with adds to what is said of the contender's settings.
func (c contender) with(settings string) contender {
	if c.settings != "" {
		settings = c.settings + "; " + settings
	}
	c.settings = settings
	return c
}

// The contenders with what is the same in all tables.
var (
	ergoRow    = contender{name: "Ergo", program: "Ergo", module: "ergo.services/ergo"}
	hollywood  = contender{name: "hollywood", program: "hollywood", module: "github.com/anthdm/hollywood"}
	protoactor = contender{name: "protoactor-go", program: "protoactor-go", module: "github.com/asynkron/protoactor-go"}
	goakt      = contender{name: "goakt", program: "goakt", module: "github.com/tochemey/goakt/v4", settings: "no log, 1 try to start, actors long-lived"}
	sabir      = contender{name: "Sabir", program: "Sabir", ours: true}
	channels   = contender{name: "channels", program: "channels", limit: true, settings: "goroutines with channels of 128"}
	direct     = contender{name: "function calls", program: "direct", limit: true, settings: "a loop over the subscribers"}
)

// rowsOf are the rows of some contenders in a group, opened in the same way.
func rowsOf(group string, open func(contender) openRow, all ...contender) []bench.Row {
	var rows []bench.Row
	for _, c := range all {
		r := c.row(group)
		r.Open = open(c)
		rows = append(rows, r)
	}
	return rows
}

// cold marks rows that start from nothing for each measurement.
func cold(rows []bench.Row) []bench.Row {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Cold = true
	}
	return rows
}
