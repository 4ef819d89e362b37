package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/lease"
)

type printer struct{}

type quit struct{}

var printing = actor.Define("printer", (*printer).Init, actor.OnMessage((*printer).Quit))

func (*printer) Init(*actor.Process, sabir.Empty) error { return nil }
func (*printer) Quit(*actor.Process, quit) error        { return actor.ErrNormal }

func newSystem(t *testing.T) *actor.System {
	s := actor.NewSystem(actor.Config{})
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s
}

func spawnPrinter(t *testing.T, s *actor.System) actor.PID {
	t.Helper()
	ref, err := actor.Spawn(s, printing, sabir.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	return ref.PID()
}

func TestAProcessHasItsNameUntilItEnds(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, l := newSystem(t), leases(store.Memory())
		if _, err := l.WhereIs(t.Context(), "printer"); !errors.Is(err, lease.ErrNoName) {
			t.Errorf("a name that nobody has: %v", err)
		}
		first, second := spawnPrinter(t, s), spawnPrinter(t, s)
		if _, err := l.Register(t.Context(), s, first, "printer"); err != nil {
			t.Fatal(err)
		}
		if pid, err := l.WhereIs(t.Context(), "printer"); err != nil || pid != first {
			t.Errorf("found %v, %v, want %v", pid, err, first)
		}
		waiting, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := l.Register(waiting, s, second, "printer"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while the first has the name, the second got %v", err)
		}
		if err := actor.Send(s, first, quit{}); err != nil {
			t.Fatal(err)
		}
		h, err := l.Register(t.Context(), s, second, "printer")
		if err != nil {
			t.Fatal(err)
		}
		if pid, err := l.WhereIs(t.Context(), "printer"); err != nil || pid != second {
			t.Errorf("found %v, %v, want %v", pid, err, second)
		}
		release(t, h)
		if !s.Alive(second) {
			t.Error("a process whose name was released has ended")
		}
	})
}

func TestAProcessThatLosesItsNameIsKilled(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := &cut{Store: store.Memory()}
		s, l := newSystem(t), leases(st)
		pid := spawnPrinter(t, s)
		h, err := l.Register(t.Context(), s, pid, "printer")
		if err != nil {
			t.Fatal(err)
		}
		st.cutOff()
		<-h.Done()
		bubbletest.Wait()
		if s.Alive(pid) {
			t.Error("the process goes on under a name that another may have")
		}
		st.restore()
		release(t, h)
	})
}

func TestANameForAProcessThatHasEndedIsFreeAtOnce(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, l := newSystem(t), leases(store.Memory())
		pid := spawnPrinter(t, s)
		if err := actor.Send(s, pid, quit{}); err != nil {
			t.Fatal(err)
		}
		bubbletest.Wait()
		h, err := l.Register(t.Context(), s, pid, "printer")
		if err != nil {
			t.Fatal(err)
		}
		<-h.Done()
		bubbletest.Wait()
		if found, err := l.WhereIs(t.Context(), "printer"); !errors.Is(err, lease.ErrNoName) {
			t.Errorf("found %v, %v", found, err)
		}
	})
}
