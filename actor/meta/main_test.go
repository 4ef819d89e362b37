package meta_test

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testTimeout = 2 * time.Minute

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func newSystem(t testing.TB) *actor.System {
	s := actor.NewSystem(actor.Config{Logger: quiet})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

func next[T any](t testing.TB, from chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(testTimeout):
		t.Fatal("nothing came")
		panic("")
	}
}

// owner is a process that does what the test orders, and reports what it gets.
type owner struct{ received chan any }

type do struct{ fn func(p *actor.Process) error }

func (o *owner) Init(_ *actor.Process, received chan any) error { o.received = received; return nil }
func (o *owner) Do(p *actor.Process, m do) (sabir.Empty, error) {
	return sabir.Empty{}, m.fn(p)
}
func (o *owner) Any(_ *actor.Process, m any) error { o.received <- m; return nil }

var ownerB = actor.Define("owner", (*owner).Init, actor.OnCall((*owner).Do), actor.OnAnyMessage((*owner).Any))

type owned struct {
	t        testing.TB
	s        *actor.System
	pid      actor.PID
	received chan any
}

func newOwner(t testing.TB, s *actor.System) owned {
	t.Helper()
	o := owned{t, s, actor.PID{}, make(chan any, 10_000)}
	var err error
	if o.pid, err = ownerB.Spec(o.received).Start(s); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o owned) do(fn func(p *actor.Process) error) {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	if _, err := actor.Call[sabir.Empty](ctx, o.s, o.pid, do{fn}); err != nil {
		o.t.Fatal(err)
	}
}

// watches makes the owner receive the end of a process.
func (o owned) watches(pid actor.PID) {
	o.t.Helper()
	o.do(func(p *actor.Process) error { p.Monitor(pid); return nil })
}

func nextOf[T any](t testing.TB, from chan any) T {
	t.Helper()
	m := next(t, from)
	v, ok := m.(T)
	if !ok {
		t.Fatalf("%T %+v came, not a %T", m, m, v)
	}
	return v
}
