package hsf

import (
	"fmt"
	"slices"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// bounds are the bounds of the report's response times, milliseconds, from 5 on; the lesser ones are for today's faster calls.
var bounds = []float64{0, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 40, 50, 80, 100, 200, 300, 500}

func bucket(i int) string { return fmt.Sprintf("%g ~ %g ms", bounds[i], bounds[i+1]) }

// beyond is the last bucket.
const beyond = "from 500 ms on"

// distribution is the share of the latencies in each bucket, percent.
func distribution(latencies child.Latencies) map[string]float64 {
	counts := map[string]float64{beyond: 0}
	for i := range len(bounds) - 1 {
		counts[bucket(i)] = 0
	}
	var all float64
	for _, pair := range latencies {
		ms := float64(pair[0]) / float64(time.Millisecond)
		key := beyond
		if i := slices.IndexFunc(bounds, func(bound float64) bool { return ms < bound }); i > 0 {
			key = bucket(i - 1)
		}
		counts[key] += float64(pair[1])
		all += float64(pair[1])
	}
	for key := range counts {
		if all > 0 {
			counts[key] *= 100 / all
		}
	}
	return counts
}

func distributionTable() bench.Table {
	columns := []bench.Column{{Key: "p50", Title: "median", Unit: bench.Duration, Less: true}}
	for i := range len(bounds) - 1 {
		columns = append(columns, bench.Column{Key: bucket(i), Title: bucket(i), Unit: bench.Percent, Less: i > 0})
	}
	columns = append(columns, bench.Column{Key: beyond, Title: beyond, Unit: bench.Percent, Less: true},
		bench.Column{Key: "rate", Title: "requests/s", Unit: bench.PerSecond})
	ping := pingTable()
	rows := ping.Rows
	for i := range rows {
		rows[i].Published = map[string]string{
			"JSON":    "0 ~ 5: 35.85%, 5 ~ 10: 46.81%, 10 ~ 20: 17.24%, 20 ~ 30: 0.10%",
			"Hessian": "0 ~ 5: 9.88%, 5 ~ 10: 19.75%, 10 ~ 20: 64.58%, 20 ~ 30: 5.71%, 30 ~ 40: 0.07%, 200 ~ 300: 0.00%",
		}[rows[i].Group]
		if rows[i].Name != "node-hsf" {
			rows[i].Published = ""
		}
	}
	return bench.Table{Name: "distribution", Title: "Response times of ping", Columns: columns, Rows: rows, Duration: callsWhole, Quick: callsQuick,
		About: "The shares of calls by their response time, as the report prints them; the first five buckets are 0 ~ 5 ms there. One operation is a call of ping." + method}
}
