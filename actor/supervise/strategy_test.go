package supervise_test

import (
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/supervise"
)

func TestChildrenStartInTheirOrder(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(supervise.Config{}, w.workers("a", "b", "c")...))
	w.expect("start a", "start b", "start c")
	if got := w.states(pid); got != "a running 0, b running 0, c running 0, " {
		t.Error(got)
	}
}

func TestFailedStartEndsThoseStartedBeforeLastFirst(t *testing.T) {
	w := newWorld(t)
	var fails atomic.Int32
	fails.Store(1)
	_, err := supervise.Spec(supervise.Config{}, w.worker("a"), w.worker("b"), w.unwilling("c", &fails), w.worker("d")).Start(w.system)
	w.expect("start a", "start b", "fail c", "shut b", "shut a")
	if !errors.Is(err, sabir.NewError(sabir.CodeAborted, "ChildNotStarted", "")) || !errors.Is(err, errCrash) {
		t.Error(err)
	}
}

func TestFailedStartEndsThoseStartedBeforeEachAsItsShutdownSays(t *testing.T) {
	w := newWorld(t)
	var fails atomic.Int32
	fails.Store(1)
	slow := w.job("slow")
	hold := make(chan struct{})
	slow.end = func() { <-hold }
	failed := make(chan error)
	go func() {
		_, err := supervise.Spec(supervise.Config{},
			w.worker("a"),
			supervise.Child{ID: "slow", Start: working.Spec(slow), Shutdown: math.MaxInt64},
			supervise.Child{ID: "brutal", Start: working.Spec(w.job("brutal")), Shutdown: -1},
			w.unwilling("c", &fails),
		).Start(w.system)
		failed <- err
	}()
	w.expect("start a", "start slow", "start brutal", "fail c")
	close(hold)
	w.expect("shut slow", "shut a")
	if err := <-failed; !errors.Is(err, sabir.NewError(sabir.CodeAborted, "ChildNotStarted", "")) {
		t.Error(err)
	}
}

func TestSupervisorDoesNotStartWhenAChildPanicsInInit(t *testing.T) {
	w := newWorld(t)
	j := w.job("b")
	j.init = func(*actor.Process) error { panic("no") }
	_, err := supervise.Spec(supervise.Config{}, w.worker("a"), supervise.Child{ID: "b", Start: working.Spec(j)}).Start(w.system)
	w.expect("start a", "shut a")
	if !errors.Is(err, sabir.NewError(sabir.CodeAborted, "ChildNotStarted", "")) || !errors.Is(err, sabir.ErrPanic) {
		t.Error(err)
	}
}

func TestOneForOneRestartsOnlyTheChildThatEnded(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(often("one-for-one"), w.workers("a", "b", "c")...))
	w.expect("start a", "start b", "start c")
	before := w.children(pid)
	w.crash(pid, "b", errCrash)
	w.expect("end b", "start b")
	w.nothingElse(pid)
	after := w.children(pid)
	if after[0].PID != before[0].PID || after[2].PID != before[2].PID || after[1].PID == before[1].PID {
		t.Error(before, after)
	}
	if got := w.states(pid); got != "a running 0, b running 1, c running 0, " {
		t.Error(got)
	}
}

func TestAllForOneEndsTheOthersLastFirstAndStartsAllInOrder(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(often("all-for-one"), w.workers("a", "b", "c", "d")...))
	w.expect("start a", "start b", "start c", "start d")
	w.crash(pid, "b", errCrash)
	w.expect("end b", "shut d", "shut c", "shut a", "start a", "start b", "start c", "start d")
	w.nothingElse(pid)
	if got := w.states(pid); got != "a running 1, b running 1, c running 1, d running 1, " {
		t.Error(got)
	}
}

func TestRestForOneRestartsThoseStartedAfterTheOneThatEnded(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(often("rest-for-one"), w.workers("a", "b", "c", "d")...))
	w.expect("start a", "start b", "start c", "start d")
	w.crash(pid, "b", errCrash)
	w.expect("end b", "shut d", "shut c", "start b", "start c", "start d")
	w.nothingElse(pid)
	if got := w.states(pid); got != "a running 0, b running 1, c running 1, d running 1, " {
		t.Error(got)
	}
}

func TestRestForOneGoesBackFurtherWhenAnEarlierChildEndsMeanwhile(t *testing.T) {
	w := newWorld(t)
	hold := make(chan struct{})
	slow := w.job("d")
	slow.end = func() { <-hold }
	pid := w.start(supervise.Spec(often("rest-for-one"),
		w.worker("a"), w.worker("b"), w.worker("c"), supervise.Child{ID: "d", Start: working.Spec(slow)}))
	w.expect("start a", "start b", "start c", "start d")
	w.crash(pid, "c", errCrash)
	w.expect("end c")
	w.clock.armed(t, 5*time.Second) // d received an exit
	w.crash(pid, "a", errCrash)
	w.expect("end a")
	w.children(pid)
	close(hold)
	w.expect("shut d", "shut b", "start a", "start b", "start c", "start d")
	w.nothingElse(pid)
}

func TestAllForOneStartsTransientChildrenAgainThatHadEnded(t *testing.T) {
	w := newWorld(t)
	b := w.worker("b")
	b.Restart = "transient"
	pid := w.start(supervise.Spec(often("all-for-one"), w.worker("a"), b))
	w.expect("start a", "start b")
	w.crash(pid, "b", actor.ErrNormal)
	w.expect("end b")
	w.nothingElse(pid)
	w.crash(pid, "a", errCrash)
	w.expect("end a", "start a", "start b")
}

func TestAllForOneDoesNotStartTemporaryChildrenAgain(t *testing.T) {
	w := newWorld(t)
	b := w.worker("b")
	b.Restart = "temporary"
	pid := w.start(supervise.Spec(often("all-for-one"), w.worker("a"), b, w.worker("c")))
	w.expect("start a", "start b", "start c")
	w.crash(pid, "a", errCrash)
	w.expect("end a", "shut c", "shut b", "start a", "start c")
	if got := w.states(pid); got != "a running 1, c running 1, " {
		t.Error(got)
	}
}

func TestRestartDependsOnTypeAndReason(t *testing.T) {
	reasons := []struct {
		name   string
		reason error
	}{{"normal", actor.ErrNormal}, {"shutdown", actor.ErrShutdown}, {"error", errCrash}, {"killed", actor.ErrKilled}}
	again := map[string][]bool{
		"permanent": {true, true, true, true},
		"transient": {false, false, true, true},
		"temporary": {false, false, false, false},
	}
	for restart, want := range again {
		for i, r := range reasons {
			t.Run(restart+" "+r.name, func(t *testing.T) {
				w := newWorld(t)
				a := w.worker("a")
				a.Restart = restart
				pid := w.start(supervise.Spec(often("one-for-one"), a))
				w.expect("start a")
				ended := w.watch(w.child(pid, "a").PID)
				if r.reason == error(actor.ErrKilled) {
					w.kill(pid, "a")
				} else {
					w.crash(pid, "a", r.reason)
				}
				if got := ended(); !errors.Is(got, r.reason) {
					t.Fatal(got)
				}
				expected := map[string]string{"permanent": "a ended 0, ", "transient": "a ended 0, "}[restart]
				if want[i] {
					for line := range w.journal {
						if line == "start a" {
							break
						}
					}
					expected = "a running 1, "
				}
				if got := w.states(pid); got != expected {
					t.Errorf("%q, want %q", got, expected)
				}
			})
		}
	}
}

func TestChildWhoseInitEndsInPeaceIsKeptWithoutAProcess(t *testing.T) {
	w := newWorld(t)
	j := w.job("b")
	j.init = func(*actor.Process) error { return actor.ErrNormal }
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a"), supervise.Child{ID: "b", Start: working.Spec(j)}, w.worker("c")))
	w.expect("start a", "fail b", "start c")
	if got := w.states(pid); got != "a running 0, b ended 0, c running 0, " {
		t.Error(got)
	}
}

func TestChildThatUnlinksItselfIsStillSupervised(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(often("one-for-one"), w.worker("a")))
	w.expect("start a")
	actor.Send(w.system, w.child(pid, "a").PID, do{func(p *actor.Process) { p.Unlink(p.Parent()); p.Stop(errCrash) }})
	w.expect("end a", "start a")
}

func TestEndOfAStrangerIsNoConcernOfTheSupervisor(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a")))
	stranger := w.start(working.Spec(w.job("stranger")))
	w.expect("start a", "start stranger")
	actor.Send(w.system, stranger, do{func(p *actor.Process) { p.Link(pid); p.Stop(errCrash) }})
	w.expect("end stranger")
	w.nothingElse(pid)
}
