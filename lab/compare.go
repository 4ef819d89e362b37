package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/report"
)

func compareCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compare first [second]",
		Short: "Show how far two runs are apart",
		Long: `Compare writes, as Markdown, Sabir's ratio to the best peer in each group that both runs measured, and how many of them are within
20 % of each other. A run is a file, or a folder whose JSON files are of one machine; the two may be of different ones. Without a second it is the
last run that was given no file.`,
		Example: `  go run -C lab . compare results/2026-11-23
  go run -C lab . compare monday.json tuesday.json`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				last, err := lastRun()
				if err != nil {
					return err
				}
				args = append(args, last)
			}
			var runs [2]*bench.Results
			for i, path := range args {
				files := []string{path}
				if info, err := os.Stat(path); err == nil && info.IsDir() {
					files, _ = filepath.Glob(filepath.Join(path, "*.json"))
				}
				var err error
				if runs[i], err = bench.Load(files...); err != nil {
					return err
				}
			}
			return report.Differences(c.OutOrStdout(), runs[0], runs[1])
		},
	}
}
