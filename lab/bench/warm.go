package bench

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A row is warm when its rate has not grown by more than this over the best before in the last flatSlices slices.
const (
	growth     = 1.03
	flatSlices = 3
)

// warming is how a row is warmed up: in slices, whose rates are compared, and no longer than most.
type warming struct{ slice, most time.Duration }

// Java and Node compile while they run.
var warmings = map[string]warming{
	"Java": {2 * time.Second, 40 * time.Second},
	"Node": {500 * time.Millisecond, 10 * time.Second},
	"":     {300 * time.Millisecond, 8 * time.Second},
}

// warming of a row's slowest program. Quick runs have a third of the time.
func (p Plan) warming(programs []*Program) warming {
	w := warmings[""]
	for _, program := range programs {
		if its := warmings[program.Language]; its.slice > w.slice {
			w = its
		}
	}
	if p.Quick {
		w = warming{w.slice / 3, w.most / 3}
	}
	if p.Warm > 0 {
		w = warming{min(w.slice, p.Warm), p.Warm}
	}
	return w
}

// warm has a row work until its rate is flat. Java's rate still doubled between 4 and 12 seconds of work: what is measured before
// that is the compiler. The row's result says how long it took, and whether the rate was flat in the end.
func (p Plan) warm(ctx context.Context, e *entry, w warming) error {
	var rates []float64
	for {
		s, err := p.measure(ctx, e, w.slice)
		if err == nil {
			err = s.check()
		}
		if err != nil {
			return fmt.Errorf("warming up: %w", err)
		}
		e.result.WarmedUp += s.Elapsed
		rates = append(rates, float64(s.Operations)/s.Elapsed.Seconds())
		if flat(rates) {
			return nil
		}
		if e.result.WarmedUp+w.slice > w.most {
			e.result.NotFlat = true
			return nil
		}
	}
}

func flat(rates []float64) bool {
	before := len(rates) - flatSlices
	return before > 0 && slices.Max(rates[before:]) <= growth*slices.Max(rates[:before])
}
