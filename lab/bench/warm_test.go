package bench

import (
	"context"
	"testing"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// atRates is a row whose measurements have these rates, and then the last.
func atRates(perSecond ...int64) Row {
	return row("x", new(int), func(_ context.Context, n int) (child.Sample, error) {
		return child.Sample{Operations: perSecond[min(n, len(perSecond)-1)], Elapsed: time.Second}, nil
	})
}

func TestARowWorksUntilItsRateIsFlat(t *testing.T) {
	for name, c := range map[string]struct {
		row    Row
		warmed time.Duration
		grows  bool
	}{
		"from the first":     {atRates(1000), 4 * time.Second, false},
		"after two steps":    {atRates(100, 200, 400), 6 * time.Second, false},
		"less at times":      {atRates(400, 900, 1000, 700, 990, 1010), 6 * time.Second, false},
		"never, in its time": {atRates(1, 2, 4, 8, 16, 32, 64, 128, 256, 512), 8 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			rows, _, _ := runTable(t, t.Context(), c.row)
			if r := rows[0]; r.WarmedUp != c.warmed || r.NotFlat != c.grows || len(r.Rounds) != 3 {
				t.Errorf("warm after %v, still growing: %v, %d rounds; want %v and %v", r.WarmedUp, r.NotFlat, len(r.Rounds), c.warmed, c.grows)
			}
		})
	}
}

func TestARowThatStartsAnewIsNotWarmedUp(t *testing.T) {
	cold := atRates(7)
	cold.Cold = true
	rows, _, _ := runTable(t, t.Context(), cold)
	if r := rows[0]; r.WarmedUp != 0 || len(r.Rounds) != 3 {
		t.Errorf("worked %v before its %d rounds", r.WarmedUp, len(r.Rounds))
	}
}

func TestTheSlowestProgramOfARowDecidesHowLongItMayWarmUp(t *testing.T) {
	java, node, goes := &Program{Language: "Java"}, &Program{Language: "Node"}, &Program{Language: "Go"}
	for want, programs := range map[time.Duration][]*Program{
		40 * time.Second: {node, java, goes},
		10 * time.Second: {goes, node},
		8 * time.Second:  {goes},
	} {
		if got := Whole.warming(programs); got.most != want {
			t.Errorf("%v: %v, want %v", programs, got.most, want)
		}
	}
}
