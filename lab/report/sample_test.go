package report

import (
	"math"
	"strings"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
)

// rounds of a row whose first column is "rate".
func rounds(values ...float64) []bench.Round {
	var all []bench.Round
	for i, v := range values {
		all = append(all, bench.Round{Number: i + 1, Figures: map[string]float64{"rate": v}})
	}
	return all
}

// contender makes a row of a group.
func contender(group, name string, values ...float64) bench.RowResult {
	return bench.RowResult{Group: group, Name: name, Ours: strings.HasPrefix(name, "Sabir"), Limit: strings.HasPrefix(name, "raw"), Rounds: rounds(values...)}
}

// failed makes a row that did not run.
func failed(group, name, reason string) bench.RowResult {
	r := contender(group, name)
	r.Failure = reason
	return r
}

// rates is a table of rows that are ranked by "rate"; times is one in which less is better.
func rates(rows ...bench.RowResult) bench.TableResult {
	return bench.TableResult{Name: "calls", Title: "Calls", About: "One operation is a `call`.", Columns: []bench.Column{{Key: "rate", Title: "calls/s", Unit: bench.PerSecond}}, Rows: rows}
}

func times(rows ...bench.RowResult) bench.TableResult {
	t := rates(rows...)
	t.Columns[0] = bench.Column{Key: "rate", Title: "time", Unit: bench.Duration, Less: true}
	return t
}

// resultsOf makes results of tables of one seed.
func resultsOf(tables ...bench.TableResult) *bench.Results {
	return &bench.Results{Machine: bench.Machine{Processor: "a processor", Cores: 2, System: "linux/amd64", Programs: map[string]string{"Node": "20.1", "Go": "1.26", "Perl": "5", "Java": "17"}},
		Begun: time.Date(2026, 11, 22, 14, 5, 0, 0, time.FixedZone("", 3600)), Took: 83 * time.Second, Rounds: 5, Duration: time.Second,
		Seeds: []bench.SeedResult{{Name: "seed", Title: "A seed", About: "What it is.", Took: 83 * time.Second, Tables: tables}}}
}

// large returns results of the size of a whole run: 60 tables with 240 groups of five rows.
func large() *bench.Results {
	var tables []bench.TableResult
	for n := range 60 {
		t := bench.TableResult{Name: "table-" + string(rune('a'+n%26)) + string(rune('a'+n/26)), Title: "Calls with a title", About: strings.Repeat("One operation is a call, and every answer is checked. ", 12)}
		for i, key := range []string{"rate", "mean", "p50", "p99", "max", "cpu", "memory"} {
			t.Columns = append(t.Columns, bench.Column{Key: key, Title: key, Unit: []bench.Unit{bench.PerSecond, bench.Duration, bench.Duration, bench.Duration, bench.Duration, bench.Duration, bench.Bytes}[i], Less: i > 0})
		}
		for group := range 4 {
			for i, name := range []string{"Sabir", "grpc-go, bidi stream", "Moleculer", "go-micro 5", "raw TCP echo"} {
				r := contender(string(rune('1'+group))+" callers", name)
				r.Settings, r.Version, r.Published = "google protobuf, a connection for each caller", "1.2.3", "1 713 579/s, 583 ns"
				for round := range 5 {
					figures := map[string]float64{}
					for j, c := range t.Columns {
						figures[c.Key] = float64((i+2)*(j+1)*12347) * (1 + float64(round+n)/100)
					}
					r.Rounds = append(r.Rounds, bench.Round{Number: round + 1, Figures: figures})
				}
				r.Quantiles = quantiles(float64(1000 * (i + 1)))
				t.Rows = append(t.Rows, r)
			}
		}
		tables = append(tables, t)
	}
	return resultsOf(tables...)
}

// quantiles of a latency that doubles with each nine.
func quantiles(ns float64) []bench.Quantile {
	var all []bench.Quantile
	for _, share := range []float64{0, .1, .5, .75, .9, .95, .98, .99, .995, .998, .999, .9995, .9999, 1} {
		all = append(all, bench.Quantile{Share: share, Latency: time.Duration(ns * math.Pow(2, -math.Log10(max(1-share, 1e-5))))})
	}
	return all
}
