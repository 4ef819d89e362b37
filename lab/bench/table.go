// Package bench is the lab's method: what a table is, how its rows are measured side by side, and what the results are. It
// knows no contender; those are in package seeds, and in the programs that it starts.
package bench

import (
	"context"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// Seed is a published benchmark report whose tables the lab makes anew.
type Seed struct {
	Name   string // for --seed
	Title  string
	About  string // what the report measured, when and on what
	Tables []Table
}

// Table is one comparison: all rows of a group do the same work.
type Table struct {
	Name    string // for --table; unique in its seed
	Title   string
	About   string // what one operation is, what is checked, what is not comparable; Markdown
	Columns []Column
	Rows    []Row // in the order of the report; rows of a group stand together

	// Duration of one measurement of a row; 0 is the plan's. Quick is the same for quick runs.
	Duration, Quick time.Duration
	// Why says why Sabir is not first in a group, or in the table under ""; shown only where that is so.
	Why map[string]string
}

// Column is one figure of a table. The first column ranks the rows.
type Column struct {
	Key   string `json:"key"` // see Round.Figures for what every row has
	Title string `json:"title"`
	Unit  Unit   `json:"unit"`
	Less  bool   `json:"less,omitempty"` // less is better
}

// Unit says how a figure is written.
type Unit string

// The units. Durations are in nanoseconds, memory in bytes.
const (
	Count     Unit = "count"
	PerSecond Unit = "per second"
	Duration  Unit = "duration"
	Bytes     Unit = "bytes"
	Percent   Unit = "percent"
)

// Row is one contender in one group of a table.
type Row struct {
	Name      string
	Group     string // what is the same for the rows that are compared: "100 callers", "5 middlewares"; may be ""
	Ours      bool   // Sabir: the first of these in a group is compared with the others
	Limit     bool   // not a peer but a limit: it does less than any contender must
	Settings  string // what is not the contender's default, and what must be known of it
	Module    string // whose version is shown: a Go module, or a package of Node; see Program.Version
	Published string // what the report that the seed is said of it
	Missing   string // why it cannot run on any machine
	Cold      bool   // is not warmed up: each measurement starts from nothing, see Fresh

	// Needs are the programs that Open starts, built and installed before anything is measured.
	Needs []*Program
	// Open starts the row. What it opens must end when ctx does.
	Open func(ctx context.Context, e *Env) (Runner, error)
}

// Runner is an open row. Its methods are called one at a time.
type Runner interface {
	// Measure works for about d and checks every answer. The first call of a row is its warm-up.
	Measure(ctx context.Context, d time.Duration) (child.Sample, error)
	// Processes returns the processes whose CPU time and memory count for the row.
	Processes() []*Process
	// Close ends all of them, and waits until they are gone.
	Close()
}
