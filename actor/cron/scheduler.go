package cron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

// scheduler is the state of its process.
type scheduler struct {
	jobs    map[string]*job
	running map[actor.MonitorRef]running
	turn    uint64      // of the timer that counts; older ones are ignored
	stop    func() bool // that timer; nil for none
	shown   time.Time   // by the clock, when the scheduler looked last
}

type job struct {
	Job
	schedule schedule
	due      time.Time   // by the schedule
	at       time.Time   // due and jitter; zero for never
	queued   []time.Time // the times of the runs that wait for the one before them: up to CatchUp, and one
	status   Status
}

// running is a run that has not ended.
type running struct {
	job    *job
	stop   func() bool // keeps the scheduler's end from ending it
	before time.Time   // when the job had run last
}

var behavior = actor.Define("cron", (*scheduler).Init,
	actor.OnMessage((*scheduler).Wake), actor.OnMessage((*scheduler).Down),
	actor.OnCall((*scheduler).Add), actor.OnCall((*scheduler).Remove), actor.OnCall((*scheduler).Enable),
	actor.OnCall((*scheduler).List), actor.OnCall((*scheduler).NextTimes),
)

func (s *scheduler) Init(p *actor.Process, jobs []Job) error {
	s.jobs, s.running = make(map[string]*job), make(map[actor.MonitorRef]running)
	for _, j := range jobs {
		if _, err := s.Add(p, add{j}); err != nil {
			return err
		}
	}
	return nil
}

func (s *scheduler) Add(p *actor.Process, a add) (none sabir.Empty, err error) {
	j := &job{Job: a.job}
	if err := j.check(); err != nil {
		return none, err
	}
	if s.jobs[j.Name] != nil {
		return none, sabir.Errorf(ErrJobExists.Code, ErrJobExists.Name, "%s: %q", ErrJobExists.Message, j.Name)
	}
	if len(s.jobs) >= maxJobs {
		return none, sabir.Errorf(actor.ErrTooMany.Code, actor.ErrTooMany.Name, "a scheduler has at most %d jobs", maxJobs).AsRetryable()
	}
	if j.Every > 0 && j.Once != nil {
		j.schedule = every{time.Unix(0, 0), j.Every}
	} else if j.Every > 0 {
		j.schedule = every{p.Now(), j.Every}
	} else if j.schedule, err = parse(j.Spec, j.Location); err != nil {
		return none, err
	}
	j.status = Status{Name: j.Name, Enabled: !j.Disabled}
	s.jobs[j.Name] = j
	j.plan(p.Now())
	s.arm(p)
	return none, nil
}

// plan sets when the job runs next, after a time.
func (j *job) plan(after time.Time) {
	j.due, j.at = time.Time{}, time.Time{}
	if !j.status.Enabled {
		return
	}
	if j.due = j.schedule.Next(after); j.due.IsZero() {
		return
	}
	j.at = j.due
	if j.Jitter > 0 {
		j.at = j.due.Add(rand.N(j.Jitter))
	}
}

// wake is the scheduler's timer.
type wake struct{ turn uint64 }

// recheckEvery bounds how long a timer runs, so that clocks that are moved are noticed.
const recheckEvery = time.Minute

// arm sets the timer for the first job.
func (s *scheduler) arm(p *actor.Process) {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
	var first time.Time
	for _, j := range s.jobs {
		if !j.at.IsZero() && (first.IsZero() || j.at.Before(first)) {
			first = j.at
		}
	}
	if first.IsZero() {
		return
	}
	s.turn++
	s.stop = actor.SendAfter(p, p.PID(), min(max(first.Sub(p.Now()), 0), recheckEvery), wake{s.turn})
}

func (s *scheduler) Wake(p *actor.Process, w wake) error {
	if w.turn != s.turn {
		return nil
	}
	now := p.Now()
	s.noticeSetBack(now)
	var due []*job
	for _, j := range s.jobs {
		if !j.at.IsZero() && !j.at.After(now) {
			due = append(due, j)
		}
	}
	slices.SortFunc(due, func(a, b *job) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.Name, b.Name)) })
	for _, j := range due {
		s.runDue(p, j, now)
	}
	s.arm(p)
	return nil
}

// setBack is by how much a clock is set back at least for jobs to be planned anew. What has run may run again then, so below it they wait until the
// clock shows their times.
const setBack = time.Hour

// noticeSetBack plans jobs anew where the clock was set back: one that was wrong by a day, or a year, would else keep them from running for as long.
func (s *scheduler) noticeSetBack(now time.Time) {
	shown := now.Round(0) // without the reading of the monotonic clock, which nobody sets
	if shown.Before(s.shown.Add(-setBack)) {
		for _, j := range s.jobs {
			if j.due.After(now) {
				j.plan(now)
			}
		}
	}
	s.shown = shown
}

// runDue runs a job as often as it is due, and plans its next run.
func (s *scheduler) runDue(p *actor.Process, j *job, now time.Time) {
	missed := 0
	for missed < maxMissed {
		following := j.schedule.Next(j.due)
		if following.IsZero() || following.Add(j.Jitter).After(now) {
			break
		}
		j.due = following
		missed++
	}
	j.status.Missed += missed
	made := min(missed, j.CatchUp)
	for range made {
		s.do(p, j, now, j.due, true)
	}
	s.do(p, j, now, j.due, made > 0)
	after := j.due
	if missed == maxMissed { // many a day: those after them are not counted
		after = now
	}
	j.plan(after)
}

// maxMissed bounds the counting of missed runs.
const maxMissed = 100_000

// do runs a job once, for the time at which it was due. One of those that are made up for waits where another one runs.
func (s *scheduler) do(p *actor.Process, j *job, now, due time.Time, madeUp bool) {
	if n := j.status.Running; n > 0 && j.Overlap != allow || n >= maxRunning {
		if madeUp && len(j.queued) <= j.CatchUp || j.Overlap == queue && len(j.queued) == 0 {
			j.queued = append(j.queued, due)
			return
		}
		j.status.Skipped++
		return
	}
	before := j.status.Last
	j.status.Runs, j.status.Last = j.status.Runs+1, now
	pid, err := actor.Spawn(p, runBehavior, j.work(due))
	if err != nil {
		j.note(err)
		return
	}
	system := p.System()
	stop := context.AfterFunc(p.Context(), func() { _ = system.Kill(pid.PID()) }) // which its context knows of at once; it may have ended
	s.running[p.Monitor(pid.PID())] = running{j, stop, before}
	j.status.Running++
	j.note(actor.Send(p, pid, begin{}))
}

func (j *job) note(err error) {
	if err != nil {
		j.status.Failed++
		j.status.Error = err.Error()
	}
}

// Down is the end of a run.
func (s *scheduler) Down(p *actor.Process, d actor.Down) error {
	r, ok := s.running[d.Ref]
	if !ok {
		return nil
	}
	delete(s.running, d.Ref)
	r.stop()
	j := r.job
	j.status.Running--
	if errors.Is(d.Reason, errRunElsewhere) {
		j.status.Elsewhere++
		j.status.Runs--
		j.status.Last = r.before
	} else if d.Reason != error(actor.ErrNormal) {
		j.note(d.Reason)
	}
	if len(j.queued) > 0 && s.jobs[j.Name] == j && j.status.Enabled {
		due := j.queued[0]
		j.queued = j.queued[1:]
		s.do(p, j, p.Now(), due, false)
	}
	return nil
}

func (s *scheduler) Remove(p *actor.Process, r remove) (none sabir.Empty, err error) {
	if _, err := s.find(r.name); err != nil {
		return none, err
	}
	delete(s.jobs, r.name)
	s.arm(p)
	return none, nil
}

func (s *scheduler) Enable(p *actor.Process, e enable) (none sabir.Empty, err error) {
	j, err := s.find(e.name)
	if err != nil || j.status.Enabled == e.on {
		return none, err
	}
	j.status.Enabled, j.queued = e.on, nil
	j.plan(p.Now())
	s.arm(p)
	return none, nil
}

func (s *scheduler) List(*actor.Process, list) ([]Status, error) {
	all := make([]Status, 0, len(s.jobs))
	for _, j := range s.jobs {
		j.status.Next = j.at
		all = append(all, j.status)
	}
	slices.SortFunc(all, func(a, b Status) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

func (s *scheduler) NextTimes(p *actor.Process, n next) ([]time.Time, error) {
	j, err := s.find(n.name)
	if err != nil {
		return nil, err
	}
	if n.n < 1 || n.n > 1000 {
		return nil, fmt.Errorf("cron: Next tells 1 to 1000 times, not %d", n.n)
	}
	var times []time.Time
	for at := j.schedule.Next(p.Now()); !at.IsZero() && len(times) < n.n; at = j.schedule.Next(at) {
		times = append(times, at)
	}
	return times, nil
}

func (s *scheduler) find(name string) (*job, error) {
	if j := s.jobs[name]; j != nil {
		return j, nil
	}
	return nil, sabir.Errorf(ErrNoJob.Code, ErrNoJob.Name, "%s: %q", ErrNoJob.Message, name)
}

// run is the process of one run.
type run struct{ fn func(p *actor.Process) error }

type begin struct{}

var runBehavior = actor.Define("cron-run", (*run).Init, actor.OnMessage((*run).Begin))

func (r *run) Init(_ *actor.Process, fn func(p *actor.Process) error) error { r.fn = fn; return nil }

func (r *run) Begin(p *actor.Process, _ begin) error {
	if err := r.fn(p); err != nil {
		return err
	}
	return actor.ErrNormal
}
