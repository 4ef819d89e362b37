package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/sabir-go/sabir/lab/bench"
)

// Summary writes a short table as Markdown: of each seed the first groups of its first two tables that compare Sabir with a peer,
// and the group in which it stands worst. It returns w's error.
func Summary(w io.Writer, r *bench.Results) error {
	var d document
	for _, mark := range marks(r) {
		d.say("> **%s**", mark)
	}
	d.cells("report", "measured", "Sabir", "best peer", "ratio", "limit")
	d.line("|---|---|---:|---:|---:|---:|")
	for _, s := range r.Seeds {
		for i, c := range telling(s) {
			seed := ""
			if i == 0 {
				seed = md(titleOf(s.Title, s.Name))
			}
			what := titleOf(c.table.Title, c.table.Name)
			if c.Name != "" {
				what += ", " + c.Name
			}
			limit := missing
			if c.limit != nil {
				limit = summed(c, c.limit)
			}
			d.cells(seed, md(what), "**"+summed(c, c.ours)+"**", md(c.peer.Name)+" "+summed(c, c.peer), ratioOrTie(c.group), limit)
		}
	}
	_, err := io.WriteString(w, d.text.String())
	return err
}

// chosen is a group of the summary.
type chosen struct {
	*group
	table bench.TableResult
}

// telling are the groups of a seed that the summary shows, in the order of the report.
func telling(s bench.SeedResult) []chosen {
	const tables = 2
	var kept []chosen
	var worst chosen
	seen := 0
	lowest := math.Inf(1)
	for _, t := range s.Tables {
		groups := groupsOf(t)
		found := false
		for i := range groups {
			g := &groups[i]
			if math.IsNaN(g.ratio) {
				continue
			}
			if g.ratio < lowest {
				worst, lowest = chosen{g, t}, g.ratio
			}
			if !found && seen < tables {
				found = true
				kept = append(kept, chosen{g, t})
			}
		}
		seen += truth(found)
	}
	for _, c := range kept {
		if c.group == worst.group {
			return kept
		}
	}
	if worst.group != nil {
		kept = append(kept, worst)
	}
	return kept
}

// summed is a row's first figure in short, with its unit.
func summed(c chosen, r *row) string {
	text := marked(r.RowResult, shortText(c.column.Unit, r.figure.Median))
	if c.column.Unit == bench.PerSecond {
		text += perSecond
	}
	return unbroken(md(text))
}

func ratioOrTie(g *group) string {
	text := ratioText(g.ratio)
	if g.verdict == tied {
		return fmt.Sprintf("%s (tie)", text)
	}
	return strings.TrimSpace(text)
}
