package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/lab/table"
)

// figures are the medians of a group's runs.
type figures struct {
	Contender     string       `json:"contender"`
	Codec         string       `json:"codec"`
	Settings      string       `json:"settings"`
	Limit         bool         `json:"limit"`
	Callers       int          `json:"callers"`
	Runs          int          `json:"runs"`
	PerSecond     table.Spread `json:"per_second"`
	Mean          table.Spread `json:"mean_ns"`
	P50           table.Spread `json:"p50_ns"`
	P99           table.Spread `json:"p99_ns"`
	P999          table.Spread `json:"p999_ns"`
	CPU           table.Spread `json:"cpu_ns"`        // client, server and broker, a call
	BrokerCPU     table.Spread `json:"broker_cpu_ns"` // the broker's part of that
	ClientMallocs table.Spread `json:"client_allocs"`
	ServerMallocs table.Spread `json:"server_allocs"`
	Errors        int64        `json:"errors"`   // of all runs
	Problems      []string     `json:"problems"` // each text once
}

func (g group) figures() figures {
	of := func(value func(outcome) float64) table.Spread {
		values := make([]float64, len(g.outcomes))
		for i, o := range g.outcomes {
			values[i] = value(o)
		}
		return table.SpreadOf(values)
	}
	perCall := func(value func(outcome) float64) table.Spread {
		return of(func(o outcome) float64 { return value(o) / float64(max(o.Calls, 1)) })
	}
	f := figures{
		Contender: g.contender.name, Codec: g.contender.codec, Settings: g.contender.settings, Limit: g.contender.limit,
		Callers: g.callers, Runs: len(g.outcomes),
		PerSecond:     of(func(o outcome) float64 { return float64(o.Calls) / o.Elapsed.Seconds() }),
		Mean:          of(func(o outcome) float64 { return o.Mean }),
		P50:           of(func(o outcome) float64 { return o.P50 }),
		P99:           of(func(o outcome) float64 { return o.P99 }),
		P999:          of(func(o outcome) float64 { return o.P999 }),
		CPU:           perCall(func(o outcome) float64 { return float64(o.Client.CPU + o.Server.CPU + o.Broker.CPU) }),
		BrokerCPU:     perCall(func(o outcome) float64 { return float64(o.Broker.CPU) }),
		ClientMallocs: perCall(func(o outcome) float64 { return float64(o.Client.Mallocs) }),
		ServerMallocs: perCall(func(o outcome) float64 { return float64(o.Server.Mallocs) }),
		Errors:        int64(len(g.failures)),
		Problems:      slices.Clone(g.failures),
	}
	for _, o := range g.outcomes {
		f.Errors += o.Errors
		if o.Problem != "" {
			f.Problems = append(f.Problems, o.Problem)
		}
	}
	slices.Sort(f.Problems)
	f.Problems = slices.Compact(f.Problems)
	return f
}

// document is the -json output.
type document struct {
	Mode       mode      `json:"mode"`
	BlobBytes  int       `json:"blob_bytes,omitempty"`
	Runs       int       `json:"runs"`
	Duration   string    `json:"duration"`
	Go         string    `json:"go"`
	CPUs       int       `json:"cpus"`
	Contenders []figures `json:"contenders"`
	Missing    []string  `json:"missing"`
}

func writeJSON(out io.Writer, p plan, groups []group) error {
	doc := document{Mode: p.mode, BlobBytes: p.size, Runs: p.runs, Duration: p.duration.String(), Go: runtime.Version(),
		CPUs: runtime.NumCPU(), Missing: missing()}
	for _, g := range groups {
		doc.Contenders = append(doc.Contenders, g.figures())
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(doc)
}

func writeTables(out io.Writer, p plan, groups []group) error {
	fmt.Fprintf(out, "%s. Medians of runs of %s, %d each; %s, %d CPUs, two processes on loopback.\n", p.title(), p.duration, p.runs,
		runtime.Version(), runtime.NumCPU())
	for _, callers := range p.callers {
		var all []figures
		for _, g := range groups {
			if g.callers == callers {
				all = append(all, g.figures())
			}
		}
		fmt.Fprintf(out, "\n%d %s\n\n", callers, p.callersAre(callers))
		if err := p.tableOf(all).Print(out); err != nil {
			return err
		}
		for _, f := range all {
			for _, problem := range f.Problems {
				fmt.Fprintf(out, "! %s: %s\n", f.Contender, short(problem))
			}
		}
	}
	fmt.Fprintln(out)
	for _, text := range missing() {
		fmt.Fprintf(out, "Missing: %s\n", text)
	}
	return nil
}

// shortBytes is how much of an error's text the table shows; -json has all of it.
const shortBytes = 300

func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > shortBytes {
		return strings.ToValidUTF8(text[:shortBytes], "") + " …"
	}
	return text
}

func (p plan) title() string {
	switch p.mode {
	case echoMode:
		return fmt.Sprintf("Echo of one field of %s bytes", table.Count(float64(p.size)))
	case streamMode:
		return fmt.Sprintf("Streams, messages of %s bytes one way", table.Count(float64(p.size)))
	}
	return "Echo of the 677-byte message, reply 611 bytes (raw and mux rows: 677 both ways)"
}

func (p plan) callersAre(n int) string {
	word := "caller"
	if p.mode == streamMode {
		word = "stream"
	}
	if n > 1 {
		word += "s"
	}
	return word
}

// tableOf has the peers first and then the limits, each from the fastest to the slowest.
func (p plan) tableOf(all []figures) *table.Table {
	header := []string{"contender", "per second", "min", "max"}
	if p.mode != callMode {
		header = append(header, "MB/s")
	}
	if p.mode != streamMode {
		header = append(header, "mean µs", "p50", "p99", "p99.9")
	}
	header = append(header, "CPU µs", "allocs client", "server", "errors", "codec", "settings")
	t := table.New(header...)
	slices.SortStableFunc(all, func(a, b figures) int {
		if a.Limit != b.Limit {
			return map[bool]int{false: -1, true: 1}[a.Limit]
		}
		return -cmp.Compare(a.PerSecond.Median, b.PerSecond.Median)
	})
	ruled := false
	for _, f := range all {
		if f.Limit && !ruled {
			t.Rule("limits: less work than any library does")
			ruled = true
		}
		t.Row(p.row(f)...)
	}
	return t
}

func (p plan) row(f figures) []string {
	cells := []string{f.Contender, table.Count(f.PerSecond.Median), table.Count(f.PerSecond.Min), table.Count(f.PerSecond.Max)}
	if p.mode != callMode {
		cells = append(cells, table.Count(f.PerSecond.Median*float64(p.size)/1e6))
	}
	if p.mode != streamMode {
		cells = append(cells, table.Micros(f.Mean.Median), table.Micros(f.P50.Median), table.Micros(f.P99.Median), table.Micros(f.P999.Median))
	}
	if f.Runs == 0 {
		for i := range cells[1:] {
			cells[i+1] = "-"
		}
		return append(cells, "-", "-", "-", table.Count(float64(f.Errors)), f.Codec, f.Settings)
	}
	return append(cells, table.Micros(f.CPU.Median), table.Digits(f.ClientMallocs.Median), table.Digits(f.ServerMallocs.Median),
		table.Count(float64(f.Errors)), f.Codec, f.Settings)
}
