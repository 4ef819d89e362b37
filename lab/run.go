package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/report"
	"github.com/sabir-go/sabir/lab/seeds"
)

func runCommand() *cobra.Command {
	var chosen selection
	var quick bool
	var file string
	var rounds int
	var duration time.Duration
	c := &cobra.Command{
		Use:   "run",
		Short: "Measure, and show the tables",
		Long: `Run measures the tables one after another. The rows of a table take turns: each is measured once in every round, so that
what disturbs the machine disturbs all alike. Rows whose ratio is not known well enough after that are measured in more rounds, three times
as many at most. Programs are built, and peers installed from their registries, when they are first
needed; what cannot be had keeps its row, with the reason.

Use a machine that does nothing else. Ctrl-C ends the run and keeps what was measured. The results go to a file after each table;
"lab report" makes a page of them.`,
		Example: `  go run -C lab . run --quick --seed go-micro
  go run -C lab . run --seed moleculer --table events --row sabir,moleculer
  go run -C lab . run --json results/2026-11-23.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := chosen.choose(seeds.All())
			if err != nil {
				return err
			}
			if file == "" {
				if file, err = lastRun(); err != nil {
					return err
				}
			}
			plan := bench.Whole
			if quick {
				plan = bench.Quick
			}
			if c.Flags().Changed("rounds") {
				if rounds < 1 {
					return fmt.Errorf("--rounds %d: want 1 or more", rounds)
				}
				plan.Rounds, plan.Most = rounds, rounds
			}
			if c.Flags().Changed("duration") {
				if duration <= 0 {
					return fmt.Errorf("--duration %v: want more than 0", duration)
				}
				plan.Duration, plan.Fixed = duration, true
			}
			return run(c, plan, all, file)
		},
	}
	chosen.flags(c)
	c.Flags().BoolVar(&quick, "quick", false, "three short rounds of every row instead of five of a second")
	c.Flags().StringVar(&file, "json", "", `write the results to this file (default: "last.json" in the user's cache folder)`)
	c.Flags().IntVar(&rounds, "rounds", 0, "measure each row so many times, and no more (default 5 to 15, quick 3 to 9)")
	c.Flags().DurationVar(&duration, "duration", 0, "length of each measurement, for all tables (default: the table's own)")
	return c
}

// lastRun returns the file for the results of a run without --json.
func lastRun() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no cache folder: give a file with --json: %w", err)
	}
	dir := filepath.Join(cache, "sabir-lab")
	return filepath.Join(dir, "last.json"), os.MkdirAll(dir, 0o755)
}

func run(c *cobra.Command, plan bench.Plan, all []bench.Seed, file string) error {
	bar := newProgress(c.ErrOrStderr())
	var saving error
	shown := 0
	results := plan.Run(c.Context(), all, bar, func(r *bench.Results) {
		err := r.Save(file)
		if err != nil && saving == nil { // the tables are still shown
			bar.Note("%v", err)
		}
		saving = err
		tables := 0
		for _, s := range r.Seeds {
			for _, t := range s.Tables {
				if tables++; tables > shown {
					bar.clear()
					fmt.Fprintf(c.OutOrStdout(), "\n%s: %s\n\n", s.Title, t.Title)
					report.Text(c.OutOrStdout(), t)
				}
			}
		}
		shown = tables
	})
	bar.end()
	if saving == nil {
		bar.Note("\nmeasured for %s; the results are in %s: lab report makes a page of them", results.Took.Round(time.Second), file)
	}
	if results.Cut {
		return errors.Join(errors.New("ended before its end: what was measured is kept"), saving)
	}
	return saving
}
