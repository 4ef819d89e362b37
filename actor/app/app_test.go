package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/app"
	"github.com/sabir-go/sabir/actor/supervise"
)

func TestApplicationStartsAfterThoseItNeeds(t *testing.T) {
	w := newWorld(t)
	w.control(app.Config{Apps: []app.App{w.app("shop", "store", "mail"), w.app("mail", "queue"), w.app("store"), w.app("queue", "store"), w.app("other")}})
	w.start("shop")
	w.expect("start store", "start queue", "start mail", "start shop")
	if w.info("other").Running || !w.info("queue").Running {
		t.Error("the wrong ones run")
	}
}

func TestStartOfAnApplicationThatRunsDoesNothing(t *testing.T) {
	w := newWorld(t)
	w.control(app.Config{Apps: []app.App{w.app("a"), w.app("b")}})
	w.start("a")
	w.start("a")
	w.start("b")
	w.expect("start a", "start b")
}

func TestFailedStartStopsThoseThatWereStartedForIt(t *testing.T) {
	w := newWorld(t)
	bad := app.App{Name: "bad", Needs: []string{"c"}, Root: working.Spec(job{"bad", w.journal, func(*actor.Process) error { return errCrash }})}
	w.control(app.Config{Apps: []app.App{w.app("a"), w.app("b", "a"), w.app("c", "b"), bad}})
	w.start("a")
	err := app.On(w.system, "").Start(t.Context(), "bad")
	if !errors.Is(err, sabir.NewError(sabir.CodeAborted, "ApplicationNotStarted", "")) || !errors.Is(err, errCrash) {
		t.Error(err)
	}
	w.expect("start a", "start b", "start c", "fail bad", "end c", "end b")
	if !w.info("a").Running {
		t.Error("a ran before, and does not any more")
	}
}

func TestApplicationWhoseRootEndsInInitIsNotStarted(t *testing.T) {
	w := newWorld(t)
	w.control(app.Config{Apps: []app.App{{Name: "a", Root: working.Spec(job{"a", w.journal, func(*actor.Process) error { return actor.ErrNormal }})}}})
	if err := app.On(w.system, "").Start(t.Context(), "a"); !errors.Is(err, sabir.NewError(sabir.CodeAborted, "ApplicationNotStarted", "")) {
		t.Error(err)
	}
	if w.info("a").Running {
		t.Error("it runs")
	}
}

func TestApplicationThatOthersNeedIsStoppedOnlyWithThem(t *testing.T) {
	w := newWorld(t)
	w.control(app.Config{Apps: []app.App{w.app("a"), w.app("b", "a"), w.app("c", "b"), w.app("d")}})
	w.start("c")
	w.start("d")
	w.expect("start a", "start b", "start c", "start d")
	if err := app.On(w.system, "").Stop(t.Context(), "a"); !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "ApplicationNeeded", "")) || !strings.Contains(err.Error(), `["b" "c"]`) {
		t.Error(err)
	}
	if err := app.On(w.system, "").StopWithDependents(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	w.expect("end c", "end b", "end a")
	if !w.info("d").Running || w.info("a").Running {
		t.Error("the wrong ones run")
	}
}

func TestStoppedApplicationCanBeStartedAgain(t *testing.T) {
	w := newWorld(t)
	w.control(app.Config{Apps: []app.App{w.app("a")}})
	for range 3 {
		w.start("a")
		if err := app.On(w.system, "").Stop(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		w.expect("start a", "end a")
	}
	if err := app.On(w.system, "").Stop(t.Context(), "a"); err != nil {
		t.Error("it does not run:", err)
	}
}

func TestEndOfTheSystemStopsApplicationsInTheReverseOrderOfTheirStart(t *testing.T) {
	w := newWorld(t)
	w.control(app.Config{Apps: []app.App{w.app("a"), w.app("b"), w.app("c")}})
	for _, name := range []string{"b", "c", "a"} {
		w.start(name)
	}
	w.expect("start b", "start c", "start a")
	if err := w.system.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.expect("end a", "end c", "end b")
}

func TestWhatTheEndOfAnApplicationMeansDependsOnModeAndReason(t *testing.T) {
	for _, test := range []struct {
		mode   string
		reason error
		fatal  bool
	}{
		{"temporary", actor.ErrNormal, false},
		{"temporary", errCrash, false},
		{"transient", actor.ErrNormal, false},
		{"transient", actor.ErrShutdown, false},
		{"transient", errCrash, true},
		{"permanent", actor.ErrNormal, true},
		{"permanent", actor.ErrShutdown, true},
		{"permanent", errCrash, true},
	} {
		t.Run(fmt.Sprint(test.mode, " ", test.reason), func(t *testing.T) {
			w := newWorld(t)
			stopped := make(chan error, 1)
			w.control(app.Config{
				Apps: []app.App{w.app("a"), w.bare("b", test.mode), w.app("c")},
				Stop: func(reason error) { stopped <- reason },
			})
			for _, name := range []string{"a", "b", "c"} {
				w.start(name)
			}
			w.expect("start a", "start b", "start c")
			actor.Send(w.system, w.info("b").PID, fail{test.reason})
			w.expect("end b")
			w.ends("b")
			if !test.fatal {
				if !w.info("a").Running || !w.info("c").Running || len(stopped) != 0 {
					t.Error("others were stopped")
				}
				if !strings.Contains(w.log.String(), "application ended") {
					t.Error("it was not logged")
				}
				return
			}
			w.expect("end c", "end a")
			if reason := <-stopped; !errors.Is(reason, sabir.NewError(sabir.CodeAborted, "ApplicationEnded", "")) || !errors.Is(reason, test.reason) {
				t.Error(reason)
			}
		})
	}
}

func TestApplicationThatIsStoppedByCallEndsNothingElse(t *testing.T) {
	w := newWorld(t)
	w.control(app.Config{Apps: []app.App{w.app("a"), w.bare("b", "permanent")}, Stop: func(error) { t.Error("the system is stopped") }})
	w.start("a")
	w.start("b")
	if err := app.On(w.system, "").Stop(t.Context(), "b"); err != nil {
		t.Error(err)
	}
	w.expect("start a", "start b", "end b")
	if !w.info("a").Running {
		t.Error("a was stopped")
	}
}

func TestSystemStopsWithAPermanentApplication(t *testing.T) {
	w := newWorld(t)
	pid := w.control(app.Config{Apps: []app.App{w.app("a"), w.bare("b", "permanent")}})
	w.start("a")
	w.start("b")
	actor.Send(w.system, w.info("b").PID, fail{errCrash})
	w.expect("start a", "start b", "end b", "end a")
	for end := time.Now().Add(testTimeout); w.system.Alive(pid); {
		if time.Now().After(end) {
			t.Fatal("the controller lives")
		}
	}
}

func TestRunStartsAllAndStopsThemWithItsContext(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- app.Run(ctx, w.system, app.Config{Apps: []app.App{w.app("b", "a"), w.app("a")}}) }()
	w.expect("start a", "start b")
	cancel()
	w.expect("end b", "end a")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRunEndsWithAPermanentApplication(t *testing.T) {
	w := newWorld(t)
	ended := make(chan error)
	b := w.bare("b", "permanent")
	b.Root = working.Spec(job{"b", w.journal, func(p *actor.Process) error { return actor.Send(p, p.PID(), fail{errCrash}) }})
	go func() { ended <- app.Run(t.Context(), w.system, app.Config{Apps: []app.App{w.app("a"), b}}) }()
	w.expect("start a", "start b", "end b", "end a")
	if err := <-ended; !errors.Is(err, sabir.NewError(sabir.CodeAborted, "ApplicationEnded", "")) || !errors.Is(err, errCrash) {
		t.Error(err)
	}
}

func TestRunStopsWhatItHasStartedWhereOneDoesNotStart(t *testing.T) {
	w := newWorld(t)
	bad := app.App{Name: "bad", Root: working.Spec(job{"bad", w.journal, func(*actor.Process) error { panic("no") }})}
	err := app.Run(t.Context(), w.system, app.Config{Apps: []app.App{w.app("a"), bad, w.app("c")}})
	w.expect("start a", "end a")
	if !errors.Is(err, sabir.NewError(sabir.CodeAborted, "ApplicationNotStarted", "")) || !errors.Is(err, sabir.ErrPanic) {
		t.Error(err)
	}
	if len(w.journal) != 0 {
		t.Error(<-w.journal)
	}
}

func TestEnvironmentIsSeenByAllProcessesOfItsApplicationOnly(t *testing.T) {
	w := newWorld(t)
	a, b := w.app("a"), w.app("b")
	a.Env = map[string]any{"currency": "EUR", "limit": 7}
	pid := w.control(app.Config{Apps: []app.App{a, b}})
	w.start("a")
	w.start("b")
	tree, err := supervise.At(w.system, pid).Tree(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	inA, inB := tree.Children[1].Children[0].PID, tree.Children[2].Children[0].PID
	look := func(p *actor.Process) {
		currency := app.Env(p, "currency", "")
		if currency != "EUR" || app.Env(p, "limit", 1) != 7 || app.Env(p, "limit", "none") != "none" || app.Of(p) != "a" {
			t.Error(currency, app.Env(p, "limit", 1), app.Of(p))
		}
	}
	w.inside(inA, look)
	w.inside(inA, func(p *actor.Process) { // what it starts belongs to the application too
		pid, err := actor.Spawn(p, working, job{name: "below", journal: w.journal}, actor.SpawnConfig{Linked: true})
		if err != nil {
			t.Error(err)
		}
		go actor.Call[struct{}](t.Context(), w.system, pid, do{func(p *actor.Process) { look(p); w.journal <- "looked" }})
	})
	w.expect("start a", "start b", "start below", "looked")
	w.inside(inB, func(p *actor.Process) {
		if value := app.Env[any](p, "currency", nil); value != nil || app.Of(p) != "b" {
			t.Error(value, app.Of(p))
		}
	})
}

func TestSetEnvIsSeenByProcessesThatRun(t *testing.T) {
	w := newWorld(t)
	a := w.bare("a", "temporary")
	a.Env = map[string]any{"x": 1, "y": 2}
	w.control(app.Config{Apps: []app.App{a}})
	w.start("a")
	if err := app.On(w.system, "").SetEnv(t.Context(), "a", "x", 5); err != nil {
		t.Fatal(err)
	}
	if err := app.On(w.system, "").SetEnv(t.Context(), "a", "y", nil); err != nil {
		t.Fatal(err)
	}
	w.inside(w.info("a").PID, func(p *actor.Process) {
		if app.Env(p, "x", 0) != 5 || app.Env(p, "y", 0) != 0 {
			t.Error(app.Env[any](p, "x", nil))
		}
	})
	if a.Env["x"] != 1 {
		t.Error("the map of the program was changed")
	}
}

func TestLogLevelIsThatOfTheApplication(t *testing.T) {
	w := newWorld(t) // its logger logs from Info on
	chatty, silent := w.bare("chatty", "temporary"), w.bare("silent", "temporary")
	chatty.LogLevel, silent.LogLevel = slog.LevelDebug, slog.LevelError
	w.control(app.Config{Apps: []app.App{chatty, silent, w.bare("plain", "temporary")}})
	for _, name := range []string{"chatty", "silent", "plain"} {
		w.start(name)
	}
	write := func(name, text string) {
		w.inside(w.info(name).PID, func(p *actor.Process) {
			p.Log().Debug(text + "-debug")
			p.Log().Info(text + "-info")
			p.Log().With("k", "v").WithGroup("g").Error(text + "-error")
		})
	}
	logged := func() (list string) {
		for _, word := range strings.FieldsFunc(w.log.String(), func(r rune) bool { return strings.ContainsRune(" =\n", r) }) {
			if i := strings.IndexByte(word, '-'); i > 0 && strings.HasPrefix(word, "x") {
				list += word + " "
			}
		}
		return list
	}
	write("chatty", "x1")
	write("silent", "x2")
	write("plain", "x3")
	if got, want := logged(), "x1-debug x1-info x1-error x2-error x3-info x3-error "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if err := app.On(w.system, "").SetLogLevel(t.Context(), "chatty", nil); err != nil {
		t.Fatal(err)
	}
	if err := app.On(w.system, "").SetLogLevel(t.Context(), "plain", slog.LevelDebug); err != nil {
		t.Fatal(err)
	}
	w.inside(w.info("silent").PID, func(p *actor.Process) { p.SetLogLevel(slog.LevelInfo) })
	w.log.mu.Lock()
	w.log.text.Reset()
	w.log.mu.Unlock()
	write("chatty", "x4")
	write("plain", "x5")
	write("silent", "x6")
	if got, want := logged(), "x4-info x4-error x5-debug x5-info x5-error x6-info x6-error "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestControllerThatIsKilledStillKnowsWhatRuns(t *testing.T) {
	w := newWorld(t)
	pid := w.control(app.Config{Apps: []app.App{w.app("a"), w.bare("b", "temporary")}})
	w.start("a")
	w.start("b")
	above, err := supervise.At(w.system, pid).Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	actor.Kill(w.system, above.Children[0].PID)
	for {
		above, err = supervise.At(w.system, pid).Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if above.Children[0].Restarts == 1 {
			break
		}
	}
	if !w.info("a").Running {
		t.Error("a is forgotten")
	}
	actor.Send(w.system, w.info("b").PID, fail{errCrash})
	w.ends("b")
	if err := app.On(w.system, "").Stop(t.Context(), "a"); err != nil {
		t.Error(err)
	}
}

func TestUnknownApplicationIsAnError(t *testing.T) {
	w := newWorld(t)
	w.control(app.Config{})
	ctx := t.Context()
	for _, err := range []error{
		app.On(w.system, "").Start(ctx, "x"), app.On(w.system, "").Stop(ctx, "x"), app.On(w.system, "").SetEnv(ctx, "x", "k", 1), app.On(w.system, "").SetLogLevel(ctx, "x", slog.LevelInfo),
	} {
		if !errors.Is(err, sabir.NewError(sabir.CodeNotFound, "NoApplication", "")) {
			t.Error(err)
		}
	}
}

func TestWithoutAControllerThereIsNoProcess(t *testing.T) {
	w := newWorld(t)
	if err := app.On(w.system, "").Start(t.Context(), "x"); !errors.Is(err, actor.ErrNoProcess) {
		t.Error(err)
	}
}

func TestApplicationsWithoutSenseAreRefused(t *testing.T) {
	w := newWorld(t)
	for name, apps := range map[string][]app.App{
		"no name":         {{Root: w.worker("a")}},
		"no root":         {{Name: "a"}},
		"a reserved name": {{Name: "controller", Root: w.worker("a")}},
		"two of a name":   {w.app("a"), w.app("a")},
		"unknown mode":    {{Name: "a", Root: w.worker("a"), Mode: "always"}},
		"bad shutdown":    {{Name: "a", Root: w.worker("a"), Shutdown: -2}},
		"needs unknown":   {w.app("a", "b")},
		"needs itself":    {w.app("a", "b"), w.app("b", "c"), w.app("c", "a")},
	} {
		if _, err := app.Spec(app.Config{Apps: apps}).Start(w.system); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "ApplicationConfig", "")) {
			t.Error(name, err)
		}
	}
}

func TestInfoSurvivesJSON(t *testing.T) {
	w := newWorld(t)
	w.control(app.Config{Apps: []app.App{w.app("a"), w.bare("b", "transient")}})
	w.start("a")
	for _, name := range []string{"a", "b"} {
		info := w.info(name)
		text, err := json.Marshal(info)
		if err != nil {
			t.Fatal(err)
		}
		var read app.Info
		if err := json.Unmarshal(text, &read); err != nil || read.PID != info.PID || read.Mode != info.Mode || !read.Since.Equal(info.Since) {
			t.Errorf("%s: %+v, %v", text, read, err)
		}
	}
}
