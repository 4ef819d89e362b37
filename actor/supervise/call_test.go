package supervise_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/supervise"
)

func TestStartChildAddsItAtTheEnd(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(often("rest-for-one"), w.worker("a")))
	child, err := supervise.At(w.system, pid).StartChild(t.Context(), w.worker("b"))
	if err != nil || child != w.child(pid, "b").PID {
		t.Fatal(child, err)
	}
	w.expect("start a", "start b")
	w.crash(pid, "a", errCrash)
	w.expect("end a", "shut b", "start a", "start b")
}

func TestStartChildRefusesAnIDThatIsThere(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a")))
	w.expect("start a")
	if _, err := supervise.At(w.system, pid).StartChild(t.Context(), w.worker("a")); !errors.Is(err, supervise.ErrChildExists) {
		t.Error(err)
	}
	w.nothingElse(pid)
}

func TestChildThatDoesNotStartIsNotAdded(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(supervise.Config{}))
	var fails atomic.Int32
	fails.Store(1)
	if _, err := supervise.At(w.system, pid).StartChild(t.Context(), w.unwilling("a", &fails)); !errors.Is(err, sabir.NewError(sabir.CodeAborted, "ChildNotStarted", "")) || !errors.Is(err, errCrash) {
		t.Error(err)
	}
	w.expect("fail a")
	if got := w.states(pid); got != "" {
		t.Error(got)
	}
}

func TestTerminatedChildIsNotRestartedUntilRestartChild(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(supervise.Config{}, w.workers("a", "b")...))
	w.expect("start a", "start b")
	if err := supervise.At(w.system, pid).TerminateChild(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	w.expect("shut a")
	if got := w.states(pid); got != "a ended 0, b running 0, " {
		t.Error(got)
	}
	if err := supervise.At(w.system, pid).TerminateChild(t.Context(), "a"); err != nil {
		t.Error("it has ended already:", err)
	}
	child, err := supervise.At(w.system, pid).RestartChild(t.Context(), "a")
	if err != nil || child != w.child(pid, "a").PID {
		t.Error(child, err)
	}
	w.expect("start a")
}

func TestTerminatedTemporaryChildIsForgotten(t *testing.T) {
	w := newWorld(t)
	a := w.worker("a")
	a.Restart = "temporary"
	pid := w.start(supervise.Spec(supervise.Config{}, a))
	if err := supervise.At(w.system, pid).TerminateChild(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if got := w.states(pid); got != "" {
		t.Error(got)
	}
}

func TestTerminateChildEndsTheAttemptsToRestart(t *testing.T) {
	w := newWorld(t)
	j := w.job("a")
	var starts atomic.Int32
	j.quiet = true
	j.init = func(*actor.Process) error {
		if starts.Add(1) > 1 {
			return errCrash
		}
		return nil
	}
	pid := w.start(supervise.Spec(supervise.Config{Intensity: 1 << 30}, supervise.Child{ID: "a", Start: working.Spec(j)}))
	w.crash(pid, "a", errCrash)
	for starts.Load() < 10 {
		w.children(pid)
	}
	if err := supervise.At(w.system, pid).TerminateChild(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if got := w.states(pid); got != "a ended 0, " {
		t.Error(got)
	}
	w.children(pid)
	n := starts.Load()
	w.children(pid)
	if starts.Load() != n {
		t.Error("it is still tried")
	}
}

func TestDeleteChildForgetsOneThatHasEnded(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(supervise.Config{}, w.workers("a", "b")...))
	ctx := t.Context()
	if err := supervise.At(w.system, pid).DeleteChild(ctx, "a"); !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "ChildRuns", "")) {
		t.Error(err)
	}
	if err := supervise.At(w.system, pid).TerminateChild(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if err := supervise.At(w.system, pid).DeleteChild(ctx, "a"); err != nil {
		t.Error(err)
	}
	if got := w.states(pid); got != "b running 0, " {
		t.Error(got)
	}
}

func TestRestartChildRefusesOneThatRuns(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a")))
	if _, err := supervise.At(w.system, pid).RestartChild(t.Context(), "a"); !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "ChildRuns", "")) {
		t.Error(err)
	}
}

func TestCallsWithAnUnknownIDFail(t *testing.T) {
	w := newWorld(t)
	pid := w.start(supervise.Spec(supervise.Config{}))
	ctx := t.Context()
	_, restart := supervise.At(w.system, pid).RestartChild(ctx, "x")
	for _, err := range []error{restart, supervise.At(w.system, pid).TerminateChild(ctx, "x"), supervise.At(w.system, pid).DeleteChild(ctx, "x")} {
		if !errors.Is(err, supervise.ErrNoChild) {
			t.Error(err)
		}
	}
}

func TestStartChildWaitsForTheRestartOfTheOthers(t *testing.T) {
	w := newWorld(t)
	b, hold := w.held("b")
	pid := w.start(supervise.Spec(often("all-for-one"), w.worker("a"), b))
	w.expect("start a", "start b")
	w.crash(pid, "a", errCrash)
	w.expect("end a")
	w.clock.armed(t, 5*time.Second)
	started := make(chan error)
	go func() {
		_, err := supervise.At(w.system, pid).StartChild(context.Background(), w.worker("c"))
		started <- err
	}()
	w.nothingElse(pid)
	close(hold)
	w.expect("shut b", "start a", "start b", "start c")
	if err := <-started; err != nil {
		t.Error(err)
	}
}

func TestEndingSupervisorStartsNothing(t *testing.T) {
	w := newWorld(t)
	b, hold := w.held("b")
	pid := w.start(supervise.Spec(supervise.Config{}, w.worker("a"), b))
	w.expect("start a", "start b")
	actor.Stop(w.system, pid, nil)
	w.clock.armed(t, 5*time.Second)
	if _, err := supervise.At(w.system, pid).StartChild(t.Context(), w.worker("c")); !errors.Is(err, sabir.NewError(sabir.CodeUnavailable, "SupervisorEnding", "")) {
		t.Error(err)
	}
	close(hold)
	w.expect("shut b", "shut a")
}

func TestSupervisorIsFoundByItsName(t *testing.T) {
	w := newWorld(t)
	w.start(supervise.Spec(supervise.Config{Name: "shop"}, w.worker("a")))
	d, err := supervise.At(w.system, actor.Name{Name: "shop"}).Describe(t.Context())
	if err != nil || len(d.Children) != 1 || d.Children[0].ID != "a" || d.Children[0].Behavior != "worker" || d.Children[0].Supervisor {
		t.Error(d, err)
	}
}

func TestConfigWithoutSenseIsRefused(t *testing.T) {
	w := newWorld(t)
	ok := w.worker("a")
	significant, permanent := ok, ok
	significant.Restart, significant.Significant = "transient", true
	permanent.Significant = true
	for name, spec := range map[string]actor.Spec{
		"no ID":                    supervise.Spec(supervise.Config{}, supervise.Child{Start: ok.Start}),
		"no Start":                 supervise.Spec(supervise.Config{}, supervise.Child{ID: "a"}),
		"negative shutdown":        supervise.Spec(supervise.Config{}, supervise.Child{ID: "a", Start: ok.Start, Shutdown: -2}),
		"unknown restart":          supervise.Spec(supervise.Config{}, supervise.Child{ID: "a", Start: ok.Start, Restart: "always"}),
		"unknown strategy":         supervise.Spec(supervise.Config{Strategy: "none-for-one"}),
		"negative period":          supervise.Spec(supervise.Config{Period: -1}),
		"permanent significant":    supervise.Spec(supervise.Config{}, permanent),
		"dynamic with an ID":       supervise.Dynamic(working, supervise.Config{}, supervise.Child{ID: "a"}),
		"dynamic with a strategy":  supervise.Dynamic(working, supervise.Config{Strategy: "all-for-one"}, supervise.Child{}),
		"dynamic with a bad child": supervise.Dynamic(working, supervise.Config{}, supervise.Child{Shutdown: -5}),
	} {
		if _, err := spec.Start(w.system); sabir.AsError(err).Name != "SupervisorConfig" {
			t.Error(name, err)
		}
	}
	if _, err := supervise.Spec(supervise.Config{}, ok, ok).Start(w.system); !errors.Is(err, supervise.ErrChildExists) {
		t.Error(err)
	}
}
