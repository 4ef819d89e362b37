// Package table prints the lab's measurements: aligned text, and medians with their spread.
package table

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is rows of cells under a header. Columns of numbers are aligned to the right, others to the left.
type Table struct {
	header []string
	rows   [][]string
}

// New makes an empty table with a header.
func New(header ...string) *Table { return &Table{header: header} }

// Row adds a row. Missing cells are empty; a cell beyond the header is a programming error and panics.
func (t *Table) Row(cells ...string) {
	if len(cells) > len(t.header) {
		panic(fmt.Sprintf("table: %d cells in a table of %d columns", len(cells), len(t.header)))
	}
	t.rows = append(t.rows, append(cells, make([]string, len(t.header)-len(cells))...))
}

// Rule adds a line that sets what follows apart, with a title of its own.
func (t *Table) Rule(title string) { t.rows = append(t.rows, []string{title}) }

// Print writes the table, each column as wide as its widest cell.
func (t *Table) Print(w io.Writer) error {
	widths := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		if len(row) != len(widths) {
			continue // a rule
		}
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for _, row := range append([][]string{t.header, rule(widths)}, t.rows...) {
		out.WriteString(t.line(row, widths) + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// rule returns the cells of the line under the header.
func rule(widths []int) []string {
	cells := make([]string, len(widths))
	for i, width := range widths {
		cells[i] = strings.Repeat("-", width)
	}
	return cells
}

// line is one row as text; a row of one cell in a wider table is the title of what follows.
func (t *Table) line(row []string, widths []int) string {
	if len(row) != len(widths) {
		return "-- " + row[0]
	}
	var text strings.Builder
	for i, cell := range row {
		if i > 0 {
			text.WriteString("  ")
		}
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if t.numeric(i) {
			text.WriteString(pad + cell)
		} else {
			text.WriteString(cell + pad)
		}
	}
	return strings.TrimRight(text.String(), " ")
}

// numeric says whether every cell of a column begins as a number does, with ~ for those that are uncertain, or is empty or a dash.
func (t *Table) numeric(column int) bool {
	for _, row := range t.rows {
		if len(row) == len(t.header) && row[column] != "" && !strings.ContainsAny(row[column][:1], "0123456789-~") {
			return false
		}
	}
	return true
}
