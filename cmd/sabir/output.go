package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// output is stdout. It keeps the first error of a write, such as that of a full disk: then the command has not worked, whatever it did.
type output struct {
	io.Writer
	mu  sync.Mutex
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// failure is the error of the command whose output was not written.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return failf("the output cannot be written: %w", o.err)
}

// writeJSON writes a value as one line of JSON.
func writeJSON(w io.Writer, value any) {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		fmt.Fprintf(w, `{"error":{"code":"Internal","name":"BadOutput","message":%q}}`+"\n", err)
	}
}

// showJSON writes a document as it came, on one line, with --json; else indented, for users.
func (c *cli) showJSON(document []byte) {
	var text bytes.Buffer
	if c.json {
		if json.Compact(&text, document) != nil {
			text.Write(document)
		}
		fmt.Fprintln(c.stdout, text.String())
		return
	}
	if json.Indent(&text, document, "", "  ") != nil {
		text.Reset()
		text.Write(document)
	}
	fmt.Fprintln(c.stdout, printable(text.String()))
}

// writeTable writes rows below a header, in columns.
func (c *cli) writeTable(header []string, rows [][]string) {
	bold := styleOf(c.stdout)
	var text bytes.Buffer
	writeRows(&text, append([][]string{header}, rows...))
	first, rest, _ := strings.Cut(text.String(), "\n")
	fmt.Fprintf(c.stdout, "%s\n%s", bold.bold(first), rest)
}

var oneLine = strings.NewReplacer("\n", " ", "\t", " ")

// writeRows writes cells in columns, two spaces between them. The rows have the same number of cells.
func writeRows(w io.Writer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			row[i] = oneLine.Replace(printable(cell))
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// ago returns the time since t, in one unit or two.
func ago(t time.Time) string {
	d := time.Since(t)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// micros is a time in microseconds with three digits and a unit that suits it: "1.23 ms".
func micros(us float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e6, "s"}, {1e3, "ms"}, {1, "µs"}} {
		if us >= unit.size {
			return digits(us/unit.size) + " " + unit.name
		}
	}
	return digits(us*1e3) + " ns"
}

// digits is a number with three digits, or with those before the point if there are more.
func digits(n float64) string {
	switch {
	case n >= 100 || n == 0:
		return grouped(int64(n + 0.5))
	case n >= 10:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.2f", n)
}

// grouped is a number with a space after every third digit.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}
