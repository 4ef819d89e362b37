package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/table"
)

// near is how far the ratios of two runs may be apart for the second to confirm the first: "within 20 %".
const near = 1.2

// Differences writes, as Markdown, how far two runs are apart: of each group that both measured, Sabir's ratio to the best peer in
// each, the widest differences first. It returns w's error.
func Differences(w io.Writer, one, other *bench.Results) error {
	type difference struct {
		what  string
		a, b  group
		apart float64
	}
	earlier := map[[3]string]group{}
	each(one, func(s bench.SeedResult, t bench.TableResult, g group) { earlier[[3]string{s.Name, t.Name, g.Name}] = g })
	var all []difference
	var apart []float64
	within := 0
	each(other, func(s bench.SeedResult, t bench.TableResult, g group) {
		a, both := earlier[[3]string{s.Name, t.Name, g.Name}]
		if !both || math.IsNaN(a.ratio) || math.IsNaN(g.ratio) || a.ratio <= 0 || g.ratio <= 0 {
			return
		}
		d := difference{titleOf(t.Title, t.Name) + ", " + labelOf(g.Name), a, g, max(a.ratio/g.ratio, g.ratio/a.ratio)}
		if d.apart <= near {
			within++
		}
		all, apart = append(all, d), append(apart, d.apart)
	})
	var d document
	d.say("# Two runs of the lab")
	if len(all) == 0 {
		d.say("No group was measured in both runs.")
		_, err := io.WriteString(w, d.text.String())
		return err
	}
	d.say("%d groups were measured in both. The ratios of %d of them, %.0f %%, are within %.0f %% of each other; half of all are within %.0f %%.", len(all), within,
		float64(within)/float64(len(all))*100, (near-1)*100, (table.SpreadOf(apart).Median-1)*100)
	d.cells("group", "first run", "second run", "apart")
	d.line("|---|---:|---:|---:|")
	slices.SortStableFunc(all, func(a, b difference) int { return cmp.Compare(b.apart, a.apart) })
	for _, one := range all {
		d.cells(md(one.what), md(one.a.standing()), md(one.b.standing()), fmt.Sprintf("%.0f %%", (one.apart-1)*100))
	}
	_, err := io.WriteString(w, d.text.String())
	return err
}

// each calls do for all groups of a run.
func each(r *bench.Results, do func(bench.SeedResult, bench.TableResult, group)) {
	for _, s := range r.Seeds {
		for _, t := range s.Tables {
			for _, g := range groupsOf(t) {
				do(s, t, g)
			}
		}
	}
}

// standing is Sabir's ratio to the best peer, with its interval and the verdict: "1.25x (1.19x to 1.31x) of a, first".
func (g *group) standing() string {
	return ratioText(g.ratio) + g.around() + " of " + g.peer.Name + ", " + g.verdict.word()
}
