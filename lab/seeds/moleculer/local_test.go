package moleculer

import (
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"

	"github.com/sabir-go/sabir/lab/bench"
)

// logged keeps a run's notes for the test's log.
type logged struct{ *testing.T }

func (l logged) Write(text []byte) (int, error) { l.Logf("%s", text); return len(text), nil }
func (logged) Begin(int)                        {}
func (logged) Step(string)                      {}
func (logged) Skip(int)                         {}
func (l logged) Note(format string, a ...any)   { l.Logf(format, a...) }

// TestPeersOfNodeAnswerRight runs each row of a program of Node for a moment; package local's own test runs those in Go.
func TestPeersOfNodeAnswerRight(t *testing.T) {
	brokers.Slow(t)
	for _, tool := range []string{"npm", "redis-server"} {
		brokers.Program(t, tool, tool)
	}
	plan := bench.Plan{Rounds: 1, Duration: 5 * time.Millisecond, Fixed: true, Quick: true, Warm: 5 * time.Millisecond, Timeout: time.Minute}
	for _, table := range slices.Concat(localTables(), middlewareTables(), telemetryTables(), cacheTables(), validatorTables(), eventTables(), growthTables()) {
		t.Run(table.Name, func(t *testing.T) {
			t.Parallel()
			table.Rows = slices.DeleteFunc(table.Rows, func(r bench.Row) bool { return !slices.Contains(r.Needs, inNode) })
			results := plan.Run(t.Context(), []bench.Seed{{Tables: []bench.Table{table}}}, logged{t}, func(*bench.Results) {})
			for _, r := range results.Seeds[0].Tables[0].Rows {
				if r.Failure != "" || len(r.Rounds) != 1 || r.Rounds[0].Figures["rate"] <= 0 {
					t.Errorf("%s, %s: %d rounds, %s", r.Name, r.Group, len(r.Rounds), r.Failure)
				}
			}
		})
	}
}

func TestRowsOfTheReportAreKept(t *testing.T) {
	published := map[string]int{"local-call": 3, "call-params": 2, "middlewares": 5, "metrics": 2, "context-tracking": 2, "cachers": 3,
		"cache-set-get": 2, "cache-key": 2, "cache-cloning": 2, "validator": 3, "events": 6}
	for _, table := range Seed().Tables {
		want, mine := published[table.Name]
		got := 0
		for _, r := range table.Rows {
			if r.Published != "" {
				got++
			}
		}
		if mine && got != want {
			t.Errorf("%s has %d figures of the report, which has %d", table.Name, got, want)
		}
	}
}
