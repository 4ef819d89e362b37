// Package report makes pages of what the lab has measured: a table for the terminal, Markdown, and a web page that needs
// nothing else. The same results make the same bytes.
//
// How contenders are compared stands in compare.go, how figures are written in figure.go.
package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
)

// method is the address of the full description of the method.
const method = "https://github.com/sabir-go/sabir/blob/main/lab/README.md"

// methodWords are the method in short.
const methodWords = "All rows of a table are opened, then each is measured once in every round, so that what disturbs the machine disturbs all alike. " +
	"Each row is processes of its own, works until its rate is flat before the first round, and has every answer checked: one wrong answer, and it has failed. " +
	"Figures are medians of the rounds, with the least and the greatest; ~ marks those during which others took more than " + muchForeign + " of the machine. " +
	"Limits are no peers: they do less than any contender must, and tell how far there is to go. " +
	"The first column of a table ranks its rows, ratios are by it, and more than 1x is better. " + ratioWords

// muchForeign is bench.MuchForeign in words; a test holds them together.
const muchForeign = "10 %"

// quickWords and cutWords mark results that are less than a whole run.
const (
	quickWords = "This was a quick run: few short rounds. Its figures are less certain than those of a whole run."
	cutWords   = "This run was ended before its end: what it had not measured by then is missing."
)

// marks returns the reservations that stand above the results, such as that the run was a quick one.
func marks(r *bench.Results) []string {
	var all []string
	if r.Quick {
		all = append(all, quickWords)
	}
	if r.Cut {
		all = append(all, cutWords)
	}
	return all
}

// fact is a line of the head.
type fact struct{ Name, Value string }

// facts returns the circumstances of the run: its time, the machine and the versions.
func facts(r *bench.Results) []fact {
	var all []fact
	if !r.Begun.IsZero() {
		all = append(all, fact{"Begun", r.Begun.UTC().Format("2 January 2006, 15:04 UTC")})
	}
	all = append(all, fact{"Machine", r.Machine.String()})
	if versions := versions(r.Machine.Programs); versions != "" {
		all = append(all, fact{"Versions", versions})
	}
	all = append(all, fact{"Rounds", fmt.Sprintf("%d of %s, where a table has no duration of its own", r.Rounds, length(r.Duration))})
	var seeds []string
	for _, s := range r.Seeds {
		seeds = append(seeds, titleOf(s.Title, s.Name)+" "+length(s.Took))
	}
	took := length(r.Took)
	if len(seeds) > 0 {
		took += ": " + strings.Join(seeds, ", ")
	}
	return append(all, fact{"Took", took})
}

// versions of the languages, the lab's own first.
func versions(programs map[string]string) string {
	known := []string{"Go", "Node", "Java"}
	var names []string
	for name := range programs {
		if !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var all []string
	for _, name := range append(known, names...) {
		if version := programs[name]; version != "" {
			all = append(all, name+" "+version)
		}
	}
	return strings.Join(all, ", ")
}

// length is a time in words that need no more than a second's precision above ten of them.
func length(d time.Duration) string {
	switch {
	case d >= time.Hour:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		d = d.Round(time.Second)
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d >= 10*time.Second:
		return fmt.Sprintf("%d s", d.Round(time.Second)/time.Second)
	}
	return durationText(float64(d))
}

// titleOf is a title, or the name of what has none.
func titleOf(title, name string) string {
	if title == "" {
		return name
	}
	return title
}

// labelOf is a group's name in a text; one group alone may have none.
func labelOf(group string) string {
	if group == "" {
		return "all rows"
	}
	return group
}

// outage is a contender that could not run, or not to the end, in some groups of a table for one reason.
type outage struct {
	Seed   bench.SeedResult
	Table  bench.TableResult
	Row    string
	Groups []string
	Reason string
}

// Where names the groups, or counts them where they are many.
func (o outage) Where() string {
	const many = 4
	if len(o.Groups) > many {
		return fmt.Sprintf("%d groups", len(o.Groups))
	}
	var labels []string
	for _, g := range o.Groups {
		labels = append(labels, labelOf(g))
	}
	return strings.Join(labels, "; ")
}

// outages returns all rows with a failure, in the order of the results.
func outages(r *bench.Results) []*outage {
	var all []*outage
	for _, s := range r.Seeds {
		for _, t := range s.Tables {
			begin := len(all)
			for _, row := range t.Rows {
				if row.Failure == "" {
					continue
				}
				same := slices.IndexFunc(all[begin:], func(o *outage) bool { return o.Row == row.Name && o.Reason == row.Failure })
				if same < 0 {
					all = append(all, &outage{Seed: s, Table: t, Row: row.Name, Reason: row.Failure})
					same = len(all) - 1 - begin
				}
				all[begin+same].Groups = append(all[begin+same].Groups, row.Group)
			}
		}
	}
	return all
}
