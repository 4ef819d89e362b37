package app_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/app"
	"github.com/sabir-go/sabir/actor/supervise"
)

// testTimeout is the timeout of a test for what must happen.
const testTimeout = 2 * time.Minute

var errCrash = errors.New("crash")

// world is a system and what its workers have written.
type world struct {
	*testing.T
	system  *actor.System
	log     *buffer
	journal chan string
}

// buffer takes what is logged.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func newWorld(t *testing.T) *world {
	log := &buffer{}
	w := &world{t, actor.NewSystem(actor.Config{Logger: slog.New(slog.NewTextHandler(log, nil))}), log, make(chan string, 1000)}
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

// control starts a controller.
func (w *world) control(c app.Config) actor.PID {
	w.Helper()
	pid, err := app.Spec(c).Start(w.system)
	if err != nil {
		w.Fatal(err)
	}
	return pid
}

func (w *world) start(name string) {
	w.Helper()
	if err := app.On(w.system, "").Start(w.Context(), name); err != nil {
		w.Fatal(err)
	}
}

// info asks the controller for its report about an application. The controller has then handled every earlier message.
func (w *world) info(name string) app.Info {
	w.Helper()
	list, err := app.On(w.system, "").List(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, i := range list {
		if i.Name == name {
			return i
		}
	}
	w.Fatalf("no application %q", name)
	return app.Info{}
}

// ends waits until an application does not run.
func (w *world) ends(name string) {
	w.Helper()
	for end := time.Now().Add(testTimeout); w.info(name).Running; {
		if time.Now().After(end) {
			w.Fatalf("%q still runs", name)
		}
	}
}

// worker writes into the journal when it starts and ends.
type worker struct{ job }

type job struct {
	name    string
	journal chan string
	init    func(p *actor.Process) error
}

type fail struct{ reason error }
type do struct{ fn func(*actor.Process) }

func (x *worker) start(p *actor.Process, j job) error {
	x.job = j
	if j.init != nil {
		if err := j.init(p); err != nil {
			x.journal <- "fail " + x.name
			return err
		}
	}
	x.journal <- "start " + x.name
	return nil
}

func (x *worker) Terminate(p *actor.Process, reason error)    { x.journal <- "end " + x.name }
func (x *worker) fail(p *actor.Process, m fail) error         { return m.reason }
func (x *worker) do(p *actor.Process, m do) (struct{}, error) { m.fn(p); return struct{}{}, nil }

var working = actor.Define("worker", (*worker).start, actor.OnMessage((*worker).fail), actor.OnCall((*worker).do))

func (w *world) worker(name string) actor.Spec {
	return working.Spec(job{name: name, journal: w.journal})
}

// app is an application of one worker below a supervisor.
func (w *world) app(name string, needs ...string) app.App {
	return app.App{Name: name, Needs: needs, Root: supervise.Spec(supervise.Config{}, supervise.Child{ID: name, Start: w.worker(name)})}
}

// bare is an application of one worker.
func (w *world) bare(name string, mode string) app.App {
	return app.App{Name: name, Mode: mode, Root: w.worker(name)}
}

// inside runs fn in a callback of a process.
func (w *world) inside(pid actor.PID, fn func(*actor.Process)) {
	w.Helper()
	if _, err := actor.Call[struct{}](w.Context(), w.system, pid, do{fn}); err != nil {
		w.Fatal(err)
	}
}
