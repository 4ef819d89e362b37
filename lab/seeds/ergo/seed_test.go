package ergo

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
)

func TestMostRowsOfSerializationHaveWhatTheReportSaid(t *testing.T) {
	for _, table := range []bench.Table{encodingTable(), decodingTable()} {
		count := 0
		for _, r := range table.Rows {
			if (r.Published != "") != slices.Contains([]string{"EDF", "Protobuf", "Gob"}, r.Name) {
				t.Errorf("%s, %s: published %q", r.Name, r.Group, r.Published)
			}
			if r.Published != "" {
				count++
			}
		}
		if count != 3*len(shapes) {
			t.Errorf("%s: %d rows with published figures", table.Name, count)
		}
	}
}

func TestEachGroupHasOursAPeerAndALimit(t *testing.T) {
	for _, table := range Seed().Tables {
		kinds := map[string][3]int{}
		for _, r := range table.Rows {
			k := kinds[r.Group]
			switch {
			case r.Ours:
				k[0]++
			case r.Limit:
				k[2]++
			default:
				k[1]++
			}
			kinds[r.Group] = k
		}
		for group, k := range kinds {
			if k[0] == 0 || k[1] == 0 || k[2] == 0 {
				t.Errorf("%s, %q: %d of ours, %d peers, %d limits", table.Name, group, k[0], k[1], k[2])
			}
		}
	}
}

// reported writes a run's notes to the test's log.
type reported struct{ *testing.T }

func (t reported) Write(text []byte) (int, error) { t.Logf("%s", text); return len(text), nil }
func (reported) Begin(int)                        {}
func (reported) Step(string)                      {}
func (reported) Skip(int)                         {}
func (t reported) Note(format string, a ...any)   { t.Logf(format, a...) }

// TestEveryContenderDoesItsWorkAndLosesNothing runs each row of all tables with small numbers. Of serialization it takes one shape: each
// codec's process checks all of them when it starts.
func TestEveryContenderDoesItsWorkAndLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds all programs")
	}
	plan := bench.Plan{Rounds: 1, Duration: 2 * time.Millisecond, Fixed: true, Warm: 2 * time.Millisecond, Timeout: time.Minute}
	for _, table := range seedOf(amounts{messages: 3000, processes: 300}).Tables {
		t.Run(table.Name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(table.Name, "edf-") {
				table.Rows = slices.DeleteFunc(table.Rows, func(r bench.Row) bool { return !strings.HasPrefix(r.Group, "Map,") })
			}
			results := plan.Run(t.Context(), []bench.Seed{{Tables: []bench.Table{table}}}, reported{t}, func(*bench.Results) {})
			for _, r := range results.Seeds[0].Tables[0].Rows {
				if r.Failure != "" || len(r.Rounds) != 1 || r.Rounds[0].Figures["rate"] <= 0 {
					t.Errorf("%s, %s: %d rounds, %s", r.Name, r.Group, len(r.Rounds), r.Failure)
				}
			}
		})
	}
}
