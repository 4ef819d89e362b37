package main

import (
	"log/slog"
	"testing"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/pool"
	"github.com/sabir-go/sabir/actor/supervise"
)

func Example() {
	main()
	// Output:
	// accepted 1000 jobs and killed a worker
	// job 2 made a worker crash and was done by the next: TAR
	// job 4 was given up after 3 attempts: Panic
	// done 999 of 1000
}

// Whatever of the company is killed but the desk, which has the books, every job is reported.
func TestNoAcceptedJobIsLostWhenProcessesAreKilled(t *testing.T) {
	ctx := t.Context()
	system := actor.NewSystem(actor.Config{Logger: slog.New(slog.DiscardHandler)})
	defer system.Stop(ctx)
	if _, err := company().Start(system); err != nil {
		t.Fatal(err)
	}
	const count = 300
	for id := range count {
		if _, err := actor.Call[int](ctx, system, desks, Job{ID: id, Text: "nails"}); err != nil {
			t.Fatal(err)
		}
		switch {
		case id == 200:
			if err := actor.Kill(system, workers); err != nil { // the pool, with all its workers
				t.Fatal(err)
			}
		case id%100 == 50:
			if info, err := pool.Ask(ctx, system, workers); err == nil {
				_ = actor.Kill(system, info.Workers[id%3])
			}
		case id == 120:
			if d, err := supervise.At(system, jobs).Describe(ctx); err == nil && len(d.Children) > 0 {
				_ = actor.Kill(system, d.Children[0].PID) // a job; it may be done by now
			}
		}
	}
	results, err := actor.Call[[]Result](ctx, system, desks, settle{})
	if err != nil || len(results) != count {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for _, r := range results {
		if r.Err != nil || r.Out != "NAILS" {
			t.Errorf("job %d: %+v", r.Job.ID, r)
		}
	}
}
