package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/seeds"
)

// selection holds the values of --seed, --table and --row, which choose the rows of a run.
type selection struct{ seeds, tables, rows []string }

func (s *selection) flags(c *cobra.Command) {
	c.Flags().StringSliceVar(&s.seeds, "seed", nil, "only these seeds, by name")
	c.Flags().StringSliceVar(&s.tables, "table", nil, "only these tables, by name")
	c.Flags().StringSliceVar(&s.rows, "row", nil, "only rows whose name, or group, contains one of these texts, in any case")
	for name, complete := range map[string]func() []string{"seed": seedNames, "table": tableNames, "row": rowNames} {
		c.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return complete(), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

func seedNames() []string {
	var names []string
	for _, s := range seeds.All() {
		names = append(names, s.Name)
	}
	return names
}

func tableNames() []string {
	var names []string
	for _, s := range seeds.All() {
		for _, t := range s.Tables {
			names = append(names, t.Name)
		}
	}
	return names
}

func rowNames() []string {
	var names []string
	for _, s := range seeds.All() {
		for _, t := range s.Tables {
			for _, r := range t.Rows {
				names = append(names, r.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// choose returns the selected part of all seeds. An unknown name is an error that lists the known ones.
func (s *selection) choose(all []bench.Seed) ([]bench.Seed, error) {
	if err := known("--seed", s.seeds, seedNames()); err != nil {
		return nil, err
	}
	if err := known("--table", s.tables, tableNames()); err != nil {
		return nil, err
	}
	var kept []bench.Seed
	for _, seed := range all {
		if len(s.seeds) > 0 && !slices.Contains(s.seeds, seed.Name) {
			continue
		}
		var tables []bench.Table
		for _, t := range seed.Tables {
			if len(s.tables) > 0 && !slices.Contains(s.tables, t.Name) {
				continue
			}
			if t.Rows = s.rowsOf(t); len(t.Rows) > 0 {
				tables = append(tables, t)
			}
		}
		if seed.Tables = tables; len(tables) > 0 {
			kept = append(kept, seed)
		}
	}
	if len(kept) == 0 {
		return nil, errors.New("no row is left of this selection: see lab list")
	}
	return kept, nil
}

func (s *selection) rowsOf(t bench.Table) []bench.Row {
	if len(s.rows) == 0 {
		return t.Rows
	}
	return slices.DeleteFunc(slices.Clone(t.Rows), func(r bench.Row) bool {
		return !slices.ContainsFunc(s.rows, func(text string) bool {
			text = strings.ToLower(text)
			return strings.Contains(strings.ToLower(r.Name), text) || strings.Contains(strings.ToLower(r.Group), text)
		})
	})
}

func known(flag string, wanted, names []string) error {
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s %s: there is no such name. There are %s", flag, name, strings.Join(names, ", "))
		}
	}
	return nil
}
