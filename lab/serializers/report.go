package main

import (
	"cmp"
	stdjson "encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"

	"github.com/sabir-go/sabir/lab/table"
)

// report prints each group when it is measured, and in the end what is slower than a peer.
type report struct {
	plan    plan
	out     io.Writer
	missing []string
	colour  bool
	begun   bool
	slower  []string
}

func (r *report) nanos(one *row, d direction) table.Spread {
	if r.plan.wall {
		return one.Wall[d].Spread
	}
	return one.CPU[d].Spread
}

// fastest is the time of the fastest peer, of one format or of any (""); 0 if there is none.
func (r *report) fastest(g *group, format string, d direction) (nanos float64, name string) {
	for _, one := range g.Rows {
		if one.Ours || format != "" && one.Format != format {
			continue
		}
		if n := r.nanos(one, d).Median; nanos == 0 || n < nanos {
			nanos, name = n, one.Name
		}
	}
	return nanos, name
}

func (r *report) group(g *group) error {
	if r.plan.json {
		return nil
	}
	if !r.begun {
		r.begun = true
		clock := "CPU time of all threads"
		if r.plan.wall {
			clock = "wall-clock time"
		}
		fmt.Fprintf(r.out, `Messages per second (%s), medians of %d interleaved rounds of %s; ±%% is half of max - min.
%s, %d CPUs, GOGC=%s. Packets hold Moleculer's envelope on both sides; "JSON inside" is the layout that Moleculer gives to Avro, ProtoBuf and Thrift.
x format: times as fast as the fastest peer of the same format; x any: of all peers in the table. "!" and red: slower than that peer.
`, clock, r.plan.rounds, r.plan.duration, runtime.Version(), runtime.NumCPU(), cmp.Or(os.Getenv("GOGC"), "100"))
	}
	fmt.Fprintf(r.out, "\n%s: %d bytes of JSON\n\n", g.Title, g.Bytes)
	t := table.New("contender", "format", "bytes", "serialize/s", "±%", "x format", "x any", "deserialize/s", "±% ", "x format", "x any")
	for _, ours := range []bool{false, true} {
		for _, one := range g.Rows {
			if one.Ours == ours {
				t.Row(r.cells(g, one)...)
			}
		}
	}
	return r.print(t)
}

func (r *report) cells(g *group, one *row) []string {
	name := one.Name
	if one.Ours {
		name = "Sabir " + name
	}
	cells := []string{name, one.Format, fmt.Sprint(one.Bytes)}
	for _, d := range []direction{encoding, decoding} {
		nanos := r.nanos(one, d)
		cells = append(cells, table.Count(1e9/nanos.Median), table.Digits(nanos.Percent()))
		for _, format := range []string{one.Format, ""} {
			peer, peerName := r.fastest(g, format, d)
			if !one.Ours || peer == 0 {
				cells = append(cells, "")
				continue
			}
			ratio := peer / nanos.Median
			text := fmt.Sprintf("%.2f", ratio)
			if ratio < 1 {
				text += "!"
				r.slower = append(r.slower, slowness(g, one, d, format, peerName, ratio))
			}
			cells = append(cells, text)
		}
	}
	return cells
}

func slowness(g *group, one *row, d direction, format, peer string, ratio float64) string {
	of := "any"
	if format != "" {
		of = "its format"
	}
	return fmt.Sprintf("%-15s %-33s %-7s %.2f of the fastest peer of %s, %s", g.Title, one.Name, d, ratio, of, peer)
}

// print marks what is slower than a peer in red, on a terminal.
func (r *report) print(t *table.Table) error {
	var text strings.Builder
	if err := t.Print(&text); err != nil {
		return err
	}
	shown := text.String()
	if r.colour {
		shown = regexp.MustCompile(`[0-9.]+!`).ReplaceAllString(shown, "\x1b[31m$0\x1b[0m")
	}
	_, err := io.WriteString(r.out, shown)
	return err
}

func (r *report) end(groups []*group) error {
	if r.plan.json {
		encoder := stdjson.NewEncoder(r.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string]any{"go": runtime.Version(), "cpus": runtime.NumCPU(), "rounds": r.plan.rounds,
			"duration": r.plan.duration.String(), "groups": groups, "missing": r.missing})
	}
	if len(r.slower) > 0 {
		fmt.Fprintf(r.out, "\nSlower than a peer:\n\n%s\n", strings.Join(r.slower, "\n"))
	}
	if len(r.missing) > 0 {
		fmt.Fprintf(r.out, "\nMissing:\n\n%s\n", strings.Join(r.missing, "\n"))
	}
	return nil
}
