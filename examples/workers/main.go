// Workers is a pool of supervised workers that loses no job which it has accepted, though workers crash.
//
// Each accepted job is a process of its own, a few hundred bytes: it asks the pool, waits for the answer, and asks again
// where the worker ended first. Its supervisor starts it again with the same job should it fail itself. What becomes of a
// job whose worker crashed:
//
//   - it made the worker panic: it is tried two more times, on workers started anew, and then reported as abandoned;
//   - it lay in the mailbox of a worker that crashed over another job, or that was killed: it is tried again.
//
// So a job is done at least once, not exactly once: a worker may end between the work and the answer. And all of it is in
// memory: what must outlive the program belongs into a durable channel, see examples/channel.
//
//	go run ./examples/workers
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/pool"
	"github.com/sabir-go/sabir/actor/supervise"
)

// A Job makes its worker panic Crashes times before it succeeds.
type Job struct {
	ID      int
	Text    string
	Crashes int
}

// Result is the result of a job.
type Result struct {
	Job      Job
	Out      string
	Attempts int
	Err      error // nil when it was done
}

// The names by which the processes find each other, also after a restart.
var (
	desks   = actor.Name{Name: "desk"}
	jobs    = actor.Name{Name: "jobs"}
	workers = actor.Name{Name: "workers"}
)

// worker does the work. It knows nothing of crashes and restarts.
type worker struct{}

type work struct {
	job     Job
	attempt int
}

func (*worker) Work(_ *actor.Process, w work) (string, error) {
	if w.attempt <= w.job.Crashes {
		panic(fmt.Sprintf("job %d is too much for me", w.job.ID))
	}
	return strings.ToUpper(w.job.Text), nil
}

var workerBehavior = actor.Define[worker, struct{}]("worker", nil, actor.OnCall((*worker).Work))

// task is the process of one accepted job.
type task struct {
	job     Job
	attempt int
	result  Result
}

type (
	try    struct{}
	report struct{}
)

const attempts = 3

func (t *task) Init(p *actor.Process, job Job) error {
	t.job, t.attempt = job, 1
	return actor.Send(p, p.PID(), try{})
}

// Try asks the pool and waits; other processes are not held up by that.
func (t *task) Try(p *actor.Process, _ try) error {
	out, err := actor.Call[string](p.Context(), p, workers, work{t.job, t.attempt})
	switch {
	case errors.Is(err, sabir.ErrPanic) && t.attempt < attempts: // this job's doing
		t.attempt++
		return actor.Send(p, p.PID(), try{})
	case errors.Is(err, sabir.ErrPanic), err == nil:
		t.result = Result{t.job, out, t.attempt, err}
		return t.Report(p, report{})
	}
	actor.SendAfter(p, p.PID(), time.Millisecond, try{}) // the worker went, or is not there yet
	return nil
}

// Report ends the process when the desk has the result for certain.
func (t *task) Report(p *actor.Process, _ report) error {
	if err := actor.SendConfirmed(p.Context(), p, desks, t.result); err != nil {
		actor.SendAfter(p, p.PID(), 10*time.Millisecond, report{})
		return nil
	}
	return actor.ErrNormal
}

var taskBehavior = actor.Define("task", (*task).Init, actor.OnMessage((*task).Try), actor.OnMessage((*task).Report))

// desk accepts jobs and keeps the books.
type desk struct {
	open    map[int]Job
	results []Result
	waiting actor.Request
}

type settle struct{}

func (d *desk) Init(*actor.Process, struct{}) error { d.open = map[int]Job{}; return nil }

// Accept answers when the job has a process that is supervised: from then on it is not lost.
func (d *desk) Accept(p *actor.Process, job Job) (int, error) {
	if _, err := supervise.StartOne(p.Context(), supervise.At(p, jobs), job); err != nil {
		return 0, err
	}
	d.open[job.ID] = job
	return job.ID, nil
}

func (d *desk) Result(p *actor.Process, r Result) error {
	if _, ok := d.open[r.Job.ID]; !ok {
		return nil // reported twice
	}
	delete(d.open, r.Job.ID)
	d.results = append(d.results, r)
	d.answerIfSettled(p)
	return nil
}

// Settle is answered when no job is open any more.
func (d *desk) Settle(p *actor.Process, _ settle) ([]Result, error) {
	d.waiting = p.Request()
	defer d.answerIfSettled(p)
	return nil, actor.ErrNoReply
}

func (d *desk) answerIfSettled(p *actor.Process) {
	if len(d.open) == 0 && !d.waiting.Zero() {
		actor.Reply(p, d.waiting, d.results)
		d.waiting = actor.Request{}
	}
}

var deskBehavior = actor.Define("desk", (*desk).Init, actor.OnCall((*desk).Accept), actor.OnMessage((*desk).Result), actor.OnCall((*desk).Settle))

// company starts everything. A child that ends is started again alone: the jobs wait for the pool, by its name.
func company() actor.Spec {
	return supervise.Spec(supervise.Config{Name: "company", Intensity: 5},
		supervise.Child{ID: "workers", Start: pool.Spec(workerBehavior.Spec(struct{}{}), pool.Config{Size: 3, Restarts: 20, Within: time.Second}, actor.SpawnConfig{Name: "workers"})},
		supervise.Child{ID: "jobs", Start: supervise.Dynamic(taskBehavior, supervise.Config{Name: "jobs"}, supervise.Child{Restart: "transient"})},
		supervise.Child{ID: "desk", Start: deskBehavior.Spec(struct{}{}, actor.SpawnConfig{Name: "desk"})},
	)
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	system := actor.NewSystem(actor.Config{Logger: slog.New(slog.DiscardHandler)}) // it logs each panic with its stack
	defer system.Stop(ctx)
	if _, err := company().Start(system); err != nil {
		return err
	}
	list := []Job{{Text: "rope"}, {Text: "tar", Crashes: 1}, {Text: "oil"}, {Text: "powder", Crashes: 100}}
	for range 996 {
		list = append(list, Job{Text: "nails"})
	}
	for i, job := range list {
		job.ID = i + 1
		if _, err := actor.Call[int](ctx, system, desks, job); err != nil {
			return err
		}
		if i == len(list)/2 {
			if err := killOne(ctx, system); err != nil {
				return err
			}
		}
	}
	fmt.Println("accepted", len(list), "jobs and killed a worker")

	results, err := actor.Call[[]Result](ctx, system, desks, settle{})
	if err != nil {
		return err
	}
	done, givenUp := 0, []Result{}
	for _, r := range results {
		if r.Err != nil {
			givenUp = append(givenUp, r)
			continue
		}
		done++
		if r.Attempts > 1 {
			fmt.Printf("job %d made a worker crash and was done by the next: %s\n", r.Job.ID, r.Out)
		}
	}
	for _, r := range givenUp {
		fmt.Printf("job %d was given up after %d attempts: %s\n", r.Job.ID, r.Attempts, sabir.AsError(r.Err).Name)
	}
	fmt.Println("done", done, "of", len(results))
	return nil
}

func killOne(ctx context.Context, system *actor.System) error {
	for {
		info, err := pool.Ask(ctx, system, workers)
		if err != nil {
			return err
		}
		if err := actor.Kill(system, info.Workers[0]); !errors.Is(err, actor.ErrNoProcess) {
			return err
		} // a job has made it crash meanwhile
	}
}
