// Command codecs measures Sabir's native codec against other Go codecs on eight shapes, encoding and decoding apart.
//
//	go run ./codecs            the tables
//	go run ./codecs -quick     a smoke run
//	go test ./codecs -bench .  the same loops as Go benchmarks
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "codecs:", err)
		os.Exit(1)
	}
}

// plan is what the flags ask for.
type plan struct {
	codecs []codec
	rounds int
	round  time.Duration
	json   bool
}

func planOf(args []string, messages io.Writer) (plan, error) {
	flags := flag.NewFlagSet("codecs", flag.ContinueOnError)
	flags.SetOutput(messages)
	rounds := flags.Int("rounds", 5, "rounds; the medians are shown")
	round := flags.Duration("round", 50*time.Millisecond, "time for each codec, shape and direction in a round")
	only := flags.String("only", "", "codecs whose names contain one of these, a list")
	quick := flags.Bool("quick", false, "a smoke run: one round of 1ms, few codecs")
	asJSON := flags.Bool("json", false, "write JSON")
	if err := flags.Parse(args); err != nil {
		return plan{}, err
	}
	if flags.NArg() > 0 {
		return plan{}, fmt.Errorf("%q is not a flag; see -help", flags.Arg(0))
	}
	p := plan{rounds: *rounds, round: *round, json: *asJSON}
	if *quick {
		p.rounds, p.round = 1, time.Millisecond
	}
	if p.rounds < 1 || p.round < 100*time.Microsecond {
		return plan{}, fmt.Errorf("-rounds %d -round %s: want at least 1 round of 100µs", p.rounds, p.round)
	}
	var all []string
	for _, c := range codecs() {
		all = append(all, c.name)
		if *only == "" && (c.quick || !*quick) || *only != "" && containsOne(c.name, *only) {
			p.codecs = append(p.codecs, c)
		}
	}
	if len(p.codecs) == 0 {
		return plan{}, fmt.Errorf("no codec has -only %q in its name; all: %s", *only, strings.Join(all, "; "))
	}
	return p, nil
}

func containsOne(name, list string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.Contains(name, strings.TrimSpace(part)) {
			return true
		}
	}
	return false
}

// run measures each cell once in every round, so that noise hits all alike.
func run(ctx context.Context, args []string, out, progress io.Writer) error {
	p, err := planOf(args, progress)
	if err != nil {
		return err
	}
	cells, err := cellsOf(p.codecs, p.round)
	if err != nil {
		return err
	}
	bar := progressOf(len(cells)*p.rounds, progress)
	for range p.rounds {
		for _, c := range cells {
			if ctx.Err() != nil {
				return fmt.Errorf("stopped before the end: %w", ctx.Err())
			}
			if err := c.round(); err != nil {
				return err
			}
			bar.Add(1)
		}
	}
	bar.Finish()
	r := results{codecs: p.codecs, cells: cells}
	if p.json {
		return r.writeJSON(out, p)
	}
	return r.write(out, p)
}

// progressOf shows a bar on a terminal and nothing elsewhere.
func progressOf(steps int, to io.Writer) *progressbar.ProgressBar {
	if file, ok := to.(*os.File); !ok || !term.IsTerminal(int(file.Fd())) {
		return progressbar.DefaultSilent(int64(steps))
	}
	return progressbar.NewOptions(steps, progressbar.OptionSetWriter(to), progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
}
