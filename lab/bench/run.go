package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// Plan says how much is measured.
type Plan struct {
	Rounds   int           // of each row
	Most     int           // rounds of rows whose ratio is not known well enough after Rounds
	Duration time.Duration // of one measurement, where the table has none of its own
	Fixed    bool          // Duration holds for tables with their own, too
	Quick    bool          // with the quick durations of tables
	Warm     time.Duration // for which a row works at most before it is measured; 0 leaves it to its language
	Timeout  time.Duration // for a row to open, or for a measurement to end after its duration
}

// The plans of a whole run and of a quick one.
var (
	Whole = Plan{Rounds: 5, Most: 15, Duration: time.Second, Timeout: time.Minute}
	Quick = Plan{Rounds: 3, Most: 9, Duration: 200 * time.Millisecond, Quick: true, Timeout: 30 * time.Second}
)

// Foreign load above this, in percent of the machine, has a round measured again, as often as that; the last is kept, and
// marked in the report.
const (
	MuchForeign    = 10
	foreignRepeats = 2
)

// Progress receives the progress of a run.
type Progress interface {
	io.Writer                        // messages of programs that are built and installed
	Begin(steps int)                 // so many steps will come, at most
	Step(what string)                // one begins
	Skip(steps int)                  // so many will not come
	Note(format string, args ...any) // something that the reader should know: a row that is out
}

// Run measures the seeds' tables one after another. When ctx ends it returns what was measured until then, marked as cut.
// Rows that fail do not hold up others. after is called with all results so far when a table is done.
func (p Plan) Run(ctx context.Context, seeds []Seed, progress Progress, after func(*Results)) *Results {
	results := &Results{Machine: ThisMachine(), Begun: time.Now(), Rounds: p.Rounds, Duration: p.Duration, Quick: p.Quick}
	progress.Begin(p.steps(seeds))
	for _, seed := range seeds {
		begun := time.Now()
		results.Seeds = append(results.Seeds, SeedResult{Name: seed.Name, Title: seed.Title, About: seed.About})
		current := &results.Seeds[len(results.Seeds)-1]
		for _, t := range seed.Tables {
			if ctx.Err() != nil {
				break
			}
			current.Tables = append(current.Tables, p.table(ctx, t, progress))
			current.Took = time.Since(begun)
			results.Took, results.Cut = time.Since(results.Begun), ctx.Err() != nil
			after(results)
		}
	}
	results.Cut = ctx.Err() != nil
	return results
}

func (p Plan) steps(seeds []Seed) int {
	n := 0
	for _, s := range seeds {
		for _, t := range s.Tables {
			n += len(t.Rows) * (1 + p.rounds())
		}
	}
	return n
}

// rounds are the most that a row may be measured in.
func (p Plan) rounds() int { return max(p.Rounds, p.Most) }

// durationOf is the length of one measurement.
func (p Plan) durationOf(t Table) time.Duration {
	switch {
	case p.Fixed:
	case p.Quick && t.Quick > 0:
		return t.Quick
	case !p.Quick && t.Duration > 0:
		return t.Duration
	}
	return p.Duration
}

// entry is a row while its table is measured.
type entry struct {
	row       Row
	result    RowResult
	runner    Runner
	latencies *child.Histogram
}

// table opens all rows, then measures each once a round, so that noise hits all alike. Rows whose ratio is not known well enough
// then take turns for some rounds more.
func (p Plan) table(ctx context.Context, t Table, progress Progress) TableResult {
	result := TableResult{Name: t.Name, Title: t.Title, About: t.About, Columns: t.Columns, Why: t.Why}
	env := &Env{Quick: p.Quick}
	defer env.close()
	var entries []*entry
	defer func() {
		for _, e := range entries {
			e.close()
		}
	}()
	for _, r := range t.Rows {
		e := &entry{row: r, latencies: child.NewHistogram(), result: RowResult{Name: r.Name, Group: r.Group, Ours: r.Ours,
			Limit: r.Limit, Settings: r.Settings, Published: r.Published}}
		entries = append(entries, e)
		if ctx.Err() != nil {
			e.result.Failure = "the run was ended before"
			continue
		}
		progress.Step(fmt.Sprintf("%s: starting and warming %s", t.Title, r.label()))
		if err := p.open(ctx, t, e, env, progress); err != nil {
			e.fail(ctx, err, progress)
			progress.Skip(p.rounds())
		}
	}
	for number := 1; number <= p.rounds(); number++ {
		var more map[*entry]bool
		if number > p.Rounds {
			more = unsettled(t, entries)
		}
		for _, e := range entries {
			switch {
			case e.runner == nil || ctx.Err() != nil:
				continue
			case number > p.Rounds && !more[e]:
				progress.Skip(1)
				continue
			}
			progress.Step(fmt.Sprintf("%s: round %d of %d, %s", t.Title, number, max(number, p.Rounds), e.row.label()))
			if err := p.round(ctx, t, e, entries, number); err != nil {
				e.fail(ctx, fmt.Errorf("round %d: %w", number, err), progress)
				progress.Skip(p.rounds() - number)
			}
		}
	}
	for _, e := range entries {
		e.result.Quantiles = quantilesOf(e.latencies)
		result.Rows = append(result.Rows, e.result)
	}
	return result
}

func (r Row) label() string {
	if r.Group == "" {
		return r.Name
	}
	return r.Name + ", " + r.Group
}

// open prepares a row's programs, starts it, and has it work until it is warm.
func (p Plan) open(ctx context.Context, t Table, e *entry, env *Env, progress Progress) error {
	if e.row.Missing != "" {
		return errors.New(e.row.Missing)
	}
	for _, program := range e.row.Needs {
		if err := program.Prepare(ctx, progress); err != nil {
			return err
		}
		if version := program.Version(e.row.Module); version != "" {
			e.result.Version = version
		}
	}
	// What is opened lives longer than the time there is for opening it.
	opening, opened := context.WithCancelCause(ctx)
	timer := time.AfterFunc(p.Timeout, func() { opened(fmt.Errorf("it was not ready within %s", p.Timeout)) })
	runner, err := e.row.Open(opening, env)
	if err != nil {
		timer.Stop()
		opened(nil)
		return err
	}
	if !timer.Stop() {
		runner.Close()
		return context.Cause(opening)
	}
	e.runner = runner
	if e.row.Cold {
		return nil
	}
	return p.warm(ctx, e, p.warming(e.row.Needs))
}

// measure is one measurement, with a limit to its time.
func (p Plan) measure(ctx context.Context, e *entry, d time.Duration) (sample, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d+p.Timeout, fmt.Errorf("it took longer than %s; it hangs, or the machine is too busy", d+p.Timeout))
	defer cancel()
	s, err := e.runner.Measure(ctx, d)
	return sample{s}, err
}

// round measures a row once, and again where others used the machine.
func (p Plan) round(ctx context.Context, t Table, e *entry, all []*entry, number int) error {
	for repeat := 0; ; repeat++ {
		for _, process := range e.runner.Processes() {
			forgetPeak(process.PID())
		}
		before := usageOf(all)
		s, err := p.measure(ctx, e, p.durationOf(t))
		after := usageOf(all)
		if err == nil {
			err = s.check()
		}
		if err != nil {
			return err
		}
		r := Round{Number: number, Figures: s.figures(), Foreign: foreign(before, after)}
		addUsage(r.Figures, e, s.Sample, before, after)
		if r.Foreign > MuchForeign && repeat < foreignRepeats && ctx.Err() == nil {
			continue
		}
		e.result.Rounds = append(e.result.Rounds, r)
		e.latencies.Add(s.Latencies)
		return nil
	}
}

// fail ends a row's part in the table. What was measured before stays.
func (e *entry) fail(ctx context.Context, err error, progress Progress) {
	e.close()
	if ctx.Err() != nil {
		e.result.Failure = "the run was ended before"
		return
	}
	e.result.Failure = lastOf(err.Error())
	progress.Note("%s is out: %s", e.row.label(), e.result.Failure)
}

func (e *entry) close() {
	if e.runner != nil {
		e.runner.Close()
		e.runner = nil
	}
}

// sample is a child's sample as the lab judges it.
type sample struct{ child.Sample }

func (s sample) check() error {
	switch {
	case s.Wrong > 0:
		return fmt.Errorf("%d wrong answers beside %d right ones: %s", s.Wrong, s.Operations, s.Problem)
	case s.Operations <= 0 || s.Elapsed <= 0:
		return errors.New("nothing was done")
	}
	return nil
}

func (s sample) figures() map[string]float64 {
	figures := map[string]float64{"rate": float64(s.Operations) / s.Elapsed.Seconds()}
	if len(s.Latencies) > 0 {
		h := child.NewHistogram()
		h.Add(s.Latencies)
		for key, share := range map[string]float64{"min": 0, "p50": .5, "p90": .9, "p99": .99, "p999": .999, "max": 1} {
			figures[key] = float64(h.Quantile(share))
		}
		figures["mean"] = float64(h.Mean())
	}
	maps.Copy(figures, s.Figures)
	return figures
}

// shares are the shares at which results keep quantiles.
var shares = []float64{0, .01, .05, .1, .25, .5, .75, .9, .95, .98, .99, .995, .998, .999, .9995, .9999, 1}

func quantilesOf(h *child.Histogram) []Quantile {
	if h.Count() == 0 {
		return nil
	}
	var all []Quantile
	for _, share := range shares {
		all = append(all, Quantile{share, h.Quantile(share)})
	}
	return all
}
