package supervise_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/actortest"
	"github.com/sabir-go/sabir/actor/supervise"
)

// testTimeout is the timeout of a test for what must happen: also for the end of a million children, on a machine that has much
// else to do.
const testTimeout = 5 * time.Minute

var errCrash = errors.New("crash")

// world is a system with a clock that the test moves, and what its workers have written.
type world struct {
	*testing.T
	system  *actor.System
	clock   *clock
	journal chan string
}

func newWorld(t *testing.T) *world {
	c := newClock()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	w := &world{t, actortest.NewSystem(actor.Config{Logger: quiet}, c), c, make(chan string, 10_000)}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if err := w.system.Stop(ctx); err != nil {
			t.Error("the system did not stop:", err)
		}
	})
	return w
}

// expect reads the journal and compares the next lines.
func (w *world) expect(lines ...string) {
	w.Helper()
	for i, want := range lines {
		select {
		case got := <-w.journal:
			if got != want {
				w.Fatalf("line %d: %q, want %q", i, got, want)
			}
		case <-time.After(testTimeout):
			w.Fatalf("line %d: nothing, want %q", i, want)
		}
	}
}

// nothingElse asks the supervisor, so that it has handled all that came before, and looks whether the journal is empty.
func (w *world) nothingElse(supervisor actor.PID) {
	w.Helper()
	w.children(supervisor)
	select {
	case got := <-w.journal:
		w.Fatalf("%q, want nothing", got)
	default:
	}
}

func (w *world) start(spec actor.Spec) actor.PID {
	w.Helper()
	pid, err := spec.Start(w.system)
	if err != nil {
		w.Fatal(err)
	}
	return pid
}

func (w *world) children(supervisor actor.PID) []supervise.Info {
	w.Helper()
	d, err := supervise.At(w.system, supervisor).Describe(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return d.Children
}

// states is the children with their states.
func (w *world) states(supervisor actor.PID) string {
	w.Helper()
	text := ""
	for _, c := range w.children(supervisor) {
		text += fmt.Sprintf("%s %s %d, ", c.ID, c.State, c.Restarts)
	}
	return text
}

func (w *world) child(supervisor actor.PID, id string) supervise.Info {
	w.Helper()
	list := w.children(supervisor)
	i := slices.IndexFunc(list, func(c supervise.Info) bool { return c.ID == id })
	if i < 0 {
		w.Fatalf("no child %q", id)
	}
	return list[i]
}

// crash ends a child for a reason of its own.
func (w *world) crash(supervisor actor.PID, id string, reason error) {
	w.Helper()
	if err := actor.Send(w.system, w.child(supervisor, id).PID, fail{reason}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) kill(supervisor actor.PID, id string) {
	w.Helper()
	if err := actor.Kill(w.system, w.child(supervisor, id).PID); err != nil {
		w.Fatal(err)
	}
}

// endOf waits for the end of a process: done gets the reason.
func (w *world) watch(pid actor.PID) (reason func() error) {
	w.Helper()
	ended := make(chan error, 1)
	if _, err := actor.Spawn(w.system, watching, watch{pid, ended}); err != nil {
		w.Fatal(err)
	}
	return func() error {
		w.Helper()
		select {
		case err := <-ended:
			return err
		case <-time.After(testTimeout):
			w.Fatalf("%s has not ended", pid)
			return nil
		}
	}
}

type watch struct {
	pid   actor.PID
	ended chan error
}

type watcher struct{ ended chan error }

func (x *watcher) init(p *actor.Process, w watch) error {
	x.ended = w.ended
	p.Monitor(w.pid)
	return nil
}

func (x *watcher) down(p *actor.Process, d actor.Down) error {
	x.ended <- d.Reason
	return actor.ErrNormal
}

var watching = actor.Define("watcher", (*watcher).init, actor.OnMessage((*watcher).down))

// worker writes into the journal when it starts and ends.
type worker struct{ job }

// job is the behaviour of a worker.
type job struct {
	name    string
	journal chan string
	init    func(p *actor.Process) error // instead of nothing
	end     func()                       // called in Terminate
	quiet   bool
}

type fail struct{ reason error }
type do struct{ fn func(*actor.Process) }
type ask struct{}

func (x *worker) start(p *actor.Process, j job) error {
	x.job = j
	if j.init != nil {
		if err := j.init(p); err != nil {
			x.write("fail " + j.name)
			return err
		}
	}
	x.write("start " + j.name)
	return nil
}

func (x *worker) write(line string) {
	if !x.quiet {
		x.journal <- line
	}
}

func (x *worker) Terminate(p *actor.Process, reason error) {
	if x.end != nil {
		x.end()
	}
	word := "end"
	if errors.Is(reason, actor.ErrShutdown) {
		word = "shut"
	}
	x.write(word + " " + x.name)
}

func (x *worker) fail(p *actor.Process, m fail) error   { return m.reason }
func (x *worker) do(p *actor.Process, m do) error       { m.fn(p); return nil }
func (x *worker) ask(*actor.Process, ask) (bool, error) { panic("asked") }

var working = actor.Define("worker", (*worker).start, actor.OnMessage((*worker).fail), actor.OnMessage((*worker).do), actor.OnCall((*worker).ask))

// stubborn is a worker that takes Exits as messages, and does not end by them.
type stubborn struct{ worker }

func (x *stubborn) start(p *actor.Process, j job) error       { return x.worker.start(p, j) }
func (x *stubborn) exit(p *actor.Process, e actor.Exit) error { x.write("exit " + x.name); return nil }

var resisting = actor.Define("stubborn", (*stubborn).start, actor.OnMessage((*stubborn).exit))

func (w *world) job(name string) job { return job{name: name, journal: w.journal} }

func (w *world) worker(name string) supervise.Child {
	return supervise.Child{ID: name, Start: working.Spec(w.job(name))}
}

func (w *world) workers(names ...string) []supervise.Child {
	var list []supervise.Child
	for _, name := range names {
		list = append(list, w.worker(name))
	}
	return list
}

// unwilling is a worker whose start fails as long as n is not 0, and counts n down.
func (w *world) unwilling(name string, n *atomic.Int32) supervise.Child {
	j := w.job(name)
	j.init = func(*actor.Process) error {
		if n.Add(-1) >= 0 {
			return errCrash
		}
		return nil
	}
	return supervise.Child{ID: name, Start: working.Spec(j)}
}

// often is a Config in which restarts do not count much.
func often(s string) supervise.Config {
	return supervise.Config{Strategy: s, Intensity: 1000}
}
