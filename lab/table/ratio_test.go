package table_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sabir-go/sabir/lab/table"
)

func TestTheIntervalOfFiveRoundsReachesFromTheLeastToTheGreatest(t *testing.T) {
	if got, want := table.RatioOf([]float64{1.2, 0.9, 1, 1.1, 1.3}), (table.Ratio{Median: 1.1, Low: 0.9, High: 1.3, Rounds: 5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestOneRoundHasNoInterval(t *testing.T) {
	if got, want := table.RatioOf([]float64{2}), (table.Ratio{Median: 2, Low: 2, High: 2, Rounds: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := table.RatioOf(nil); got != (table.Ratio{}) || got.Width() != 1 {
		t.Errorf("%+v, width %v", got, got.Width())
	}
}

func TestTheIntervalHoldsTheTrueRatioInNineteenOfTwentyRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const runs = 400
	held := 0
	for range runs {
		var ratios []float64
		for range 11 {
			ratios = append(ratios, 1.5+0.2*random.NormFloat64())
		}
		if r := table.RatioOf(ratios); r.Low <= 1.5 && 1.5 <= r.High {
			held++
		}
	}
	if share := float64(held) / runs; share < 0.90 {
		t.Errorf("held in %.0f %% of the runs, want 95 %% or so", share*100)
	}
}

func TestMoreRoundsNarrowTheInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	width := func(rounds int) float64 {
		var ratios []float64
		for range rounds {
			ratios = append(ratios, 1+0.1*random.NormFloat64())
		}
		return table.RatioOf(ratios).Width()
	}
	if few, many := width(5), width(100); many >= few {
		t.Errorf("%v of 5 rounds, %v of 100", few, many)
	}
}
