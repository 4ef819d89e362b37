package bench

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/table"
)

// inRounds is a row of a group that has these rates in its rounds, and then the last.
func inRounds(group, name string, perSecond ...int64) Row {
	r := row(name, new(int), func(_ context.Context, n int) (child.Sample, error) {
		return child.Sample{Operations: perSecond[min(max(0, n-warmUp), len(perSecond)-1)], Elapsed: time.Second}, nil
	})
	r.Group, r.Ours = group, name == "Sabir"
	return r
}

func TestOnlyRowsWhoseRatioIsNotKnownWellGetMoreRounds(t *testing.T) {
	plan := Plan{Rounds: 3, Most: 9, Duration: time.Second, Timeout: 10 * time.Second}
	progress := &quiet{Writer: io.Discard}
	noisy := []int64{100, 100, 150, 100, 100, 100, 100, 100, 100}
	limit := inRounds("noisy", "raw", 9000)
	limit.Limit = true
	results := plan.Run(t.Context(), []Seed{{Tables: []Table{{Columns: []Column{{Key: "rate"}}, Rows: []Row{
		inRounds("noisy", "Sabir", noisy...), inRounds("noisy", "near", 90), inRounds("noisy", "best", 99), inRounds("noisy", "far", 10), limit,
		inRounds("steady", "Sabir", 100, 102, 101), inRounds("steady", "best", 99),
		inRounds("alone", "Sabir", noisy...),
	}}}}}, progress, func(*Results) {})
	for i, want := range []int{7, 7, 7, 3, 3, 3, 3, 3} {
		if r := results.Seeds[0].Tables[0].Rows[i]; (len(r.Rounds) > 3) != (want > 3) || len(r.Rounds) > plan.Most || r.Rounds[len(r.Rounds)-1].Number != len(r.Rounds) {
			t.Errorf("%s, %s has %d rounds; want %d or so", r.Name, r.Group, len(r.Rounds), want)
		}
	}
	if progress.done != progress.steps {
		t.Errorf("%d of %d steps were notified", progress.done, progress.steps)
	}
}

func TestARatioComparesWhatWasMeasuredInTheSameRound(t *testing.T) {
	rounds := func(from int, rates ...float64) (r RowResult) {
		for i, rate := range rates {
			r.Rounds = append(r.Rounds, Round{Number: from + i, Figures: map[string]float64{"rate": rate}})
		}
		return r
	}
	more, less := Column{Key: "rate"}, Column{Key: "rate", Less: true}
	for name, c := range map[string]struct {
		got  table.Ratio
		want float64
		n    int
	}{
		"a machine that slows down":  {more.Ratio(rounds(1, 200, 100, 50), rounds(1, 100, 50, 25)), 2, 3},
		"less is better":             {less.Ratio(rounds(1, 200, 100, 50), rounds(1, 100, 50, 25)), 0.5, 3},
		"only one round is common":   {more.Ratio(rounds(1, 1, 1, 30), rounds(3, 10, 99)), 3, 1},
		"none is":                    {more.Ratio(rounds(1, 1), rounds(2, 1)), 0, 0},
		"beside nothing":             {more.Ratio(rounds(1, 7), rounds(1, 0)), 0, 0},
		"a figure that is not there": {Column{Key: "other"}.Ratio(rounds(1, 7), rounds(1, 7)), 0, 0},
	} {
		if c.got.Median != c.want || c.got.Rounds != c.n {
			t.Errorf("%s: %+v, want %v of %d rounds", name, c.got, c.want, c.n)
		}
	}
}
