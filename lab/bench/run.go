package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// Plan says how much is measured.
type Plan struct {
	Rounds   int           // of each row
	Duration time.Duration // of one measurement, where the table has none of its own
	Fixed    bool          // Duration holds for tables with their own, too
	Quick    bool          // only rows and tables that have a part in quick runs, with their quick durations
	Timeout  time.Duration // for a row to open, or for a measurement to end after its duration
}

// The plans of a whole run and of a quick one.
var (
	Whole = Plan{Rounds: 5, Duration: time.Second, Timeout: time.Minute}
	Quick = Plan{Rounds: 3, Duration: 200 * time.Millisecond, Quick: true, Timeout: 30 * time.Second}
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
	seeds = p.part(seeds)
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

// part returns the seeds with the tables and rows that the plan measures.
func (p Plan) part(seeds []Seed) []Seed {
	if !p.Quick {
		return seeds
	}
	var kept []Seed
	for _, s := range seeds {
		var tables []Table
		for _, t := range s.Tables {
			if t.FullOnly {
				continue
			}
			var rows []Row
			for _, r := range t.Rows {
				if !r.FullOnly {
					rows = append(rows, r)
				}
			}
			t.Rows = rows
			tables = append(tables, t)
		}
		s.Tables = tables
		kept = append(kept, s)
	}
	return kept
}

func (p Plan) steps(seeds []Seed) int {
	n := 0
	for _, s := range seeds {
		for _, t := range s.Tables {
			n += len(t.Rows) * (1 + p.Rounds)
		}
	}
	return n
}

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

// table opens all rows, then measures each once a round, so that noise hits all alike.
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
			progress.Skip(p.Rounds)
		}
	}
	for round := range p.Rounds {
		for _, e := range entries {
			if e.runner == nil || ctx.Err() != nil {
				continue
			}
			progress.Step(fmt.Sprintf("%s: round %d of %d, %s", t.Title, round+1, p.Rounds, e.row.label()))
			if err := p.round(ctx, t, e, entries); err != nil {
				e.fail(ctx, fmt.Errorf("round %d: %w", round+1, err), progress)
				progress.Skip(p.Rounds - round - 1)
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

// open prepares a row's programs, starts it, and works for a while without measuring.
func (p Plan) open(ctx context.Context, t Table, e *entry, env *Env, progress Progress) error {
	if e.row.Missing != "" {
		return errors.New(e.row.Missing)
	}
	warm := min(p.durationOf(t), time.Second)
	for _, program := range e.row.Needs {
		if err := program.Prepare(ctx, progress); err != nil {
			return err
		}
		if version := program.Version(e.row.Module); version != "" {
			e.result.Version = version
		}
		warm = max(warm, program.warm(p.Quick))
	}
	if e.row.Warm > 0 {
		warm = e.row.Warm
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
	s, err := p.measure(ctx, e, warm)
	if err != nil {
		return fmt.Errorf("warming up: %w", err)
	}
	return s.check()
}

// measure is one measurement, with a limit to its time.
func (p Plan) measure(ctx context.Context, e *entry, d time.Duration) (sample, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d+p.Timeout, fmt.Errorf("it took longer than %s; it hangs, or the machine is too busy", d+p.Timeout))
	defer cancel()
	s, err := e.runner.Measure(ctx, d)
	return sample{s}, err
}

// round measures a row once, and again where others used the machine.
func (p Plan) round(ctx context.Context, t Table, e *entry, all []*entry) error {
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
		r := Round{Figures: s.figures(), Foreign: foreign(before, after)}
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

// usage is the CPU time that processes and the machine have used up to a moment.
type usage struct {
	at     time.Time
	own    time.Duration // of this process and of all rows'
	busy   time.Duration // of all processes of the machine; 0 where it is not known
	single map[*Process]time.Duration
}

func usageOf(all []*entry) usage {
	u := usage{at: time.Now(), single: map[*Process]time.Duration{}}
	for _, e := range all {
		if e.runner == nil {
			continue
		}
		for _, p := range e.runner.Processes() {
			if _, read := u.single[p]; read {
				continue // several rows have it
			}
			cpu, err := p.cpu()
			if err != nil {
				continue // no such system, or it has just ended: Measure says so
			}
			u.single[p] = cpu
			u.own += cpu
		}
	}
	self, err := child.CPU()
	if err == nil {
		u.own += self + reapedCPU()
	}
	if u.busy, err = busyOf(); err != nil {
		u.busy = 0
	}
	return u
}

// clockError is the error that the system's figures of CPU time may have: the ticks of some processes at both ends.
const clockError = 3 * tick

// foreign is the share of the machine that others took between two moments, percent.
func foreign(before, after usage) float64 {
	all := after.at.Sub(before.at) * time.Duration(runtime.NumCPU())
	if all <= 0 || after.busy == 0 {
		return 0
	}
	others := (after.busy - before.busy) - (after.own - before.own) - clockError
	return max(0, float64(others)/float64(all)*100)
}

func addUsage(figures map[string]float64, e *entry, s child.Sample, before, after usage) {
	processes := e.runner.Processes()
	measuring := -1
	if s.CPU > 0 && len(processes) > 0 {
		measuring = len(processes) - 1
		for i, p := range processes { // the last that is not somebody else's
			if !p.group {
				measuring = i
			}
		}
	}
	cpu, memory := map[string]time.Duration{}, map[string]float64{}
	for i, p := range processes {
		used := after.single[p] - before.single[p]
		if i == measuring {
			used = s.CPU
		}
		if used > 0 {
			cpu[p.Role] += used
		}
		if peak, err := peakOf(p.PID()); err == nil {
			memory[p.Role] += peak
		}
	}
	if len(processes) == 0 && s.CPU > 0 {
		cpu["client"] = s.CPU
	}
	for role, used := range cpu {
		figures["cpu"] += float64(used) / float64(s.Operations)
		figures["cpu:"+role] = float64(used) / float64(s.Operations)
		figures["cores:"+role] = float64(used) / float64(after.at.Sub(before.at)) * 100
	}
	for role, peak := range memory {
		figures["memory"] += peak
		figures["memory:"+role] = peak
	}
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
