package actor

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

// puppet is a process that does what the test orders.
type puppet struct{ hooks }

// hooks holds the actions of a puppet; each may be nil.
type hooks struct {
	init      func(*Process) error
	any       func(*Process, any) error
	terminate func(*Process, error)
	inspect   func() any
}

// do is a message that runs in the puppet, ask is a call that does.
type (
	do  struct{ fn func(*Process) error }
	ask struct {
		fn func(*Process) (any, error)
	}
)

func (q *puppet) Init(p *Process, h hooks) error {
	q.hooks = h
	if h.init != nil {
		return h.init(p)
	}
	return nil
}

func (q *puppet) Do(p *Process, m do) error          { return m.fn(p) }
func (q *puppet) Ask(p *Process, m ask) (any, error) { return m.fn(p) }

func (q *puppet) Any(p *Process, m any) error {
	if q.any != nil {
		return q.any(p, m)
	}
	return nil
}

func (q *puppet) Terminate(p *Process, reason error) {
	if q.terminate != nil {
		q.terminate(p, reason)
	}
}

func (q *puppet) Inspect() any {
	if q.inspect != nil {
		return q.inspect()
	}
	return "a puppet"
}

var puppets = Define("puppet", (*puppet).Init, OnMessage((*puppet).Do), OnCall((*puppet).Ask), OnAnyMessage((*puppet).Any))

// catcher is a puppet whose behaviour has a handler for Exit.
var catchers = Define("catcher", (*puppet).Init, OnMessage((*puppet).Do), OnCall((*puppet).Ask), OnAnyMessage((*puppet).Any),
	OnMessage(func(q *puppet, p *Process, e Exit) error { return q.Any(p, e) }))

// quiet is a system that logs nothing, with at most one configuration.
func quiet(configs ...Config) *System {
	var config Config
	if len(configs) > 0 {
		config = configs[0]
	}
	config.Logger = slog.New(slog.DiscardHandler)
	return NewSystem(config)
}

// bubble runs a test with a system in a bubble of testing/synctest: time passes when all goroutines wait, and bubbletest.Wait
// waits until all messages were handled.
func bubble(t *testing.T, test func(t *testing.T, s *System), configs ...Config) {
	bubbletest.Run(t, func(t *testing.T) {
		s := quiet(configs...)
		defer func() {
			for pid := range s.Processes() { // some handle exits, and do not end by them
				s.Kill(pid)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := s.Stop(ctx); err != nil {
				t.Errorf("the system did not stop: %v", err)
			}
		}()
		test(t, s)
	})
}

func spawn(t *testing.T, from Sender, h hooks, config ...SpawnConfig) PID {
	t.Helper()
	pid, err := Spawn(from, puppets, h, config...)
	if err != nil {
		t.Fatalf("spawn: %v", err)
	}
	return pid.PID()
}

// in runs fn in a puppet, and waits for it.
func in(t *testing.T, s *System, pid PID, fn func(p *Process)) {
	t.Helper()
	if _, err := Call[any](context.Background(), s, pid, ask{func(p *Process) (any, error) { fn(p); return nil, nil }}); err != nil {
		t.Fatalf("in %s: %v", pid, err)
	}
}

// notify runs fn in a puppet, and does not wait.
func notify(t *testing.T, s *System, pid PID, fn func(p *Process) error) {
	t.Helper()
	if err := Send(s, pid, do{fn}); err != nil {
		t.Fatalf("tell %s: %v", pid, err)
	}
}

// notes holds what processes have noted, in the order in which they did.
type notes struct {
	mu   sync.Mutex
	list []any
}

func (n *notes) add(v any) {
	n.mu.Lock()
	n.list = append(n.list, v)
	n.mu.Unlock()
}

// note is a hook that notes all messages.
func (n *notes) note(_ *Process, m any) error {
	n.add(m)
	return nil
}

func (n *notes) all() []any {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.list)
}

// want compares what was noted when nothing is left to do. Errors are compared with errors.Is.
func (n *notes) want(t *testing.T, want ...any) {
	t.Helper()
	bubbletest.Wait()
	got := n.all()
	if !slices.EqualFunc(got, want, same) {
		t.Fatalf("noted %v, not %v", got, want)
	}
}

func same(got, want any) bool {
	if e, ok := want.(error); ok {
		err, _ := got.(error)
		return errors.Is(err, e)
	}
	return got == want
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("the error is %v, not %v", err, want)
	}
}

// gate is a callback that lasts until it is opened.
type gate struct{ entered, open chan struct{} }

func newGate() gate { return gate{make(chan struct{}), make(chan struct{})} }

func (g gate) pass(*Process) error {
	close(g.entered)
	<-g.open
	return nil
}

// busy makes a puppet stay in a callback until the gate is opened.
func busyIn(t *testing.T, s *System, pid PID) gate {
	t.Helper()
	g := newGate()
	notify(t, s, pid, g.pass)
	<-g.entered
	return g
}
