package supervise_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/supervise"
	"github.com/sabir-go/sabir/internal/race"
)

func (w *world) dynamic(c supervise.Config, each supervise.Child) actor.PID {
	w.Helper()
	return w.start(supervise.Dynamic(working, c, each))
}

func (w *world) one(supervisor actor.PID, j job) actor.PID {
	w.Helper()
	pid, err := supervise.StartOne(w.Context(), supervise.At(w.system, supervisor), j)
	if err != nil {
		w.Fatal(err)
	}
	return pid
}

func TestDynamicStartsChildrenWithArgsOfTheirOwn(t *testing.T) {
	w := newWorld(t)
	pid := w.dynamic(supervise.Config{}, supervise.Child{})
	w.nothingElse(pid)
	a := w.one(pid, w.job("a"))
	w.one(pid, w.job("b"))
	w.expect("start a", "start b")
	list := w.children(pid)
	if len(list) != 2 || (list[0].PID != a && list[1].PID != a) || list[0].Behavior != "worker" {
		t.Error(list)
	}
}

func TestDynamicRestartsAChildWithItsArgs(t *testing.T) {
	w := newWorld(t)
	pid := w.dynamic(often("one-for-one"), supervise.Child{})
	w.one(pid, w.job("a"))
	b := w.one(pid, w.job("b"))
	w.expect("start a", "start b")
	actor.Send(w.system, b, fail{errCrash})
	w.expect("end b", "start b")
	w.nothingElse(pid)
}

func TestDynamicForgetsTransientChildrenThatEndInPeace(t *testing.T) {
	w := newWorld(t)
	pid := w.dynamic(often("one-for-one"), supervise.Child{Restart: "transient"})
	a := w.one(pid, w.job("a"))
	w.expect("start a")
	actor.Send(w.system, a, fail{actor.ErrNormal})
	w.expect("end a")
	for len(w.children(pid)) != 0 { // until the notification of the end has come; the test fails by its time-out
	}
}

func TestDynamicForgetsTemporaryChildren(t *testing.T) {
	w := newWorld(t)
	pid := w.dynamic(supervise.Config{Intensity: -1}, supervise.Child{Restart: "temporary"})
	for range 10 {
		a := w.one(pid, w.job("a"))
		w.expect("start a")
		actor.Send(w.system, a, fail{errCrash})
		w.expect("end a")
	}
	for len(w.children(pid)) != 0 {
	}
}

func TestDynamicChildThatDoesNotStartIsTheCallersError(t *testing.T) {
	w := newWorld(t)
	pid := w.dynamic(supervise.Config{}, supervise.Child{})
	j := w.job("a")
	j.init = func(*actor.Process) error { return errCrash }
	if _, err := supervise.StartOne(t.Context(), supervise.At(w.system, pid), j); !errors.Is(err, errCrash) {
		t.Error(err)
	}
	w.expect("fail a")
	if list := w.children(pid); len(list) != 0 {
		t.Error(list)
	}
}

func TestDynamicTakesNoArgsOfAnotherType(t *testing.T) {
	w := newWorld(t)
	pid := w.dynamic(supervise.Config{}, supervise.Child{})
	if _, err := supervise.StartOne(t.Context(), supervise.At(w.system, pid), "a job"); !errors.Is(err, actor.ErrNotHandled) {
		t.Error(err)
	}
}

func TestTerminateChildEndsAndForgetsAChildOfADynamicSupervisor(t *testing.T) {
	w := newWorld(t)
	pid := w.dynamic(supervise.Config{}, supervise.Child{})
	a := w.one(pid, w.job("a"))
	w.one(pid, w.job("b"))
	if err := supervise.At(w.system, pid).TerminateOne(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	w.expect("start a", "start b", "shut a")
	w.nothingElse(pid)
	if err := supervise.At(w.system, pid).TerminateOne(t.Context(), a); !errors.Is(err, supervise.ErrNoChild) {
		t.Error(err)
	}
}

func TestTerminateChildKillsAChildOfADynamicSupervisorThatDoesNotEndInTime(t *testing.T) {
	w := newWorld(t)
	pid := w.dynamic(supervise.Config{}, supervise.Child{Shutdown: 2 * time.Second})
	hold := make(chan struct{})
	j := w.job("a")
	j.init = func(p *actor.Process) error {
		return actor.Send(p, p.PID(), do{func(*actor.Process) { w.journal <- "block a"; <-hold }})
	}
	a := w.one(pid, j)
	w.expect("start a", "block a")
	ended := w.watch(a)
	done := make(chan error)
	go func() { done <- supervise.At(w.system, pid).TerminateOne(context.Background(), a) }()
	w.clock.armed(t, 2*time.Second)
	w.clock.pass(2 * time.Second)
	w.clock.armed(t, 5*time.Second)
	close(hold)
	if reason := ended(); !errors.Is(reason, actor.ErrKilled) {
		t.Error(reason)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestDynamicBeyondItsIntensityEndsAllChildren(t *testing.T) {
	w := newWorld(t)
	pid := w.dynamic(supervise.Config{Intensity: 2}, supervise.Child{})
	ended := w.watch(pid)
	w.one(pid, w.job("a"))
	w.expect("start a")
	j := w.job("b")
	j.init = func(p *actor.Process) error { return actor.Send(p, p.PID(), fail{errCrash}) }
	w.one(pid, j)
	w.expect("start b", "end b", "start b", "end b", "start b", "end b", "shut a")
	if reason := ended(); !errors.Is(reason, supervise.ErrRestartIntensity) {
		t.Error(reason)
	}
}

func TestDynamicTriesARestartAgainThatFailed(t *testing.T) {
	w := newWorld(t)
	pid := w.dynamic(supervise.Config{Intensity: 3}, supervise.Child{})
	var fails atomic.Int32
	j := w.job("a")
	j.init = func(*actor.Process) error {
		if fails.Add(-1) >= 0 {
			return errCrash
		}
		return nil
	}
	a := w.one(pid, j)
	w.expect("start a")
	fails.Store(2)
	actor.Send(w.system, a, fail{errCrash})
	w.expect("end a", "fail a", "fail a", "start a")
	if list := w.children(pid); len(list) != 1 || list[0].Restarts != 1 {
		t.Error(list)
	}
}

func TestDynamicTellsAllChildrenBeforeItWaitsForAny(t *testing.T) {
	w := newWorld(t)
	pid := w.dynamic(supervise.Config{}, supervise.Child{})
	var all sync.WaitGroup // none goes on until all have been notified
	all.Add(3)
	for _, name := range []string{"a", "b", "c"} {
		j := w.job(name)
		j.end = func() { all.Done(); all.Wait() }
		w.one(pid, j)
	}
	ended := w.watch(pid)
	actor.Stop(w.system, pid, nil)
	if reason := ended(); !errors.Is(reason, actor.ErrShutdown) {
		t.Error(reason)
	}
}

func TestDynamicKillsThoseThatDoNotEndInTimeTogether(t *testing.T) {
	w := newWorld(t)
	pid := w.dynamic(supervise.Config{}, supervise.Child{Shutdown: time.Second})
	hold := make(chan struct{})
	for _, name := range []string{"a", "b"} {
		j := w.job(name)
		j.init = func(p *actor.Process) error {
			return actor.Send(p, p.PID(), do{func(*actor.Process) { w.journal <- "block"; <-hold }})
		}
		w.one(pid, j)
		w.expect("start "+name, "block")
	}
	ended := w.watch(pid)
	actor.Stop(w.system, pid, nil)
	w.clock.armed(t, time.Second)
	w.clock.pass(time.Second)
	w.clock.armed(t, 5*time.Second)
	w.clock.pass(5 * time.Second) // their callbacks do not return: the supervisor stops waiting for them
	if reason := ended(); !errors.Is(reason, actor.ErrShutdown) {
		t.Error(reason)
	}
	close(hold)
}

func TestDynamicBrutalKillsAll(t *testing.T) {
	w := newWorld(t)
	pid := w.dynamic(supervise.Config{}, supervise.Child{Shutdown: -1})
	a := w.watch(w.one(pid, w.job("a")))
	w.expect("start a")
	ended := w.watch(pid)
	actor.Stop(w.system, pid, nil)
	if reason := a(); !errors.Is(reason, actor.ErrKilled) {
		t.Error(reason)
	}
	ended()
}

type nothing struct{}

var idle = actor.Define[nothing, int]("idle", nil)

// starter starts children from within the system, which is faster than a call each from outside.
type starter struct{}

type startMany struct {
	supervisor actor.PID
	n          int
}

func (*starter) startMany(p *actor.Process, m startMany) (int, error) {
	for i := range m.n {
		if _, err := supervise.StartOne(p.Context(), supervise.At(p, m.supervisor), i); err != nil {
			return i, err
		}
	}
	return m.n, nil
}

var starting = actor.Define[starter, struct{}]("starter", nil, actor.OnCall((*starter).startMany))

// many is the number of children in the tests of a big supervisor: a million takes half a minute, which only ./test has.
func many(t testing.TB) int {
	if race.Enabled || os.Getenv("SABIR_TEST_ALL") == "" {
		return 50_000
	}
	return 1_000_000
}

func TestAMillionChildrenAreStartedRestartedAndStopped(t *testing.T) {
	w := newWorld(t)
	n := many(t)
	pid := w.start(supervise.Dynamic(idle, supervise.Config{Intensity: 1000}, supervise.Child{Restart: "transient"}))
	s := w.start(starting.Spec(struct{}{}))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	before := time.Now()
	if got, err := actor.Call[int](ctx, w.system, s, startMany{pid, n}); err != nil || got != n {
		t.Fatal(got, err)
	}
	t.Logf("started %d in %s", n, time.Since(before))
	d, err := supervise.At(w.system, pid).Describe(ctx)
	if err != nil || len(d.Children) != 1000 || d.Unlisted != n-1000 {
		t.Fatal(len(d.Children), d.Unlisted, err)
	}
	before = time.Now()
	for _, c := range d.Children {
		actor.Kill(w.system, c.PID)
	}
	for w.restarts(pid) < 1000 {
	}
	t.Logf("restarted 1000 in %s", time.Since(before))
	ended := w.watch(pid)
	before = time.Now()
	actor.Stop(w.system, pid, nil)
	if reason := ended(); !errors.Is(reason, actor.ErrShutdown) {
		t.Error(reason)
	}
	t.Logf("stopped %d in %s", n, time.Since(before))
	if left := w.system.Count(); left > 2 {
		t.Errorf("%d processes are left", left)
	}
}

// restarts is the number of killed children that have been replaced: as many as are again there.
func (w *world) restarts(pid actor.PID) int {
	d, err := supervise.At(w.system, pid).Describe(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return len(d.Children) + d.Unlisted - many(w) + 1000
}
