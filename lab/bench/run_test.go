package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// quiet is a Progress that keeps the notes.
type quiet struct {
	io.Writer
	steps, done int
	notes       []string
}

func (q *quiet) Begin(steps int)              { q.steps = steps }
func (q *quiet) Step(string)                  { q.done++ }
func (q *quiet) Skip(steps int)               { q.done += steps }
func (q *quiet) Note(format string, a ...any) { q.notes = append(q.notes, fmt.Sprintf(format, a...)) }

// fake is a row in this process.
type fake struct {
	measure func(ctx context.Context, n int) (child.Sample, error) // n counts from 0; the first of a steady row are its warm-up
	n       int
	closed  *int
}

func (f *fake) Measure(ctx context.Context, d time.Duration) (child.Sample, error) {
	s, err := f.measure(ctx, f.n)
	f.n++
	if s.Elapsed == 0 {
		s.Elapsed = d
	}
	return s, err
}
func (f *fake) Processes() []*Process { return nil }
func (f *fake) Close()                { *f.closed++ }

func row(name string, closed *int, measure func(ctx context.Context, n int) (child.Sample, error)) Row {
	return Row{Name: name, Open: func(context.Context, *Env) (Runner, error) { return &fake{measure: measure, closed: closed}, nil }}
}

// warmUp is how many measurements warm a row up whose rate is the same in all.
const warmUp = flatSlices + 1

func good(context.Context, int) (child.Sample, error) { return child.Sample{Operations: 1000}, nil }

// runTable measures a table of the rows with a plan of three rounds.
func runTable(t *testing.T, ctx context.Context, rows ...Row) ([]RowResult, *quiet, *Results) {
	t.Helper()
	progress := &quiet{Writer: io.Discard}
	plan := Plan{Rounds: 3, Duration: time.Second, Timeout: 10 * time.Second}
	r := plan.Run(ctx, []Seed{{Name: "seed", Tables: []Table{{Name: "table", Rows: rows}}}}, progress, func(*Results) {})
	if len(r.Seeds[0].Tables) == 0 {
		return nil, progress, r
	}
	return r.Seeds[0].Tables[0].Rows, progress, r
}

func TestRowsTakeTurns(t *testing.T) {
	var order []string
	closed := 0
	note := func(name string) Row {
		return row(name, &closed, func(ctx context.Context, n int) (child.Sample, error) {
			order = append(order, fmt.Sprint(name, n))
			return good(ctx, n)
		})
	}
	rows, progress, _ := runTable(t, t.Context(), note("a"), note("b"))
	if want := []string{"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3", "a4", "b4", "a5", "b5", "a6", "b6"}; !slices.Equal(order, want) {
		t.Errorf("measured in the order %v, want %v", order, want)
	}
	for _, r := range rows {
		if len(r.Rounds) != 3 || r.Failure != "" {
			t.Errorf("%s has %d rounds, failure %q", r.Name, len(r.Rounds), r.Failure)
		}
	}
	if closed != 2 {
		t.Errorf("%d of 2 rows were closed", closed)
	}
	if progress.done != progress.steps {
		t.Errorf("%d of %d steps were notified", progress.done, progress.steps)
	}
}

func TestRowThatFailsKeepsItsReasonAndOthersGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		row    func(closed *int) Row
		rounds int
		reason string
	}{
		"missing": {func(*int) Row { return Row{Name: "x", Missing: "not on the registry"} }, 0, "not on the registry"},
		"does not open": {func(*int) Row {
			return Row{Name: "x", Open: func(context.Context, *Env) (Runner, error) { return nil, errors.New("the port is taken") }}
		}, 0, "the port is taken"},
		"crashes in the second round": {func(closed *int) Row {
			return row("x", closed, func(ctx context.Context, n int) (child.Sample, error) {
				if n == warmUp+1 {
					return child.Sample{}, errors.New("the server ended")
				}
				return good(ctx, n)
			})
		}, 1, "round 2: the server ended"},
		"answers wrongly": {func(closed *int) Row {
			return row("x", closed, func(_ context.Context, n int) (child.Sample, error) {
				return child.Sample{Operations: 10, Wrong: int64(max(0, n-warmUp+1)), Problem: "want 1, got 2"}, nil
			})
		}, 0, "round 1: 1 wrong answers beside 10 right ones: want 1, got 2"},
		"answers wrongly while warming up": {func(closed *int) Row {
			return row("x", closed, func(context.Context, int) (child.Sample, error) {
				return child.Sample{Operations: 10, Wrong: 1, Problem: "no"}, nil
			})
		}, 0, "1 wrong answers"},
		"does nothing": {func(closed *int) Row {
			return row("x", closed, func(context.Context, int) (child.Sample, error) { return child.Sample{}, nil })
		}, 0, "nothing was done"},
	} {
		t.Run(name, func(t *testing.T) {
			closed := 0
			rows, progress, _ := runTable(t, t.Context(), c.row(&closed), row("other", &closed, good))
			if r := rows[0]; len(r.Rounds) != c.rounds || !strings.Contains(r.Failure, c.reason) {
				t.Errorf("%d rounds, failure %q; want %d and %q", len(r.Rounds), r.Failure, c.rounds, c.reason)
			}
			if r := rows[1]; len(r.Rounds) != 3 || r.Failure != "" {
				t.Errorf("the other row has %d rounds, failure %q", len(r.Rounds), r.Failure)
			}
			if len(progress.notes) != 1 || progress.done != progress.steps {
				t.Errorf("notes %q, %d of %d steps", progress.notes, progress.done, progress.steps)
			}
		})
	}
}

func TestRowThatHangsIsAbandoned(t *testing.T) {
	hang := func(ctx context.Context) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	for name, r := range map[string]Row{
		"in a measurement": row("x", new(int), func(ctx context.Context, _ int) (child.Sample, error) { return child.Sample{}, hang(ctx) }),
		"in its start":     {Name: "x", Open: func(ctx context.Context, _ *Env) (Runner, error) { return nil, hang(ctx) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rows, _, _ := runTable(t, t.Context(), r, row("other", new(int), good))
				if !strings.Contains(rows[0].Failure, "within 10s") && !strings.Contains(rows[0].Failure, "longer than 10.3s") {
					t.Errorf("the row that hangs: %q", rows[0].Failure)
				}
				if len(rows[1].Rounds) != 3 {
					t.Errorf("the other row has %d rounds", len(rows[1].Rounds))
				}
			})
		})
	}
}

func TestWhatWasMeasuredIsKeptWhenTheRunIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	closed := 0
	rows, _, results := runTable(t, ctx, row("a", &closed, good), row("b", &closed, func(ctx context.Context, n int) (child.Sample, error) {
		if n == warmUp+1 {
			cancel()
			return child.Sample{}, ctx.Err()
		}
		return good(ctx, n)
	}))
	if !results.Cut {
		t.Error("the results are not marked as cut")
	}
	if len(rows[0].Rounds) != 2 || len(rows[1].Rounds) != 1 {
		t.Errorf("%d and %d rounds are kept, want 2 and 1", len(rows[0].Rounds), len(rows[1].Rounds))
	}
	if closed != 2 {
		t.Errorf("%d of 2 rows were closed", closed)
	}
}

func TestFiguresOfARound(t *testing.T) {
	s := sample{child.Sample{Operations: 500, Elapsed: 2 * time.Second, Latencies: child.Latencies{{1000, 98}, {5000, 2}},
		Figures: map[string]float64{"bytes": 7}}}
	got := s.figures()
	for key, want := range map[string]float64{"rate": 250, "min": 1000, "p50": 1000, "p99": 5000, "max": 5000, "mean": 1080, "bytes": 7} {
		if diff := got[key]/want - 1; diff < -.002 || diff > .002 {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
}

func TestForeignLoadIsTheTimeOfOtherProcesses(t *testing.T) {
	now := time.Now()
	before := usage{at: now, own: time.Second, busy: 100 * time.Second}
	quiet := usage{at: now.Add(time.Second), own: 2 * time.Second, busy: 101 * time.Second}
	if got := foreign(before, quiet); got != 0 {
		t.Errorf("with nobody else: %v%%", got)
	}
	busy := quiet
	busy.busy += time.Second
	if got := foreign(before, busy); got <= 0 {
		t.Errorf("with a second of others: %v%%", got)
	}
	if got := foreign(usage{at: now}, usage{at: now.Add(time.Second)}); got != 0 {
		t.Errorf("where it is not known: %v%%", got)
	}
}
