package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/lab/table"
)

// group is one contender in one scenario, over all rounds.
type group struct {
	scenario  scenario
	contender contender
	outcomes  []outcome
	failures  []string // of runs that came to no figures
}

// add takes a run's outcome. A run that lost messages has no rate, so it is a failure.
func (g *group) add(result outcome, err error) {
	switch {
	case err != nil:
		g.failures = append(g.failures, err.Error())
	case result.Faults != faults{}:
		g.failures = append(g.failures, strings.Join(append([]string{"faults: " + result.Faults.String()}, result.Problems...), "; "))
	default:
		g.outcomes = append(g.outcomes, result)
	}
}

// figures are the spreads of the columns over the runs that went well.
func (g *group) figures() []table.Spread {
	var all []table.Spread
	for column := range g.scenario.columns {
		var values []float64
		for _, o := range g.outcomes {
			values = append(values, o.Figures[column])
		}
		all = append(all, table.SpreadOf(values))
	}
	return all
}

// problems are what was said in runs that went well all the same.
func (g *group) problems() []string {
	var all []string
	for _, o := range g.outcomes {
		all = append(all, o.Problems...)
	}
	return slices.Compact(all)
}

const dash = "-"

// ratio says how many times better ours is than the group in the column that counts; "" where there is nothing to compare.
func (g *group) ratio(ours *group) string {
	if ours == nil || ours == g || len(ours.outcomes) == 0 || len(g.outcomes) == 0 {
		return ""
	}
	mine, theirs := ours.figures()[0].Median, g.figures()[0].Median
	if g.scenario.columns[0].less {
		mine, theirs = theirs, mine
	}
	if theirs <= 0 {
		return ""
	}
	return table.Digits(mine/theirs) + "x"
}

func (g *group) cells(ours *group) []string {
	cells := []string{g.contender.name}
	for i, spread := range g.figures() {
		write := g.scenario.columns[i].write
		text := []string{write(spread.Median)}
		if i == 0 {
			text = append(text, write(spread.Min), write(spread.Max), g.ratio(ours))
		}
		if len(g.outcomes) == 0 {
			for i := range text[:len(text)-1] {
				text[i] = dash
			}
			text[0] = dash
		}
		cells = append(cells, text...)
	}
	return append(cells, fmt.Sprintf("%d/%d", len(g.outcomes), len(g.outcomes)+len(g.failures)))
}

func writeTables(out io.Writer, p plan, groups []group, load string) error {
	fmt.Fprintf(out, "Actors. Medians of at most %d rounds, least and greatest, interleaved, each run in OS processes of its own; %s, %d CPUs; load before %s, after %s.\n",
		p.rounds, runtime.Version(), runtime.NumCPU(), load, loadNow())
	for _, s := range p.scenarios {
		var mine []*group
		for i := range groups {
			if groups[i].scenario.name == s.name {
				mine = append(mine, &groups[i])
			}
		}
		if err := writeTable(out, p, s, mine); err != nil {
			return err
		}
	}
	fmt.Fprint(out, "\nsettings\n\n")
	for _, c := range p.contenders {
		fmt.Fprintf(out, "%s: %s\n", c.name, c.settings)
	}
	return nil
}

func writeTable(out io.Writer, p plan, s scenario, groups []*group) error {
	fmt.Fprintf(out, "\n%s: %s\n\n", s.name, s.about(p))
	header := []string{"contender"}
	for i, c := range s.columns {
		header = append(header, c.name)
		if i == 0 {
			header = append(header, "min", "max", "sabir is")
		}
	}
	var ours *group
	for _, g := range groups {
		if g.contender.ours {
			ours = g
		}
	}
	t := table.New(append(header, "good runs")...)
	for _, g := range groups {
		t.Row(g.cells(ours)...)
	}
	if err := t.Print(out); err != nil {
		return err
	}
	for _, g := range groups {
		for _, failure := range g.failures {
			fmt.Fprintf(out, "! %s: %s\n", g.contender.name, failure)
		}
		for _, problem := range g.problems() {
			fmt.Fprintf(out, "? %s: %s\n", g.contender.name, problem)
		}
	}
	return nil
}

// document is the -json output.
type document struct {
	Go     string `json:"go"`
	CPUs   int    `json:"cpus"`
	Rounds int    `json:"rounds"`
	Load   string `json:"load"`
	Rows   []row  `json:"rows"`
}

type row struct {
	Scenario  string                  `json:"scenario"`
	Contender string                  `json:"contender"`
	Settings  string                  `json:"settings"`
	Figures   map[string]table.Spread `json:"figures"`
	Runs      int                     `json:"runs"` // that went well
	Failures  []string                `json:"failures,omitempty"`
	Problems  []string                `json:"problems,omitempty"`
}

func writeJSON(out io.Writer, p plan, groups []group, load string) error {
	doc := document{Go: runtime.Version(), CPUs: runtime.NumCPU(), Rounds: p.rounds, Load: load}
	for _, g := range groups {
		r := row{Scenario: g.scenario.name, Contender: g.contender.name, Settings: g.contender.settings, Figures: map[string]table.Spread{},
			Runs: len(g.outcomes), Failures: g.failures, Problems: g.problems()}
		if r.Runs > 0 {
			for i, spread := range g.figures() {
				r.Figures[g.scenario.columns[i].name] = spread
			}
		}
		doc.Rows = append(doc.Rows, r)
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(doc)
}

// loadNow is the machine's load of the last minute (Linux), or that it is not known.
func loadNow() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(text), " ")
	return one
}
