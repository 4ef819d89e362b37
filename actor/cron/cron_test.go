package cron_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/actortest"
	"github.com/sabir-go/sabir/actor/cron"
)

const testTimeout = 2 * time.Minute

// midday is the time at which the clocks of tests begin.
var midday = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// world is a system with a scheduler, a clock, and a process that gets messages.
type world struct {
	t         testing.TB
	s         *actor.System
	clock     *clock
	scheduler cron.Scheduler
	ear       actor.PID
	received  chan received
	quick     map[string]bool // the jobs whose runs send to the ear, and end then
}

type call struct{ Name string }

type received struct {
	name string
	at   time.Time
}

type ear struct{ received chan received }

func (e *ear) Init(_ *actor.Process, h chan received) error { e.received = h; return nil }
func (e *ear) Call(p *actor.Process, c call) error {
	e.received <- received{c.Name, p.Now()}
	return nil
}
func (e *ear) Sync(*actor.Process, struct{}) (struct{}, error) {
	return struct{}{}, nil
}

var earB = actor.Define("ear", (*ear).Init, actor.OnMessage((*ear).Call), actor.OnCall((*ear).Sync))

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, clock: &clock{now: midday}, received: make(chan received, 10_000), quick: map[string]bool{}}
	w.s = actortest.NewSystem(actor.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}, w.clock)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if err := w.s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	var err error
	if w.scheduler, err = cron.Start(w.s); err != nil {
		t.Fatal(err)
	}
	if w.ear, err = earB.Spec(w.received).Start(w.s); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) add(j cron.Job) {
	w.t.Helper()
	j.Do, w.quick[j.Name] = w.send(j.Name), true
	w.addDoing(j)
}

// send makes the Do of a job that sends its name to the ear.
func (w *world) send(name string) func(*actor.Process) error {
	return func(p *actor.Process) error { return actor.SendConfirmed(p.Context(), p, w.ear, call{name}) }
}

func (w *world) addDoing(j cron.Job) {
	w.t.Helper()
	if err := w.scheduler.Add(w.t.Context(), j); err != nil {
		w.t.Fatal(err)
	}
}

// settle waits until the scheduler, the runs that send to the ear, and the ear have done what they have got to do.
func (w *world) settle() {
	w.t.Helper()
	for slices.ContainsFunc(w.list(), func(s cron.Status) bool { return w.quick[s.Name] && s.Running > 0 }) {
		runtime.Gosched()
	}
	if _, err := actor.Call[struct{}](context.Background(), w.s, w.ear, struct{}{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) list() []cron.Status {
	w.t.Helper()
	all, err := w.scheduler.List(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// pass lets time go by, from timer to timer.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.settle()
	for end := w.clock.Now().Add(d); ; w.settle() {
		at, ok := w.clock.next()
		if !ok || at.After(end) {
			w.clock.jump(end.Sub(w.clock.Now()))
			return
		}
		w.clock.jump(at.Sub(w.clock.Now()))
	}
}

// wants checks what the ear has received since it was asked last: names, and the time after midday.
func (w *world) wants(want ...string) {
	w.t.Helper()
	w.settle()
	var got []string
	for len(w.received) > 0 {
		h := <-w.received
		got = append(got, fmt.Sprint(h.name, " ", h.at.Sub(midday)))
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("the times are %q, not %q", got, want)
	}
}

func TestAPeriodicJobRunsWithoutDrift(t *testing.T) {
	w := newWorld(t)
	w.add(cron.Job{Name: "a", Every: 10 * time.Second})
	w.pass(25 * time.Second)
	w.wants("a 10s", "a 20s")
	w.clock.jump(7 * time.Second) // late by 2 s
	w.wants("a 32s")
	w.pass(18 * time.Second)
	w.wants("a 40s", "a 50s")
}

func TestAnExpressionRunsAtItsTimes(t *testing.T) {
	w := newWorld(t)
	w.add(cron.Job{Name: "a", Spec: "*/20 * * * *"})
	w.add(cron.Job{Name: "b", Spec: "30 12 * * *"})
	w.add(cron.Job{Name: "c", Spec: "15 */30 * * * *"})
	w.pass(time.Hour)
	w.wants("c 15s", "a 20m0s", "b 30m0s", "c 30m15s", "a 40m0s", "a 1h0m0s")
}

func TestTheLocationSaysWhatTheClockShows(t *testing.T) {
	w := newWorld(t)
	tokyo, err := time.LoadLocation("Asia/Tokyo") // 21:00 there
	if err != nil {
		t.Fatal(err)
	}
	w.add(cron.Job{Name: "location", Spec: "30 21 * * *", Location: tokyo})
	w.add(cron.Job{Name: "prefix", Spec: "CRON_TZ=America/New_York 0 8 * * *"}) // 07:00 there
	w.pass(3 * time.Hour)
	w.wants("location 30m0s", "prefix 1h0m0s")
}

func TestJitterDelaysAndDoesNotAddUp(t *testing.T) {
	w := newWorld(t)
	w.add(cron.Job{Name: "a", Every: time.Minute, Jitter: 30 * time.Second})
	w.pass(100*time.Minute + 30*time.Second)
	w.settle()
	if n := len(w.received); n != 100 {
		t.Fatalf("%d runs, not 100", n)
	}
	delays := map[time.Duration]bool{}
	for i := range 100 {
		delay := (<-w.received).at.Sub(midday) - time.Duration(i+1)*time.Minute
		if delay < 0 || delay >= 30*time.Second {
			t.Errorf("run %d was late by %s", i, delay)
		}
		delays[delay] = true
	}
	if len(delays) < 50 {
		t.Errorf("100 runs have %d different delays", len(delays))
	}
}

func TestMissedRunsAreCountedAndMadeUpForAsFarAsCatchUpSays(t *testing.T) {
	for catchUp, want := range map[int][]string{0: {"a 1m45s"}, 3: {"a 1m45s", "a 1m45s", "a 1m45s", "a 1m45s"}, 1000: slices.Repeat([]string{"a 1m45s"}, 10)} {
		t.Run(fmt.Sprint("CatchUp ", catchUp), func(t *testing.T) {
			w := newWorld(t)
			w.add(cron.Job{Name: "a", Every: 10 * time.Second, CatchUp: catchUp})
			w.settle()
			w.clock.jump(105 * time.Second)
			w.wants(want...)
			if st := w.list()[0]; st.Missed != 9 || st.Runs != len(want) || !st.Next.Equal(midday.Add(110*time.Second)) {
				t.Errorf("%+v", st)
			}
		})
	}
}

func TestJobsGoOnWhenTheClockIsSetBack(t *testing.T) {
	w := newWorld(t)
	w.add(cron.Job{Name: "a", Spec: "0 * * * *"})
	w.pass(25 * time.Hour)
	w.settle()
	for len(w.received) > 0 {
		<-w.received
	}
	w.clock.setBack(25 * time.Hour)
	w.pass(2 * time.Hour)
	w.wants("a 1h0m0s", "a 2h0m0s")
	w.clock.setBack(30 * time.Minute)
	w.pass(30 * time.Minute) // a second time: the one of 2 h has run
	w.wants()
}

func TestJobsAreAddedRemovedEnabledAndDisabled(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	w.add(cron.Job{Name: "a", Every: 10 * time.Second})
	w.add(cron.Job{Name: "b", Every: 10 * time.Second, Disabled: true})
	w.pass(10 * time.Second)
	w.wants("a 10s")
	if err := errors.Join(w.scheduler.Disable(ctx, "a"), w.scheduler.Enable(ctx, "b")); err != nil {
		t.Fatal(err)
	}
	w.pass(15 * time.Second)
	w.wants("b 20s")
	if err := errors.Join(w.scheduler.Enable(ctx, "a"), w.scheduler.Remove(ctx, "b")); err != nil {
		t.Fatal(err)
	}
	w.pass(10 * time.Second)
	w.wants("a 30s")
	if all := w.list(); len(all) != 1 || all[0].Name != "a" || !all[0].Enabled || all[0].Missed != 0 {
		t.Errorf("%+v", all)
	}
	for _, err := range []error{w.scheduler.Remove(ctx, "b"), w.scheduler.Enable(ctx, "b"), w.scheduler.Disable(ctx, "b")} {
		if !errors.Is(err, cron.ErrNoJob) {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestNextTellsWhatIsToCome(t *testing.T) {
	w := newWorld(t)
	w.add(cron.Job{Name: "a", Spec: "0 0 1 * *"})
	got, err := w.scheduler.Next(t.Context(), "a", 3)
	want := []time.Time{time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}
	if err != nil || !slices.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := w.scheduler.Next(t.Context(), "a", 1001); err == nil {
		t.Error("1001 times: no error")
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		overlap        string
		began, skipped int // after 5 times
	}{{"skip", 1, 4}, {"queue", 1, 3}, {"allow", 5, 0}} {
		t.Run(fmt.Sprint(c.overlap), func(t *testing.T) {
			w := newWorld(t)
			began, release := make(chan struct{}, 10), make(chan struct{})
			w.addDoing(cron.Job{Name: "a", Every: time.Second, Overlap: c.overlap, Do: func(p *actor.Process) error {
				began <- struct{}{}
				<-release
				return nil
			}})
			w.pass(5 * time.Second)
			w.settle()
			for range c.began {
				<-began
			}
			if st := w.list()[0]; st.Skipped != c.skipped || st.Running != c.began || len(began) != 0 {
				t.Errorf("%+v", st)
			}
			close(release)
		})
	}
}

func TestAQueuedRunBeginsWhenTheOneBeforeItEnds(t *testing.T) {
	w := newWorld(t)
	began, release := make(chan struct{}, 10), make(chan struct{})
	w.addDoing(cron.Job{Name: "a", Every: time.Second, Overlap: "queue", Do: func(p *actor.Process) error {
		began <- struct{}{}
		<-release
		return nil
	}})
	w.pass(3 * time.Second)
	w.settle()
	<-began
	release <- struct{}{}
	<-began
	close(release)
}

func TestARunThatFailsIsNotedAndTheSchedulerGoesOn(t *testing.T) {
	w := newWorld(t)
	n := 0
	done := make(chan struct{}, 10)
	w.addDoing(cron.Job{Name: "a", Every: time.Second, Do: func(p *actor.Process) error {
		defer func() { done <- struct{}{} }()
		switch n++; n {
		case 1:
			return errors.New("no paper")
		case 2:
			panic("no ink")
		}
		return nil
	}})
	for i, want := range []string{"no paper", "no ink", "no ink"} {
		w.pass(time.Second)
		<-done
		st := w.list()[0]
		for st.Running > 0 {
			st = w.list()[0]
		}
		if !strings.Contains(st.Error, want) || st.Failed != min(i+1, 2) || st.Runs != i+1 {
			t.Errorf("%+v", st)
		}
	}
}

func TestRunsEndWithTheirScheduler(t *testing.T) {
	w := newWorld(t)
	began, ended := make(chan struct{}), make(chan struct{})
	w.addDoing(cron.Job{Name: "a", Every: time.Second, Do: func(p *actor.Process) error {
		ctx := p.Context()
		close(began)
		<-ctx.Done()
		close(ended)
		return nil
	}})
	w.pass(time.Second)
	<-began
	w.s.Kill(w.scheduler.PID())
	<-ended
}

func TestASupervisedSchedulerBeginsWithItsJobs(t *testing.T) {
	w := newWorld(t)
	spec := cron.Spec([]cron.Job{{Name: "a", Every: time.Second, Do: w.send("a")}})
	pid, err := spec.Start(w.s)
	if err != nil {
		t.Fatal(err)
	}
	w.scheduler, w.quick["a"] = cron.At(w.s, pid), true
	w.pass(time.Second)
	w.wants("a 1s")
	if _, err := cron.Spec([]cron.Job{{}}).Start(w.s); err == nil {
		t.Error("a bad job: no error")
	}
}

func TestWhatASchedulerRefuses(t *testing.T) {
	w := newWorld(t)
	w.add(cron.Job{Name: "taken", Every: time.Second})
	do := w.send("a")
	for name, j := range map[string]cron.Job{
		"no name":             {Every: time.Second, Do: do},
		"a long name":         {Name: strings.Repeat("x", 256), Every: time.Second, Do: do},
		"a name that is used": {Name: "taken", Every: time.Second, Do: do},
		"no time":             {Name: "a", Do: do},
		"two times":           {Name: "a", Spec: "@daily", Every: time.Second, Do: do},
		"too often":           {Name: "a", Every: time.Microsecond, Do: do},
		"a negative period":   {Name: "a", Every: -time.Second, Do: do},
		"too much jitter":     {Name: "a", Every: time.Second, Jitter: time.Second, Do: do},
		"negative jitter":     {Name: "a", Spec: "@daily", Jitter: -1, Do: do},
		"an unknown overlap":  {Name: "a", Spec: "@daily", Overlap: "wait", Do: do},
		"too much to make up": {Name: "a", Spec: "@daily", CatchUp: 1001, Do: do},
		"nothing to do":       {Name: "a", Spec: "@daily"},
		"no expression":       {Name: "a", Spec: "every now and then", Do: do},
		"a 61st minute":       {Name: "a", Spec: "61 * * * *", Do: do},
		"an unknown zone":     {Name: "a", Spec: "CRON_TZ=Nowhere/At_All 0 * * * *", Do: do},
		"only a zone":         {Name: "a", Spec: "TZ=0", Do: do},
		"a long expression":   {Name: "a", Spec: strings.Repeat("1,", 1000) + " * * * *", Do: do},
	} {
		t.Run(name, func(t *testing.T) {
			if err := w.scheduler.Add(t.Context(), j); err == nil {
				t.Error("no error")
			}
		})
	}
}
