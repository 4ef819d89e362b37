package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/sabir-go/sabir/lab/table"
)

// results answers questions about measured cells.
type results struct {
	codecs []codec
	cells  []*cell
}

func (r results) find(codec, shape string, d direction) *cell {
	for _, c := range r.cells {
		if c.Codec == codec && c.Shape == shape && c.Direction == d {
			return c
		}
	}
	return nil
}

// base is the time of the better of the baselines that were measured; 0 if none was.
func (r results) base(shape string, d direction) float64 {
	best := 0.0
	for _, name := range baselines {
		if c := r.find(name, shape, d); c != nil && (best == 0 || c.Nanos.Median < best) {
			best = c.Nanos.Median
		}
	}
	return best
}

func (r results) write(out io.Writer, p plan) error {
	fmt.Fprintf(out, "Codecs, eight shapes. Medians of %d interleaved rounds of %s; %s, %d CPUs.\n", p.rounds, p.round, runtime.Version(), runtime.NumCPU())
	for _, d := range []direction{encoding, decoding} {
		fmt.Fprintf(out, "\n%s, ns per message (± half of max - min, in percent)\n\n", d)
		err := r.table("geometric mean", d, func(c *cell) (string, float64) {
			return fmt.Sprintf("%s ±%.0f%%", table.Digits(c.Nanos.Median), c.Nanos.Percent()), c.Nanos.Median
		}).Print(out)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s, times as fast as %v\n\n", d, baselines)
		err = r.table("geometric mean", d, func(c *cell) (string, float64) {
			ratio := r.base(c.Shape, d) / c.Nanos.Median
			return fmt.Sprintf("%.2fx", ratio), ratio
		}).Print(out)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s, allocations per message\n\n", d)
		err = r.table("", d, func(c *cell) (string, float64) { return fmt.Sprintf("%.0f", c.Allocs), 0 }).Print(out)
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nbytes on the wire\n\n")
	err := r.table("geometric mean", encoding, func(c *cell) (string, float64) { return fmt.Sprint(c.Bytes), float64(c.Bytes) }).Print(out)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	settings := table.New("codec", "fields may come and go", "settings")
	for _, c := range r.codecs {
		settings.Row(c.name, c.evolves, c.settings)
	}
	if err := settings.Print(out); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, text := range missing() {
		fmt.Fprintf(out, "Missing: %s\n", text)
	}
	return nil
}

// table has a row for each codec and a column for each shape; mean, where it has a name, is a further column with the
// geometric mean of the row.
func (r results) table(mean string, d direction, show func(*cell) (string, float64)) *table.Table {
	header := append([]string{"codec"}, shapes...)
	if mean != "" {
		header = append(header, mean)
	}
	t := table.New(header...)
	for _, c := range r.codecs {
		row, values := []string{c.name}, []float64{}
		for _, shape := range shapes {
			one := r.find(c.name, shape, d)
			if one == nil {
				continue
			}
			text, value := show(one)
			row, values = append(row, text), append(values, value)
		}
		if mean != "" {
			row = append(row, table.Digits(table.GeometricMean(values)))
		}
		t.Row(row...)
	}
	return t
}

// document is the -json output.
type document struct {
	Rounds    int        `json:"rounds"`
	Round     string     `json:"round"`
	Go        string     `json:"go"`
	CPUs      int        `json:"cpus"`
	Codecs    []describe `json:"codecs"`
	Cells     []*cell    `json:"cells"`
	Baselines []string   `json:"baselines"`
	Missing   []string   `json:"missing"`
}

type describe struct {
	Name     string  `json:"name"`
	Evolves  string  `json:"evolves"`
	Settings string  `json:"settings"`
	Encode   float64 `json:"encode_ns_geometric_mean"`
	Decode   float64 `json:"decode_ns_geometric_mean"`
}

func (r results) writeJSON(out io.Writer, p plan) error {
	doc := document{Rounds: p.rounds, Round: p.round.String(), Go: runtime.Version(), CPUs: runtime.NumCPU(), Cells: r.cells,
		Baselines: slices.Clone(baselines), Missing: missing()}
	for _, c := range r.codecs {
		mean := func(d direction) float64 {
			var values []float64
			for _, one := range r.cells {
				if one.Codec == c.name && one.Direction == d {
					values = append(values, one.Nanos.Median)
				}
			}
			return table.GeometricMean(values)
		}
		doc.Codecs = append(doc.Codecs, describe{c.name, c.evolves, c.settings, mean(encoding), mean(decoding)})
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(doc)
}
