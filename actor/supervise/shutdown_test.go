package supervise_test

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/supervise"
)

// held is a worker that stays in its Terminate until the channel is closed.
func (w *world) held(name string) (supervise.Child, chan struct{}) {
	hold := make(chan struct{})
	j := w.job(name)
	j.end = func() { <-hold }
	return supervise.Child{ID: name, Start: working.Spec(j)}, hold
}

// blocked is a worker that stays in a callback until the channel is closed.
func (w *world) blocked(name string) (supervise.Child, chan struct{}) {
	hold := make(chan struct{})
	j := w.job(name)
	j.init = func(p *actor.Process) error {
		return actor.Send(p, p.PID(), do{func(*actor.Process) { w.journal <- "block " + name; <-hold }})
	}
	return supervise.Child{ID: name, Start: working.Spec(j)}, hold
}

func TestStoppedSupervisorEndsItsChildrenLastFirst(t *testing.T) {
	for _, strategy := range []string{"one-for-one", "all-for-one", "rest-for-one"} {
		t.Run(strategy, func(t *testing.T) {
			w := newWorld(t)
			pid := w.start(supervise.Spec(supervise.Config{Strategy: strategy}, w.workers("a", "b", "c")...))
			w.expect("start a", "start b", "start c")
			ended := w.watch(pid)
			actor.Stop(w.system, pid, nil)
			w.expect("shut c", "shut b", "shut a")
			if reason := ended(); !errors.Is(reason, actor.ErrShutdown) {
				t.Error(reason)
			}
		})
	}
}

func TestAChildEndsOnlyWhenTheOneAfterItHasEnded(t *testing.T) {
	w := newWorld(t)
	b, hold := w.held("b")
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a"), b))
	w.expect("start a", "start b")
	actor.Stop(w.system, pid, nil)
	w.clock.armed(t, 5*time.Second)
	w.nothingElse(pid)
	close(hold)
	w.expect("shut b", "shut a")
}

func TestChildThatDoesNotEndInTimeIsKilled(t *testing.T) {
	w := newWorld(t)
	b, hold := w.blocked("b")
	b.Shutdown = 3 * time.Second
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a"), b))
	w.expect("start a", "start b", "block b")
	ended := w.watch(w.child(pid, "b").PID)
	actor.Stop(w.system, pid, nil)
	w.clock.armed(t, 3*time.Second)
	w.clock.pass(3 * time.Second)
	w.clock.armed(t, 5*time.Second) // it was killed
	close(hold)
	if reason := ended(); !errors.Is(reason, actor.ErrKilled) {
		t.Error(reason)
	}
	w.expect("shut a")
}

func TestBrutalKillsWithoutTerminate(t *testing.T) {
	w := newWorld(t)
	b := w.worker("b")
	b.Shutdown = -1
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a"), b))
	w.expect("start a", "start b")
	ended := w.watch(w.child(pid, "b").PID)
	actor.Stop(w.system, pid, nil)
	if reason := ended(); !errors.Is(reason, actor.ErrKilled) {
		t.Error(reason)
	}
	w.expect("shut a") // b wrote nothing: its Terminate was not called
}

func TestInfinityWaits(t *testing.T) {
	w := newWorld(t)
	b, hold := w.held("b")
	b.Shutdown = math.MaxInt64
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a"), b))
	w.expect("start a", "start b")
	actor.Stop(w.system, pid, nil)
	w.children(pid)
	w.clock.pass(1000 * time.Hour)
	w.nothingElse(pid)
	close(hold)
	w.expect("shut b", "shut a")
}

func TestChildThatTakesExitsAsMessagesEndsByItsSupervisor(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(supervise.Config{}, supervise.Child{ID: "a", Start: resisting.Spec(w.job("a"))}))
	w.expect("start a")
	actor.Stop(w.system, w.child(pid, "a").PID, nil)
	w.expect("exit a") // of any other process it does not
	actor.Stop(w.system, pid, nil)
	w.expect("shut a")
}

func TestChildWhoseCallbackDoesNotReturnAfterKillIsAbandoned(t *testing.T) {
	w := newWorld(t)
	b, hold := w.blocked("b")
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a"), b))
	w.expect("start a", "start b", "block b")
	ended := w.watch(pid)
	actor.Stop(w.system, pid, nil)
	w.clock.armed(t, 5*time.Second)
	w.clock.pass(5 * time.Second)
	w.clock.armed(t, 5*time.Second)
	w.clock.pass(5 * time.Second)
	w.expect("shut a")
	if reason := ended(); !errors.Is(reason, actor.ErrShutdown) {
		t.Error(reason)
	}
	close(hold)
}

func TestSystemStopLeavesTheOrderToSupervisors(t *testing.T) {
	w := newWorld(t)
	inner := supervise.Spec(supervise.Config{}, w.workers("b", "c")...)
	w.start(supervise.Spec(supervise.Config{}, w.worker("a"), supervise.Child{ID: "inner", Start: inner}, w.worker("d")))
	w.expect("start a", "start b", "start c", "start d")
	if err := w.system.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.expect("shut d", "shut c", "shut b", "shut a")
}

func TestKilledSupervisorTakesItsChildrenWithIt(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a"), supervise.Child{ID: "b", Start: resisting.Spec(w.job("b"))}))
	w.expect("start a", "start b")
	a, b := w.watch(w.child(pid, "a").PID), w.watch(w.child(pid, "b").PID)
	actor.Kill(w.system, pid)
	if !errors.Is(a(), actor.ErrKilled) || !errors.Is(b(), actor.ErrKilled) {
		t.Error("they ended for another reason")
	}
}

func TestSupervisorBelowAKilledOneEndsItsChildrenInOrder(t *testing.T) {
	w := newWorld(t)
	inner := supervise.Spec(supervise.Config{}, w.workers("b", "c")...)
	pid := w.start(supervise.Spec(supervise.Config{}, supervise.Child{ID: "inner", Start: inner}))
	w.expect("start b", "start c")
	actor.Kill(w.system, pid)
	w.expect("shut c", "shut b")
}

func TestSupervisorEndsWithItsParentAlsoWhenThatEndsNormally(t *testing.T) {
	w := newWorld(t)
	j := w.job("parent")
	var pid actor.PID
	j.init = func(p *actor.Process) (err error) {
		pid, err = supervise.Spec(supervise.Config{}, w.workers("a", "b")...).Start(p, actor.SpawnConfig{Linked: true})
		return err
	}
	parent := w.start(working.Spec(j))
	w.expect("start a", "start b", "start parent")
	ended := w.watch(pid)
	actor.Send(w.system, parent, fail{actor.ErrNormal})
	w.expect("end parent", "shut b", "shut a")
	if reason := ended(); !errors.Is(reason, actor.ErrNormal) {
		t.Error(reason)
	}
}

func TestSupervisorWorksWhileAChildTakesItsTimeToEnd(t *testing.T) {
	w := newWorld(t)
	b, hold := w.held("b")
	pid := w.start(supervise.Spec(often("one-for-one"), w.worker("a"), b))
	w.expect("start a", "start b")
	done := make(chan error)
	go func() { done <- supervise.At(w.system, pid).TerminateChild(context.Background(), "b") }()
	w.clock.armed(t, 5*time.Second)
	w.crash(pid, "a", errCrash)
	w.expect("end a", "start a")
	if got := w.states(pid); got != "a running 1, b ending 0, " {
		t.Error(got)
	}
	close(hold)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := w.states(pid); got != "a running 1, b ended 0, " {
		t.Error(got)
	}
}

func TestKillEndsASupervisorThatWaitsForAChild(t *testing.T) {
	w := newWorld(t)
	b, hold := w.held("b")
	b.Shutdown = math.MaxInt64
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a"), b))
	w.expect("start a", "start b")
	ended := w.watch(pid)
	actor.Stop(w.system, pid, nil)
	w.children(pid)
	actor.Kill(w.system, pid)
	if reason := ended(); !errors.Is(reason, actor.ErrKilled) {
		t.Error(reason)
	}
	w.expect("end a")
	close(hold)
}

func TestChildKilledDuringInitIsAFailedStart(t *testing.T) {
	w := newWorld(t)
	j := w.job("b")
	inInit, goOn := make(chan actor.PID), make(chan struct{})
	var once atomic.Bool
	j.init = func(p *actor.Process) error {
		if once.CompareAndSwap(false, true) {
			return nil
		}
		inInit <- p.PID()
		<-goOn
		return nil
	}
	pid := w.start(supervise.Spec(supervise.Config{Intensity: 2}, w.worker("a"), supervise.Child{ID: "b", Start: working.Spec(j)}))
	w.expect("start a", "start b")
	w.crash(pid, "b", errCrash)
	actor.Kill(w.system, <-inInit) // counts, and is tried again
	goOn <- struct{}{}
	<-inInit
	goOn <- struct{}{}
	w.expect("end b", "start b", "start b") // the first of them was killed after its Init had returned
	if got := w.states(pid); got != "a running 0, b running 1, " {
		t.Error(got)
	}
}

func TestChildWhoseInitTakesTooLongIsAFailedStart(t *testing.T) {
	w := newWorld(t)
	hold := make(chan struct{})
	j := w.job("b")
	j.init = func(*actor.Process) error { <-hold; return nil }
	failed := make(chan error)
	go func() {
		_, err := supervise.Spec(supervise.Config{}, w.worker("a"), supervise.Child{ID: "b", Start: working.Spec(j, actor.SpawnConfig{InitTimeout: time.Second})}).Start(w.system)
		failed <- err
	}()
	w.expect("start a")
	w.clock.armed(t, time.Second)
	w.clock.pass(time.Second)
	w.expect("shut a")
	if err := <-failed; !errors.Is(err, sabir.NewError(sabir.CodeDeadlineExceeded, "InitTimeout", "")) {
		t.Error(err)
	}
	close(hold)
}

func TestPanicInAnyCallbackRestartsTheChild(t *testing.T) {
	w := newWorld(t)
	end := w.job("end")
	end.end = func() { panic("in Terminate") }
	pid := w.start(supervise.Spec(often("one-for-one"), w.worker("a"), supervise.Child{ID: "end", Start: working.Spec(end)}))
	w.expect("start a", "start end")
	actor.Send(w.system, w.child(pid, "a").PID, do{func(*actor.Process) { panic("in a handler of messages") }})
	w.expect("end a", "start a")
	if _, err := actor.Call[bool](t.Context(), w.system, w.child(pid, "a").PID, ask{}); !errors.Is(err, sabir.ErrPanic) {
		t.Error(err)
	}
	w.expect("end a", "start a")
	w.crash(pid, "end", errCrash)
	w.expect("start end")
	if got := w.states(pid); got != "a running 2, end running 1, " {
		t.Error(got)
	}
}

func TestSupervisorEndsWithTheFirstSignificantChild(t *testing.T) {
	w := newWorld(t)
	c := w.worker("c")
	c.Restart, c.Significant = "transient", true
	pid := w.start(supervise.Spec(supervise.Config{Intensity: 9}, w.worker("a"), c, w.worker("d")))
	ended := w.watch(pid)
	w.expect("start a", "start c", "start d")
	w.crash(pid, "c", errCrash)
	w.expect("end c", "start c") // a failure is no end
	w.crash(pid, "c", actor.ErrNormal)
	w.expect("end c", "shut d", "shut a")
	if reason := ended(); !errors.Is(reason, actor.ErrShutdown) {
		t.Error(reason)
	}
}

func TestSupervisorEndsWithTheLastSignificantChild(t *testing.T) {
	w := newWorld(t)
	b, c := w.worker("b"), w.worker("c")
	b.Restart, b.Significant = "temporary", true
	c.Restart, c.Significant = "transient", true
	pid := w.start(supervise.Spec(supervise.Config{AllSignificant: true}, w.worker("a"), b, c))
	w.expect("start a", "start b", "start c")
	w.crash(pid, "b", errCrash)
	w.expect("end b")
	w.nothingElse(pid)
	w.crash(pid, "c", actor.ErrNormal)
	w.expect("end c", "shut a")
}

func TestEndedIsCalledForChildrenThatAreNotRestarted(t *testing.T) {
	w := newWorld(t)
	a, b := w.worker("a"), w.worker("b")
	b.Restart = "temporary"
	pid := w.start(supervise.Spec(supervise.Config{Ended: func(_ *actor.Process, id string, child actor.PID, reason error) {
		w.journal <- id + " is over: " + reason.Error()
	}}, a, b))
	w.expect("start a", "start b")
	w.crash(pid, "a", errCrash)
	w.expect("end a", "start a")
	w.crash(pid, "b", errCrash)
	w.expect("end b", "b is over: crash")
	actor.Stop(w.system, pid, nil)
	w.expect("shut a")
}

func TestSignificantChildThatIsTerminatedByCallEndsNoSupervisor(t *testing.T) {
	w := newWorld(t)
	b := w.worker("b")
	b.Restart, b.Significant = "transient", true
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a"), b))
	w.expect("start a", "start b")
	if err := supervise.At(w.system, pid).TerminateChild(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	w.expect("shut b")
	w.nothingElse(pid)
}
