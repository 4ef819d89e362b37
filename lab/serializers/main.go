// Command serializers measures Sabir's codecs against the serializers of Moleculer on packets of seven sizes, and against the
// Hessian and JSON libraries of Node, Java and Go on the values of node-hsf's benchmark.
//
//	go run ./serializers                    both tables
//	go run ./serializers -table packets     Moleculer's sizes only
//	go run ./serializers -table values      node-hsf's values only
//	go run ./serializers -quick             a smoke run
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

func main() {
	if child, err := serveChild(); child {
		if err != nil {
			fmt.Fprintln(os.Stderr, "serializers:", err)
			os.Exit(1)
		}
		return
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "serializers:", err)
		os.Exit(1)
	}
}

// plan is what the flags ask for.
type plan struct {
	tables    []string
	values    []string // empty: all
	rows      []string // empty: all
	languages []string
	rounds    int
	duration  time.Duration
	quick     bool
	wall      bool
	json      bool
}

func planOf(args []string, messages io.Writer) (plan, error) {
	flags := flag.NewFlagSet("serializers", flag.ContinueOnError)
	flags.SetOutput(messages)
	tables := flags.String("table", "packets,values", "packets, values or both, a list")
	values := flags.String("values", "", "packets and values by their names, such as 10,1k,100k or ping, a list; empty: all")
	rows := flags.String("rows", "", "contenders whose names contain one of these, a list; empty: all")
	languages := flags.String("languages", "node,java", "languages whose peers are measured beside Go's, a list; Go is always there")
	rounds := flags.Int("rounds", 5, "rounds; the medians are shown")
	duration := flags.Duration("duration", 50*time.Millisecond, "time for each contender and direction in a round")
	wall := flags.Bool("wall", false, "count wall-clock time instead of CPU time; for a machine where nothing else runs")
	quick := flags.Bool("quick", false, "a smoke run: one round of 1ms, without waiting for compilers")
	asJSON := flags.Bool("json", false, "write JSON, with both times")
	if err := flags.Parse(args); err != nil {
		return plan{}, err
	}
	if flags.NArg() > 0 {
		return plan{}, fmt.Errorf("%q is not a flag; see -help", flags.Arg(0))
	}
	p := plan{tables: listOf(*tables), values: listOf(*values), rows: listOf(*rows), languages: listOf(*languages), rounds: *rounds,
		duration: *duration, quick: *quick, wall: *wall, json: *asJSON}
	if p.quick {
		p.rounds, p.duration = 1, time.Millisecond
	}
	if p.rounds < 1 || p.duration < time.Millisecond {
		return plan{}, fmt.Errorf("-rounds %d -duration %s: want at least 1 round of 1ms", p.rounds, p.duration)
	}
	for _, name := range p.tables {
		if name != "packets" && name != "values" {
			return plan{}, fmt.Errorf("-table %s: want packets, values or both", name)
		}
	}
	for _, name := range p.languages {
		if name != "node" && name != "java" {
			return plan{}, fmt.Errorf("-languages %s: want node, java or both", name)
		}
	}
	return p, nil
}

func listOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

func (p plan) wants(row string) bool {
	return len(p.rows) == 0 || slices.ContainsFunc(p.rows, func(part string) bool { return strings.Contains(row, part) })
}

// groups are the tables that are asked for.
func (p plan) groups() ([]*group, error) {
	var groups []*group
	var names []string
	for _, s := range specs {
		name := strings.TrimPrefix(s.title, "packet ")
		names = append(names, name)
		if !slices.Contains(p.tables, s.table) || len(p.values) > 0 && !slices.Contains(p.values, strings.Fields(name)[0]) {
			continue
		}
		g, err := s.make(s.title)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.title, err)
		}
		groups = append(groups, g)
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("-table %s -values %s: want some of %s", strings.Join(p.tables, ","), strings.Join(p.values, ","), strings.Join(names, ", "))
	}
	return groups, nil
}

// programs are those of the languages that are here; the others are named as missing.
func (p plan) programs(ctx context.Context, messages io.Writer) (found map[string]program, missing []string) {
	found = make(map[string]program)
	for _, name := range p.languages {
		install := nodeProgram
		if name == "java" {
			if !slices.Contains(p.tables, "values") {
				continue
			}
			install = javaProgram
		}
		program, err := install(ctx, messages)
		if err != nil {
			missing = append(missing, fmt.Sprintf("the peers of %s: %v", name, err))
			continue
		}
		found[name] = program
	}
	return found, missing
}

func run(ctx context.Context, args []string, out, messages io.Writer) error {
	p, err := planOf(args, messages)
	if err != nil {
		return err
	}
	groups, err := p.groups()
	if err != nil {
		return err
	}
	programs, missing := p.programs(ctx, messages)
	if slices.ContainsFunc(groups, func(g *group) bool { return g.Bytes >= gobAnyLimit }) {
		missing = append(missing, "gob with an any in packet 1M: the codec takes at most 1 MiB for such a type")
	}
	for _, text := range missing {
		fmt.Fprintln(messages, "missing:", text)
	}
	bar := progressOf(len(groups)*p.rounds, messages)
	report := report{plan: p, out: out, missing: missing, colour: isTerminal(out)}
	for _, g := range groups {
		if err := g.measure(ctx, p, programs, func() { bar.Add(1) }); err != nil {
			return err
		}
		if err := report.group(g); err != nil {
			return err
		}
	}
	bar.Finish()
	return report.end(groups)
}

// progressOf shows a bar on a terminal and nothing elsewhere.
func progressOf(steps int, to io.Writer) *progressbar.ProgressBar {
	if !isTerminal(to) {
		return progressbar.DefaultSilent(int64(steps))
	}
	return progressbar.NewOptions(steps, progressbar.OptionSetWriter(to), progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
