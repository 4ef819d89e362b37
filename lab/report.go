package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/report"
	"github.com/sabir-go/sabir/lab/seeds"
)

func reportCommand() *cobra.Command {
	var folder string
	var summary bool
	c := &cobra.Command{
		Use:   "report [results.json ...]",
		Short: "Make Markdown and a page of results",
		Long: `Report writes report.md and report.html, which needs nothing else, from the results of runs. Without files it takes the
last run that was given no file. Several files must be of one machine; a seed of a later file takes the place of an earlier one.`,
		Example: `  go run -C lab . report
  go run -C lab . report --out results/2026-11-23 results/2026-11-23/*.json`,
		RunE: func(c *cobra.Command, files []string) error {
			if len(files) == 0 {
				last, err := lastRun()
				if err != nil {
					return err
				}
				files = []string{last}
			}
			results, err := bench.Load(files...)
			if err != nil {
				return err
			}
			asToday(results, seeds.All())
			if summary {
				return report.Summary(c.OutOrStdout(), results)
			}
			return writeReport(c.OutOrStdout(), folder, results)
		},
	}
	c.Flags().StringVar(&folder, "out", ".", "the folder that the report goes to")
	c.Flags().BoolVar(&summary, "summary", false, "write only the short table, in Markdown, to the standard output")
	return c
}

// asToday shows the tables as today's program does: its columns, and its reasons, which are found by profiles after a run.
func asToday(results *bench.Results, all []bench.Seed) {
	today := map[string]bench.Table{}
	for _, s := range all {
		for _, t := range s.Tables {
			today[s.Name+" "+t.Name] = t
		}
	}
	for _, s := range results.Seeds {
		for i := range s.Tables {
			shown := &s.Tables[i]
			if t, ok := today[s.Name+" "+shown.Name]; ok {
				shown.Columns, shown.Why = t.Columns, t.Why
			}
		}
	}
}

func writeReport(out io.Writer, folder string, results *bench.Results) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer, *bench.Results) error{"report.md": report.Markdown, "report.html": report.HTML} {
		path := filepath.Join(folder, name)
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		err = write(file, results)
		if closing := file.Close(); err == nil {
			err = closing
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Fprintln(out, path)
	}
	return nil
}
