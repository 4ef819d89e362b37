package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// screen is the state of the screen of sabir top.
type screen struct {
	title   string
	style   style
	sort    int // index in sorts
	from    int // the first action that is shown
	page    int // actions that fitted last time
	figures clusterFigures
	trouble string // why the figures are not new
}

// sorts are the orders that actions can be in: by name from the start of the alphabet, by the others from the largest.
var sorts = []struct {
	name string
	by   func(actionFigures) float64
}{
	{"calls", func(a actionFigures) float64 { return a.PerSecond }},
	{"errors", func(a actionFigures) float64 { return a.ErrorsPerSec }},
	{"p50", func(a actionFigures) float64 { return a.P50 }},
	{"p99", func(a actionFigures) float64 { return a.P99 }},
	{"active", func(a actionFigures) float64 { return float64(a.Active) }},
	{"name", func(actionFigures) float64 { return 0 }},
}

func sortNames() (names []string) {
	for _, s := range sorts {
		names = append(names, s.name)
	}
	return names
}

// sortNamed is the index of an order; -1 for none.
func sortNamed(name string) int { return slices.Index(sortNames(), name) }

// key is the command of a key on the keyboard.
type key int

const (
	keyOther key = iota
	keyQuit
	keySort
	keyUp
	keyDown
	keyPageUp
	keyPageDown
)

// press runs the command of a key, and reports whether it is the one to quit.
func (s *screen) press(k key) (quit bool) {
	switch k {
	case keyQuit:
		return true
	case keySort:
		s.sort, s.from = (s.sort+1)%len(sorts), 0
	case keyUp:
		s.from--
	case keyDown:
		s.from++
	case keyPageUp:
		s.from -= max(s.page, 1)
	case keyPageDown:
		s.from += max(s.page, 1)
	}
	s.from = max(0, min(s.from, len(s.figures.Actions)-1))
	return false
}

// frame draws the screen as lines of at most width characters, height of them at most; 0 is no limit.
func (s *screen) frame(width, height int) []string {
	f := &s.figures
	total := f.total()
	lines := []string{s.style.bold(fit(fmt.Sprintf("%s · %s · %s calls/s · %s errors/s", s.title, count(len(f.Nodes), "node"), digits(total.PerSecond), digits(total.ErrorsPerSec)), width)), ""}
	nodes := [][]string{{"NODE", "STATE", "UP", "CPU", "IN FLIGHT", "RTT", "SERVICES"}}
	for _, n := range f.Nodes {
		row := nodeRow(n)
		nodes = append(nodes, []string{row[0], row[1], row[2], row[5], row[6], row[8], row[10]})
	}
	lines = append(lines, s.table(nodes, width)...)
	if len(f.Mute) > 0 {
		lines = append(lines, fit("no figures of actions from "+strings.Join(f.Mute, ", ")+": "+f.why(), width))
	}
	lines = append(lines, "")
	footer := []string{}
	if height > 0 {
		footer = append(footer, s.footer(width))
	}
	actions := [][]string{{"ACTION", "CALLS/S", "ERRORS/S", "P50", "P99", "ACTIVE", "NODES", "CALLS", "FAILED"}}
	for _, a := range s.sorted() {
		actions = append(actions, []string{a.Name, digits(a.PerSecond), digits(a.ErrorsPerSec), microsOrDash(a.P50), microsOrDash(a.P99),
			fmt.Sprint(a.Active), fmt.Sprint(a.Nodes), grouped(int64(a.Calls)), grouped(int64(a.Failed))})
	}
	table := s.table(actions, width) // as a whole, so that columns do not move when it scrolls
	if height > 0 {
		s.page = max(1, height-len(lines)-len(footer)-1)
		s.from = max(0, min(s.from, len(table)-1-s.page))
		end := min(len(table), 1+s.from+s.page)
		table = append(table[:1:1], table[1+s.from:end]...)
	}
	lines = append(append(lines, table...), footer...)
	if height > 0 && len(lines) > height {
		lines = lines[:height]
	}
	return lines
}

func (s *screen) footer(width int) string {
	if s.trouble != "" {
		return s.style.red(fit(printable(s.trouble), width))
	}
	return fit("q quit · s sort (by "+sorts[s.sort].name+") · ↑↓ scroll", width)
}

func (s *screen) sorted() []actionFigures {
	list := slices.Clone(s.figures.Actions)
	by := sorts[s.sort].by
	slices.SortStableFunc(list, func(a, b actionFigures) int {
		return cmp.Or(cmp.Compare(by(b), by(a)), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// table draws rows in columns, the first in bold.
func (s *screen) table(rows [][]string, width int) []string {
	var text strings.Builder
	writeRows(&text, rows)
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = fit(lines[i], width)
	}
	lines[0] = s.style.bold(lines[0])
	return lines
}

// fit cuts a line at the width of the screen.
func fit(line string, width int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width])
}

func microsOrDash(us float64) string {
	if us == 0 {
		return "-"
	}
	return micros(us)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprint(n, " ", what, "s")
}

// readKeys reads the keys from a terminal until its end.
func readKeys(from io.Reader, to chan<- key) {
	buf := make([]byte, 64)
	for {
		n, err := from.Read(buf)
		for _, k := range keysIn(buf[:n]) {
			to <- k
		}
		if err != nil {
			return
		}
	}
}

// keysIn finds the keys in what a terminal in raw mode sends: letters, and the sequences of ECMA-48 and xterm for arrows.
func keysIn(typed []byte) (keys []key) {
	text := string(typed)
	for len(text) > 0 {
		k, size := keyOther, 1
		for _, known := range knownKeys {
			if strings.HasPrefix(text, known.sent) {
				k, size = known.key, len(known.sent)
				break
			}
		}
		keys = append(keys, k)
		text = text[size:]
	}
	return keys
}

var knownKeys = []struct {
	sent string
	key  key
}{
	{"\x1b[A", keyUp}, {"\x1bOA", keyUp}, {"k", keyUp},
	{"\x1b[B", keyDown}, {"\x1bOB", keyDown}, {"j", keyDown},
	{"\x1b[5~", keyPageUp}, {"\x1b[6~", keyPageDown}, {" ", keyPageDown},
	{"s", keySort},
	{"q", keyQuit}, {"Q", keyQuit}, {"\x03", keyQuit}, {"\x04", keyQuit}, // Ctrl-C, Ctrl-D
}
