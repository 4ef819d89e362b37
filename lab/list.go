package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/seeds"
)

func listCommand() *cobra.Command {
	var chosen selection
	var rows, asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "Show the seeds, their tables and rows",
		Example: `  go run -C lab . list
  go run -C lab . list --seed ergo --rows`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := chosen.choose(seeds.All())
			if err != nil {
				return err
			}
			if asJSON {
				return listJSON(c.OutOrStdout(), all)
			}
			return list(c.OutOrStdout(), all, rows)
		},
	}
	chosen.flags(c)
	c.Flags().BoolVar(&rows, "rows", false, "show every row of each table, with what it is compared in")
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return c
}

func list(w io.Writer, all []bench.Seed, rows bool) error {
	var text strings.Builder
	for i, s := range all {
		if i > 0 {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "%s\n  %s\n", s.Name, s.About)
		for _, t := range s.Tables {
			fmt.Fprintf(&text, "  %-20s %s (%d rows)\n", t.Name, t.Title, len(t.Rows))
			if !rows {
				continue
			}
			group := ""
			for _, r := range t.Rows {
				if r.Group != group {
					group = r.Group
					fmt.Fprintf(&text, "    %s\n", group)
				}
				fmt.Fprintf(&text, "      %s%s\n", r.Name, remark(r))
			}
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func remark(r bench.Row) string {
	switch {
	case r.Missing != "":
		return " (cannot run: " + r.Missing + ")"
	case r.Limit:
		return " (limit)"
	}
	return ""
}

func listJSON(w io.Writer, all []bench.Seed) error {
	type row struct {
		Name    string `json:"name"`
		Group   string `json:"group,omitempty"`
		Limit   bool   `json:"limit,omitempty"`
		Missing string `json:"missing,omitempty"`
	}
	type table struct {
		Name  string `json:"name"`
		Title string `json:"title"`
		Rows  []row  `json:"rows"`
	}
	type seed struct {
		Name   string  `json:"name"`
		Tables []table `json:"tables"`
	}
	var doc []seed
	for _, s := range all {
		d := seed{Name: s.Name}
		for _, t := range s.Tables {
			of := table{Name: t.Name, Title: t.Title}
			for _, r := range t.Rows {
				of.Rows = append(of.Rows, row{r.Name, r.Group, r.Limit, r.Missing})
			}
			d.Tables = append(d.Tables, of)
		}
		doc = append(doc, d)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(doc)
}
