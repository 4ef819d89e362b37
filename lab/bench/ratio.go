package bench

import (
	"cmp"
	"math"
	"slices"

	"github.com/sabir-go/sabir/lab/table"
)

// Ratio says how many times better a row is than another by a column: more than 1 is better. It compares what was measured in the
// same round, one soon after the other, so that a machine that changes its speed from round to round changes both. Its Rounds are 0
// where no round has both figures.
func (c Column) Ratio(a, b RowResult) table.Ratio {
	others := map[int]float64{}
	for _, r := range b.Rounds {
		if v, there := r.Figures[c.Key]; there {
			others[r.Number] = v
		}
	}
	var ratios []float64
	for _, r := range a.Rounds {
		over, there := r.Figures[c.Key]
		under, also := others[r.Number]
		if c.Less {
			over, under = under, over
		}
		if ratio := over / under; there && also && over >= 0 && under > 0 && !math.IsInf(ratio, 0) && !math.IsNaN(ratio) {
			ratios = append(ratios, ratio)
		}
	}
	return table.RatioOf(ratios)
}

// better compares rows by the medians of a column, the better first and those without a figure last.
func (c Column) better(a, b RowResult) int {
	one, there := a.Spread(c.Key)
	other, also := b.Spread(c.Key)
	switch {
	case !there || !also:
		return cmp.Compare(truth(also), truth(there))
	case c.Less:
		return cmp.Compare(one.Median, other.Median)
	}
	return cmp.Compare(other.Median, one.Median)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Wide is the width of an interval from which on its ratio is not known well enough: its rows are measured in more rounds.
const Wide = 1.25

// A peer whose median is within so much of the best peer's may be the best one.
const nearBest = 1.25

// unsettled returns the rows that need more rounds: of each group whose ratio of Sabir to the best peer is not known well enough,
// Sabir's first row and the peers that may be the best.
func unsettled(t Table, entries []*entry) map[*entry]bool {
	if len(t.Columns) == 0 {
		return nil
	}
	column := t.Columns[0]
	more := map[*entry]bool{}
	for _, group := range groupsOf(entries) {
		ours := slices.IndexFunc(group, func(e *entry) bool { return e.row.Ours && !e.row.Limit })
		if ours < 0 || group[ours].runner == nil {
			continue
		}
		peers := slices.DeleteFunc(slices.Clone(group), func(e *entry) bool { return e.row.Ours || e.row.Limit || e.runner == nil })
		if len(peers) == 0 {
			continue
		}
		best := slices.MinFunc(peers, func(a, b *entry) int { return column.better(a.result, b.result) })
		if column.Ratio(group[ours].result, best.result).Width() <= Wide {
			continue
		}
		more[group[ours]] = true
		for _, e := range peers {
			if r := column.Ratio(best.result, e.result); e == best || r.Rounds > 0 && r.Median < nearBest {
				more[e] = true
			}
		}
	}
	return more
}

// groupsOf returns the rows of each group.
func groupsOf(entries []*entry) map[string][]*entry {
	groups := map[string][]*entry{}
	for _, e := range entries {
		groups[e.row.Group] = append(groups[e.row.Group], e)
	}
	return groups
}
