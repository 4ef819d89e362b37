package report

import (
	"io"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/table"
)

// Text writes a table for a terminal: the groups with how Sabir stands in each, the medians, for the first column with half of what
// lies between the least and the greatest, and at the end of each group what failed. It returns w's error.
func Text(w io.Writer, t bench.TableResult) error {
	header := []string{"contender"}
	for i, c := range t.Columns {
		header = append(header, oneLine(printable(c.Title)))
		if i == 0 {
			header = append(header, "", "x peer", "x limit")
		}
	}
	lines := table.New(header...)
	for _, g := range groupsOf(t) {
		title := labelOf(g.Name)
		if g.verdict != none {
			title += ": " + g.words()
		}
		lines.Rule(oneLine(printable(title)))
		for _, r := range g.rows {
			if r.Failure == "" {
				lines.Row(textRow(t, &g, &r)...)
			}
		}
		for _, r := range g.rows {
			if r.Failure != "" {
				lines.Rule(oneLine(printable(r.Name + " did not run: " + r.Failure)))
			}
		}
	}
	return lines.Print(w)
}

// textRow is a row's name, and its figures.
func textRow(t bench.TableResult, g *group, r *row) []string {
	name := oneLine(printable(r.Name))
	if r.Limit {
		name += " (limit)"
	}
	cells := []string{name}
	for i, c := range t.Columns {
		s, ok := spreadOf(r.RowResult, c.Key)
		median := "-"
		if ok {
			median = marked(r.RowResult, figureText(c.Unit, s.Median))
		}
		cells = append(cells, median)
		if i == 0 {
			cells = append(cells, aroundText(s), ratioText(g.ratioOf(r, g.peer)), ratioText(g.ratioOf(r, g.limit)))
		}
	}
	return cells
}
