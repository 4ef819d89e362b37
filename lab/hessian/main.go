// Command hessian measures Sabir's Hessian and JSON codecs against dubbo-go-hessian2, encoding/json and, where Node and npm
// are there, hessian.js and Node's own JSON, on the complex object of node-hsf's benchmark and on small values.
//
//	go run ./hessian          the table
//	go run ./hessian -node=false -rounds 25 -round 20ms   Go's side alone, for a noisy machine
//	go run ./hessian -quick   a smoke run, without Node
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"time"

	"github.com/sabir-go/sabir/lab/table"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "hessian:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, messages io.Writer) error {
	flags := flag.NewFlagSet("hessian", flag.ContinueOnError)
	flags.SetOutput(messages)
	rounds := flags.Int("rounds", 5, "rounds; the medians are shown")
	round := flags.Duration("round", 50*time.Millisecond, "time for each cell in a round")
	withNode := flags.Bool("node", true, "measure Node's side too, where npm is here")
	quick := flags.Bool("quick", false, "a smoke run: one round of 1ms, without Node")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *quick {
		*rounds, *round = 1, time.Millisecond
	}
	if *rounds < 1 || *round < time.Millisecond {
		return fmt.Errorf("-rounds %d -round %s: want at least 1 round of 1ms", *rounds, *round)
	}
	if err := check(contenders()); err != nil {
		return err
	}
	var js *node
	if *withNode && !*quick {
		var err error
		if js, err = peers(ctx, messages); err != nil {
			return err
		}
	}
	cells, err := allCells(*round)
	if err != nil {
		return err
	}
	for range *rounds {
		for _, c := range cells {
			if c.loop == nil {
				continue
			}
			if ctx.Err() != nil {
				return fmt.Errorf("stopped before the end: %w", ctx.Err())
			}
			if err := c.round(); err != nil {
				return err
			}
		}
		if js == nil {
			continue
		}
		measured, err := js.round(ctx, *round)
		if err != nil {
			return err
		}
		cells = merge(cells, measured)
	}
	return write(out, cells)
}

// peers returns Node's side, or nil and a message where there is none.
func peers(ctx context.Context, messages io.Writer) (*node, error) {
	if _, err := exec.LookPath("npm"); err != nil {
		fmt.Fprintln(messages, "Node is not here, so hessian.js is not measured: install nodejs and npm")
		return nil, nil
	}
	return newNode(ctx)
}

func allCells(round time.Duration) ([]*cell, error) {
	var all []*cell
	for _, v := range values {
		contending := contenders()
		if v.name == "complex" {
			contending = append(contending, typed()...)
		}
		for _, c := range contending {
			value := v.value
			if slices.ContainsFunc(typed(), func(t contender) bool { return t.name == c.name }) {
				var err error
				if value, err = asStruct(c, v.value); err != nil {
					return nil, err
				}
			}
			cells, err := cellsOf(c, v.name, value)
			if err != nil {
				return nil, err
			}
			all = append(all, cells...)
		}
	}
	slices.SortStableFunc(all, func(a, b *cell) int { // the same work of all contenders in a row, so that they meet the same noise
		return cmp.Or(cmp.Compare(order(a.Value), order(b.Value)), -cmp.Compare(a.Direction, b.Direction))
	})
	for _, c := range all {
		if err := c.calibrate(round); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// asStruct makes the struct of the complex object.
func asStruct(c contender, v any) (any, error) {
	data, err := c.encode(nil, v)
	if err != nil {
		return nil, err
	}
	return c.decode(data)
}

// merge adds the runs of cells that were measured elsewhere.
func merge(cells, more []*cell) []*cell {
	for _, m := range more {
		at := slices.IndexFunc(cells, func(c *cell) bool {
			return c.Contender == m.Contender && c.Value == m.Value && c.Direction == m.Direction
		})
		if at < 0 {
			cells = append(cells, m)
			continue
		}
		cells[at].runs = append(cells[at].runs, m.runs...)
		cells[at].Nanos = table.SpreadOf(cells[at].runs)
	}
	return cells
}

// write prints the medians, and how many times as long as Sabir's codecs each peer takes: the median of the rounds' ratios,
// since what is measured within a second meets the same noise.
func write(out io.Writer, cells []*cell) error {
	ours := make(map[string][]float64)
	for _, c := range cells {
		ours[c.Contender+c.Value+c.Direction] = c.runs
	}
	ratio := func(c *cell, to string) string {
		var ratios []float64
		for i, of := range ours[to+c.Value+c.Direction] {
			if i < len(c.runs) && of > 0 {
				ratios = append(ratios, c.runs[i]/of)
			}
		}
		return table.Digits(table.SpreadOf(ratios).Median)
	}
	slices.SortStableFunc(cells, func(a, b *cell) int {
		return cmp.Or(cmp.Compare(order(a.Value), order(b.Value)), -cmp.Compare(a.Direction, b.Direction))
	})
	t := table.New("value", "direction", "contender", "ns", "±%", "bytes", "x hessian", "x json")
	for _, c := range cells {
		t.Row(c.Value, c.Direction, c.Contender, table.Digits(c.Nanos.Median), table.Digits(c.Nanos.Percent()), fmt.Sprint(c.Bytes), ratio(c, "Sabir hessian"), ratio(c, "Sabir json"))
	}
	fmt.Fprintln(out, "CPU time, medians of the rounds; ±% is half of what lies between the least and the greatest. x hessian and x json: the time in\nunits of Sabir's codec of that format on the same value without a Go type, in the same round; the median.")
	return t.Print(out)
}

func order(name string) int {
	for i, v := range values {
		if v.name == name {
			return i
		}
	}
	return len(values)
}
