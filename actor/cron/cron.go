// Package cron runs functions at certain times, each in a process of its own.
//
//	jobs, err := cron.Start(system)
//	err = jobs.Add(ctx, cron.Job{
//		Name: "report",
//		Spec: "CRON_TZ=Europe/Berlin 30 6 * * MON-FRI",
//		Do:   func(p *actor.Process) error { return actor.Send(p, reporter, Report{}) },
//	})
//
// A scheduler is a process; its jobs are gone with it, and what it had not done by then is not done. It goes by the clock of the
// system, so tests can move the time.
//
// # Times
//
// An expression has five fields, minute, hour, day of the month, month and day of the week, or six with seconds before them, or
// is one of @yearly, @monthly, @weekly, @daily, @hourly and @every 90s. Where both days are restricted, either will do, as in
// crontab(5): "0 0 1,15 * MON" is the first, the 15th and each Monday. An expression whose date never comes, such as 30
// February, is refused.
//
// It is in UTC where neither the job's Location nor CRON_TZ= before the fields sets another. Where a location moves its clocks
// forward, what falls into the hour that is left out happens an hour later by that clock; where it moves them back, what falls
// into the hour that comes twice happens the first time only, but for expressions that name all hours: they go on (as cron(8)
// of Vixie's cron does).
//
// Where the clock of the machine is set back by an hour or more, jobs are planned anew within a minute, and what has run may run again; where by
// less, they wait until it shows their times.
package cron

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain/store"
)

// Job is an action with the times at which to run it.
type Job struct {
	Name string // unique in its scheduler, 1 to 255 bytes

	// Spec is a cron expression; or Every, which is then the time between two, from the time at which the job was added on: a run
	// that is late does not move those after it. It is at least a millisecond.
	Spec  string
	Every time.Duration

	Location *time.Location // for Spec; UTC where it is nil
	Jitter   time.Duration  // each run comes later, by a random time below this; with Every it must be less than that
	// Do is called in a process of its own for each run, which ends when it returns. Its error is noted in the job's Status. When the scheduler
	// ends, p.Context does, and the process is killed when Do returns.
	Do func(p *actor.Process) error
	// Overlap determines what happens when it is time and the last run of the job has not ended: "skip", nothing; "queue", it runs when that has
	// ended, where one waits at most; or "allow", it runs too, up to 100 at once. Default: "skip".
	Overlap  string
	CatchUp  int  // how many missed runs are made up for, 0 to 1000, one after the other but with Overlap "allow"; see Missed in Status
	Disabled bool // until Enable

	// Once is a store that the schedulers of several nodes share: each time of the job then belongs to one of them, which runs it; the
	// others count it as Elsewhere in Status. Give all of them the job under one name, with the same times. A time is run at most once: not if the
	// store cannot be reached within half a minute, nor if the node dies between taking it and the run. So CatchUp is 0, and Every
	// counts from the beginning of 1970, as the nodes start at different times. An expression may not be @every. Overlap is about the
	// runs on one node: while one runs here, the next time may be run elsewhere. A run that finds a time taken which is an hour or more to
	// come fails, since a clock is wrong: no node runs the job before that time, unless it gets another name.
	Once store.Store
}

// The words of Job.Overlap.
const (
	skip  = "skip"
	queue = "queue"
	allow = "allow"
)

// The bounds of a scheduler.
const (
	maxJobs    = 10_000
	maxRunning = 100 // runs of one job
	maxCatchUp = 1000
	maxName    = 255
)

// ErrNoJob: the scheduler has no job of that name.
var ErrNoJob = sabir.NewError(sabir.CodeNotFound, "NoJob", "no such job")

// ErrJobExists: the scheduler has a job of that name.
var ErrJobExists = sabir.NewError(sabir.CodeAlreadyExists, "JobExists", "there is a job of this name")

// Status describes a job.
type Status struct {
	Name    string
	Enabled bool
	Next    time.Time // zero for never
	Last    time.Time // when it ran last; zero for never
	Runs    int
	// Missed counts the runs that did not happen at their time, since the scheduler came to it only when a later one was due:
	// the machine slept, or its clock was moved. Of those that are due at once the last one counts as in time; of the others
	// CatchUp are made up for.
	Missed  int
	Skipped int // because of Overlap
	// Elsewhere counts the times that another node took, see Once of Job.
	Elsewhere int
	Running   int
	Failed    int
	Error     string // of the last run that failed
}

// Scheduler is a running scheduler, as a process or a system calls it. Its methods are calls: see actor.Call for how long they wait, and
// for the errors that they have beside their own. It may be copied.
type Scheduler struct {
	from actor.Sender
	to   actor.Ref[scheduler]
}

// Start starts a scheduler without jobs.
func Start(from actor.Sender, spawn ...actor.SpawnConfig) (Scheduler, error) {
	pid, err := Spec(nil, spawn...).Start(from)
	return At(from, pid), err
}

// At returns the scheduler at an address, such as the Name of one that a supervisor has started. A Scheduler whose from is a process,
// also that of Start, is for the callbacks of that process.
func At[A actor.Address](from actor.Sender, to A) Scheduler {
	return Scheduler{from, actor.RefTo[scheduler](to)}
}

// PID returns the PID of the scheduler; the zero PID if At had its name.
func (s Scheduler) PID() actor.PID { return s.to.PID() }

// Spec is a scheduler that begins with jobs, to be started by another process, such as a supervisor, which so gives it its jobs again.
func Spec(jobs []Job, spawn ...actor.SpawnConfig) actor.Spec {
	return behavior.Spec(jobs, spawn...)
}

// The calls of a scheduler. They stay on this node, since jobs hold functions.
type (
	add    struct{ job Job }
	remove struct{ name string }
	enable struct {
		name string
		on   bool
	}
	list struct{}
	next struct {
		name string
		n    int
	}
)

// Add adds a job. ErrJobExists where there is one of this name, actor.ErrTooMany beyond 10,000; other errors report what is
// wrong with it. Schedulers on other nodes cannot be given jobs.
func (s Scheduler) Add(ctx context.Context, job Job) error {
	_, err := actor.Call[sabir.Empty](ctx, s.from, s.to, add{job})
	return err
}

// Remove removes a job. What runs already goes on.
func (s Scheduler) Remove(ctx context.Context, name string) error {
	_, err := actor.Call[sabir.Empty](ctx, s.from, s.to, remove{name})
	return err
}

// Enable lets a job go on from now; what was due while it was disabled is not missed.
func (s Scheduler) Enable(ctx context.Context, name string) error {
	_, err := actor.Call[sabir.Empty](ctx, s.from, s.to, enable{name, true})
	return err
}

// Disable lets a job rest. What runs already goes on.
func (s Scheduler) Disable(ctx context.Context, name string) error {
	_, err := actor.Call[sabir.Empty](ctx, s.from, s.to, enable{name, false})
	return err
}

// List returns all jobs, by name.
func (s Scheduler) List(ctx context.Context) ([]Status, error) {
	return actor.Call[[]Status](ctx, s.from, s.to, list{})
}

// Next returns the next n times of a job, 1000 at most, without jitter; fewer where there are no more. Whether it is enabled does
// not matter.
func (s Scheduler) Next(ctx context.Context, name string, n int) ([]time.Time, error) {
	return actor.Call[[]time.Time](ctx, s.from, s.to, next{name, n})
}

func (j *Job) check() error {
	switch {
	case j.Name == "" || len(j.Name) > maxName:
		return fmt.Errorf("cron: the name of a job has 1 to %d bytes", maxName)
	case (j.Spec == "") == (j.Every == 0):
		return fmt.Errorf("cron: job %q needs either Spec or Every", j.Name)
	case j.Every != 0 && j.Every < time.Millisecond:
		return fmt.Errorf("cron: job %q: Every is %s, and at least a millisecond", j.Name, j.Every)
	case j.Jitter < 0 || j.Every != 0 && j.Jitter >= j.Every:
		return fmt.Errorf("cron: job %q: Jitter is %s: not negative, and less than Every", j.Name, j.Jitter)
	case j.Overlap != "" && j.Overlap != skip && j.Overlap != queue && j.Overlap != allow:
		return fmt.Errorf("cron: job %q: Overlap is %q: want %q, %q or %q", j.Name, j.Overlap, skip, queue, allow)
	case j.CatchUp < 0 || j.CatchUp > maxCatchUp:
		return fmt.Errorf("cron: job %q: CatchUp is %d, and 0 to %d", j.Name, j.CatchUp, maxCatchUp)
	case j.Once != nil && j.CatchUp != 0:
		return fmt.Errorf("cron: job %q: a job that runs Once in a cluster has no CatchUp", j.Name)
	case j.Once != nil && strings.Contains(j.Spec, "@every"):
		return fmt.Errorf("cron: job %q: set Every rather than @every for a job that runs Once in a cluster: its times count from 1970, and so are the same on all nodes", j.Name)
	case j.Do == nil:
		return fmt.Errorf("cron: job %q has nothing to do: set Do", j.Name)
	}
	return nil
}
