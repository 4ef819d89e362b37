package report_test

import (
	"os"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/report"
)

func ExampleText() {
	rounds := func(values ...float64) (all []bench.Round) {
		for i, v := range values {
			all = append(all, bench.Round{Number: i + 1, Figures: map[string]float64{"rate": v, "p99": 1e9 / v}})
		}
		return all
	}
	report.Text(os.Stdout, bench.TableResult{
		Title: "Calls",
		Columns: []bench.Column{
			{Key: "rate", Title: "calls/s", Unit: bench.PerSecond},
			{Key: "p99", Title: "p99", Unit: bench.Duration, Less: true},
		},
		Rows: []bench.RowResult{
			{Name: "net/rpc", Group: "1 caller", Rounds: rounds(48_000, 50_000, 51_000)},
			{Name: "Sabir", Group: "1 caller", Ours: true, Rounds: rounds(78_000, 80_000, 81_000)},
			{Name: "thrift", Group: "1 caller", Failure: "the server is not installed"},
			{Name: "raw TCP echo", Group: "1 caller", Limit: true, Rounds: rounds(99_000, 100_000, 102_000)},
		},
	})
	// Output:
	// contender             calls/s       x peer  x limit      p99
	// --------------------  -------  ---  ------  -------  -------
	// -- 1 caller: Sabir is first, 1.60x (1.59x to 1.62x) of net/rpc, 0.79x of the limit (raw TCP echo).
	// Sabir                  80 000  ±2%   1.60x    0.79x  12.5 µs
	// net/rpc                50 000  ±3%   1.00x    0.50x  20.0 µs
	// raw TCP echo (limit)  100 000  ±2%   2.00x    1.00x  10.0 µs
	// -- thrift did not run: the server is not installed
}
