package supervise_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/supervise"
)

func TestOneRestartMoreThanTheIntensityEndsAllChildrenLastFirstAndTheSupervisor(t *testing.T) {
	for _, strategy := range []string{"one-for-one", "all-for-one", "rest-for-one"} {
		t.Run(strategy, func(t *testing.T) {
			w := newWorld(t)
			pid := w.start(supervise.Spec(supervise.Config{Strategy: strategy, Intensity: 2, Period: time.Minute}, w.workers("a", "b", "c")...))
			w.expect("start a", "start b", "start c")
			ended := w.watch(pid)
			restarted := map[string][]string{
				"one-for-one":  {"end c", "start c"},
				"all-for-one":  {"end c", "shut b", "shut a", "start a", "start b", "start c"},
				"rest-for-one": {"end c", "start c"},
			}[strategy]
			for range 2 {
				w.crash(pid, "c", errCrash)
				w.expect(restarted...)
			}
			w.crash(pid, "c", errCrash)
			w.expect("end c", "shut b", "shut a")
			reason := ended()
			if !errors.Is(reason, supervise.ErrRestartIntensity) || !strings.Contains(reason.Error(), `"c"`) || !strings.Contains(reason.Error(), "crash") {
				t.Error(reason)
			}
		})
	}
}

func TestRestartsBeforeThePeriodAreForgotten(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(supervise.Config{Intensity: 2, Period: 10 * time.Second}, w.worker("a")))
	w.expect("start a")
	for range 20 {
		w.crash(pid, "a", errCrash)
		w.expect("end a", "start a")
		w.children(pid)
		w.clock.pass(5*time.Second + 1) // two restarts are never more than 10 s old together with a third
	}
	ended := w.watch(pid)
	w.crash(pid, "a", errCrash)
	w.expect("end a", "start a")
	w.crash(pid, "a", errCrash)
	w.expect("end a")
	if reason := ended(); !errors.Is(reason, supervise.ErrRestartIntensity) {
		t.Error(reason)
	}
}

func TestWithoutAnIntensityThereIsOneRestartInFiveSeconds(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a")))
	ended := w.watch(pid)
	w.expect("start a")
	w.crash(pid, "a", errCrash)
	w.expect("end a", "start a")
	w.children(pid)
	w.clock.pass(5*time.Second + 1)
	w.crash(pid, "a", errCrash)
	w.expect("end a", "start a")
	w.children(pid)
	w.clock.pass(5 * time.Second)
	w.crash(pid, "a", errCrash)
	w.expect("end a")
	if reason := ended(); !errors.Is(reason, supervise.ErrRestartIntensity) {
		t.Error(reason)
	}
}

func TestAnIntensityOfMinusOneEndsWithTheFirstFailure(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(supervise.Config{Intensity: -1}, w.workers("a", "b")...))
	ended := w.watch(pid)
	w.expect("start a", "start b")
	w.crash(pid, "a", errCrash)
	w.expect("end a", "shut b")
	if reason := ended(); !errors.Is(reason, supervise.ErrRestartIntensity) {
		t.Error(reason)
	}
}

func TestFailedRestartIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	var fails atomic.Int32
	pid := w.start(supervise.Spec(supervise.Config{Intensity: 4}, w.worker("a"), w.unwilling("b", &fails), w.worker("c")))
	w.expect("start a", "start b", "start c")
	fails.Store(3)
	w.crash(pid, "b", errCrash)
	w.expect("end b", "fail b", "fail b", "fail b", "start b")
	w.nothingElse(pid)
	if got := w.states(pid); got != "a running 0, b running 1, c running 0, " {
		t.Error(got)
	}
}

func TestFailedRestartsCount(t *testing.T) {
	w := newWorld(t)
	var fails atomic.Int32
	pid := w.start(supervise.Spec(supervise.Config{Intensity: 3}, w.worker("a"), w.unwilling("b", &fails)))
	ended := w.watch(pid)
	w.expect("start a", "start b")
	fails.Store(1000)
	w.crash(pid, "b", errCrash)
	w.expect("end b", "fail b", "fail b", "fail b", "shut a")
	if reason := ended(); !errors.Is(reason, supervise.ErrRestartIntensity) {
		t.Error(reason)
	}
}

func TestAllForOneEndsThoseAlreadyRestartedWhenARestartFails(t *testing.T) {
	w := newWorld(t)
	var fails atomic.Int32
	pid := w.start(supervise.Spec(often("all-for-one"), w.worker("a"), w.unwilling("b", &fails), w.worker("c")))
	w.expect("start a", "start b", "start c")
	fails.Store(1)
	w.crash(pid, "c", errCrash)
	w.expect("end c", "shut b", "shut a", "start a", "fail b", "shut a", "start a", "start b", "start c")
	w.nothingElse(pid)
}

func TestRestForOneTriesAgainFromTheChildThatDidNotRestart(t *testing.T) {
	w := newWorld(t)
	var fails atomic.Int32
	pid := w.start(supervise.Spec(often("rest-for-one"), w.worker("a"), w.worker("b"), w.unwilling("c", &fails), w.worker("d")))
	w.expect("start a", "start b", "start c", "start d")
	fails.Store(2)
	w.crash(pid, "b", errCrash)
	w.expect("end b", "shut d", "shut c", "start b", "fail c", "fail c", "start c", "start d")
	w.nothingElse(pid)
}

// crashOnce makes the init of a worker that crashes as soon as a channel is closed: a supervisor that ends before it is watched ends for no reason.
func crashOnce(watched <-chan struct{}) func(*actor.Process) error {
	return func(p *actor.Process) error {
		pid, system := p.PID(), p.System()
		go func() {
			<-watched
			_ = actor.Send(system, pid, fail{errCrash}) // it may have been shut down
		}()
		return nil
	}
}

func TestSupervisorWhoseChildAlwaysCrashesEndsAndItsParentRestartsIt(t *testing.T) {
	w := newWorld(t)
	j := w.job("bad")
	watched := make(chan struct{})
	j.init = crashOnce(watched)
	bad := supervise.Child{ID: "bad", Start: working.Spec(j)}
	inner := supervise.Spec(supervise.Config{Intensity: 1}, bad)
	outer := w.start(supervise.Spec(supervise.Config{Intensity: 1}, w.worker("good"), supervise.Child{ID: "inner", Start: inner, Restart: "transient"}))
	ended := w.watch(outer)
	close(watched)
	reason := ended()
	w.expect("start good")
	for range 2 { // the outer one starts the inner one twice, that its child twice each time
		w.expect("start bad", "end bad", "start bad", "end bad")
	}
	w.expect("shut good")
	if !errors.Is(reason, supervise.ErrRestartIntensity) || !strings.Contains(reason.Error(), "inner") {
		t.Error(reason)
	}
}

func TestIntensityStormIsOver(t *testing.T) {
	w := newWorld(t)
	j := w.job("bad")
	j.quiet = true
	var starts atomic.Int32
	watched := make(chan struct{})
	crash := crashOnce(watched)
	j.init = func(p *actor.Process) error { starts.Add(1); return crash(p) }
	var list []supervise.Child
	for _, id := range strings.Split("abcdefghij", "") {
		list = append(list, supervise.Child{ID: id, Start: working.Spec(j)})
	}
	pid := w.start(supervise.Spec(supervise.Config{Intensity: 1000}, list...))
	ended := w.watch(pid)
	close(watched)
	if reason := ended(); !errors.Is(reason, supervise.ErrRestartIntensity) {
		t.Error(reason)
	}
	if n := starts.Load(); n != 1010 {
		t.Errorf("%d starts, want the 10 first ones and 1000 more", n)
	}
}
