package moleculer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// shared are the contenders of one table whose processes serve several rows: they are started with the first row and end with
// the last. Each row has a word of its own, which is said to the measuring process before it measures for that row.
type shared struct {
	lock sync.Mutex
	open map[string]*sharedProcesses
}

type sharedProcesses struct {
	bench.Runner
	measuring *bench.Process
	rows      int
	said      string // the last word
	failed    error  // it did not answer: what it says now may be the answer to what was asked before
}

// sharedRow is one row's part in the processes.
type sharedRow struct {
	*sharedProcesses
	of        *shared
	key, word string
}

// row opens a row whose processes are those of other rows with the same key. start starts them, of which the last measures, and
// returns those besides that count for its figures, such as a broker.
func (s *shared) row(key, word string, start func() (bench.Runner, []*bench.Process, error)) (bench.Runner, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	p := s.open[key]
	if p == nil {
		r, more, err := start()
		if err != nil {
			return nil, err
		}
		all := r.Processes()
		p = &sharedProcesses{Runner: bench.With(r, more...), measuring: all[len(all)-1]}
		if s.open == nil {
			s.open = map[string]*sharedProcesses{}
		}
		s.open[key] = p
	}
	p.rows++
	return &sharedRow{p, s, key, word}, nil
}

// Measure says the row's word where another row was measured before.
func (r *sharedRow) Measure(ctx context.Context, d time.Duration) (child.Sample, error) {
	if r.failed != nil {
		return child.Sample{}, fmt.Errorf("its process has failed in another row: %w", r.failed)
	}
	s, err := r.measure(ctx, d)
	if ctx.Err() != nil {
		r.failed = context.Cause(ctx)
	}
	return s, err
}

func (r *sharedRow) measure(ctx context.Context, d time.Duration) (child.Sample, error) {
	if r.said != r.word {
		r.said = ""
		if _, err := r.measuring.Ask(ctx, r.word); err != nil {
			return child.Sample{}, err
		}
		r.said = r.word
	}
	return r.measuring.Measure(ctx, d)
}

// Close ends the processes with their last row.
func (r *sharedRow) Close() {
	r.of.lock.Lock()
	defer r.of.lock.Unlock()
	if r.rows--; r.rows == 0 {
		delete(r.of.open, r.key)
		r.Runner.Close()
	}
}
