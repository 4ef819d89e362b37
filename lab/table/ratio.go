package table

import (
	"math/rand/v2"
	"slices"
)

// Ratio is the median of the ratios of several rounds, and what is known of it: Low and High are the ends of the 95 % percentile
// bootstrap interval of that median (Efron, "Bootstrap Methods: Another Look at the Jackknife", 1979). Of five rounds it reaches
// from the least to the greatest; more rounds narrow it.
type Ratio struct {
	Median, Low, High float64
	Rounds            int
}

// resamples of a bootstrap: with so many, its ends move by less than the ratios differ.
const resamples = 2000

// RatioOf is the ratio of rounds. Of none it is zero. The same ratios have the same interval.
func RatioOf(ratios []float64) Ratio {
	median := SpreadOf(ratios).Median
	r := Ratio{Median: median, Low: median, High: median, Rounds: len(ratios)}
	if len(ratios) < 2 {
		return r
	}
	random := rand.New(rand.NewPCG(1, 2))
	medians, drawn := make([]float64, resamples), make([]float64, len(ratios))
	for i := range medians {
		for j := range drawn {
			drawn[j] = ratios[random.IntN(len(ratios))]
		}
		slices.Sort(drawn)
		medians[i] = (drawn[(len(drawn)-1)/2] + drawn[len(drawn)/2]) / 2
	}
	slices.Sort(medians)
	r.Low, r.High = medians[resamples/40], medians[resamples-1-resamples/40]
	return r
}

// Width is how far the ends of the interval are apart: 1.1 is ten percent. It is 1 where both are zero.
func (r Ratio) Width() float64 {
	if r.Low == r.High {
		return 1
	}
	return r.High / r.Low
}
