package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/sabir-go/sabir/lab/table"
)

// carriersDocument is the -json output of -carriers.
type carriersDocument struct {
	Runs     int              `json:"runs"`
	Duration string           `json:"duration"`
	Go       string           `json:"go"`
	CPUs     int              `json:"cpus"`
	Rows     []carriedFigures `json:"rows"`
	Missing  []string         `json:"missing"`
}

// runCarriers measures and reports; each carrier's table comes as soon as it is measured.
func (p plan) runCarriers(ctx context.Context, out, progress io.Writer) error {
	if !p.json {
		fmt.Fprintf(out, "Calls over each carrier. Medians of runs of %s, %d each, interleaved in a carrier; %s, %d CPUs, two processes on loopback and the broker.\n",
			p.duration, p.runs, runtime.Version(), runtime.NumCPU())
	}
	doc := carriersDocument{Runs: p.runs, Duration: p.duration.String(), Go: runtime.Version(), CPUs: runtime.NumCPU()}
	missing, err := p.measureCarriers(ctx, progress, func(c carrierGroups) error {
		rows := c.figures()
		doc.Rows = append(doc.Rows, rows...)
		if p.json {
			return nil
		}
		return writeCarrier(out, c, rows)
	})
	if err != nil {
		return err
	}
	doc.Missing = missing
	if p.json {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(doc)
	}
	return writeSummary(out, doc)
}

func writeCarrier(out io.Writer, c carrierGroups, rows []carriedFigures) error {
	fmt.Fprintf(out, "\n%s, %d callers\n\n", c.carrier.name, c.callers)
	t := table.New("row", "message", "per second", "min", "max", "sabir is", "wanted", "mean µs", "p50", "p99", "p99.9", "CPU µs", "of it broker",
		"allocs client", "server", "errors", "codec", "settings")
	for i, f := range rows {
		if i > 0 && rows[i-1].Ours != f.Ours {
			t.Rule("peers on this carrier")
		}
		if f.Limit {
			t.Rule("limit: the library with 25 messages a write and no codec")
		}
		t.Row(carriedCells(f, c.carrier.rows[i].node)...)
	}
	if err := t.Print(out); err != nil {
		return err
	}
	for _, f := range rows {
		for _, problem := range f.Problems {
			fmt.Fprintf(out, "! %s: %s\n", f.Contender, short(problem))
		}
	}
	return nil
}

func carriedCells(f carriedFigures, node bool) []string {
	cells := []string{f.Contender, f.Message}
	if f.Runs == 0 {
		for range 13 {
			cells = append(cells, "-")
		}
		return append(cells, table.Count(float64(f.Errors)), f.Codec, f.Settings)
	}
	client, server := table.Digits(f.ClientMallocs.Median), table.Digits(f.ServerMallocs.Median)
	if node {
		client, server = "-", "-"
	}
	return append(cells, table.Count(f.PerSecond.Median), table.Count(f.PerSecond.Min), table.Count(f.PerSecond.Max), times(f.Ratio), times(f.Want),
		table.Micros(f.Mean.Median), table.Micros(f.P50.Median), table.Micros(f.P99.Median), table.Micros(f.P999.Median),
		table.Micros(f.CPU.Median), table.Micros(f.BrokerCPU.Median), client, server, table.Count(float64(f.Errors)), f.Codec, f.Settings)
}

func times(ratio float64) string {
	if ratio == 0 {
		return ""
	}
	return fmt.Sprintf("%.2fx", ratio)
}

// writeSummary is every peer and every limit of all carriers in one table.
func writeSummary(out io.Writer, doc carriersDocument) error {
	t := table.New("carrier", "callers", "message", "sabir per second", "against", "per second", "sabir is", "wanted", "", "with protobuf", "its CPU µs", "sabir's")
	for _, f := range doc.Rows {
		if f.Ours {
			continue
		}
		mine, cpu := "-", "-"
		for _, ours := range doc.Rows {
			if ours.Ours && ours.Contender == f.Than && ours.Callers == f.Callers && ours.small() == f.small() {
				mine, cpu = table.Count(ours.PerSecond.Median), table.Micros(ours.CPU.Median)
			}
		}
		t.Row(f.Carrier, fmt.Sprint(f.Callers), f.Message, mine, f.Contender, table.Count(f.PerSecond.Median), times(f.Ratio), times(f.Want), f.verdict(),
			times(f.SameCodec), table.Micros(f.CPU.Median), cpu)
	}
	fmt.Fprintf(out, "\nSabir against all of them\n\n")
	if err := t.Print(out); err != nil {
		return err
	}
	fmt.Fprintln(out, "\n677 B* is the same message as JSON, longer. CPU is that of client, server and broker, a call.")
	fmt.Fprintln(out, `"sabir is" is Sabir with its own codec; "with protobuf" has the codec of that peer on both sides.`)
	for _, text := range doc.Missing {
		fmt.Fprintf(out, "! NOT MEASURED: %s\n", text)
	}
	return nil
}

func (f carriedFigures) small() bool { return f.Message == "10 B" }
