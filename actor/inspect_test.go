package actor

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor/inspect"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestInfoTellsAboutAProcess(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		parent, linked, watched := spawn(t, s, hooks{}), spawn(t, s, hooks{}), spawn(t, s, hooks{})
		var pid PID
		in(t, s, parent, func(p *Process) {
			pid, _ = catchers.Spec(hooks{}, SpawnConfig{Name: "it", Mailbox: 7, Overflow: DropOldest}).Start(p)
			p.Monitor(pid)
		})
		in(t, s, pid, func(p *Process) {
			p.Link(linked)
			p.Monitor(watched)
			p.Monitor(watched)
			p.NewAlias()
		})
		time.Sleep(time.Minute)
		g := busyIn(t, s, pid)
		fill(s, pid, 3)
		info, err := s.Info(pid)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(info.Links, []string{linked.String()}) || !slices.Equal(info.Monitors, []string{watched.String(), watched.String()}) {
			t.Errorf("links %v, monitors %v", info.Links, info.Monitors)
		}
		info.Links, info.Monitors = nil, nil
		want := inspect.Info{PID: pid.String(), Name: "it", Behavior: "catcher", Parent: parent.String(), Life: "running", Waiting: 3, Bound: 7,
			Overflow: "drop oldest", Traps: true, Monitored: 1, Aliases: 1, Age: time.Minute}
		if !reflect.DeepEqual(info, want) {
			t.Errorf("got  %+v\nwant %+v", info, want)
		}
		close(g.open)
		bubbletest.Wait()
		if info, _ := s.Info(pid); info.Life != "sleeping" || info.Waiting != 0 {
			t.Errorf("got %+v", info)
		}
		s.Kill(pid)
		bubbletest.Wait()
		_, err = s.Info(pid)
		wantError(t, err, ErrNoProcess)
		_, err = s.Info(PID{})
		wantError(t, err, ErrNoProcess)
	})
}

func TestInfoOfAProcessWhoseInitRuns(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		spawn(t, s, hooks{init: func(p *Process) error {
			if info, err := s.Info(p.PID()); err != nil || info.Life != "initializing" {
				t.Error(info, err)
			}
			return nil
		}})
	})
}

func TestProcessesYieldsAll(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		want := map[PID]bool{}
		for range 3000 {
			want[spawn(t, s, hooks{})] = true
		}
		for pid := range s.Processes() {
			if !want[pid] {
				t.Errorf("%s was not expected", pid)
			}
			delete(want, pid)
		}
		if len(want) != 0 {
			t.Errorf("%d are missing", len(want))
		}
		for range s.Processes() {
			break
		}
	})
}

func TestInfoMayBeAskedAtAnyTime(t *testing.T) {
	s := quiet()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for pid := range s.Processes() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				if _, err := s.Info(pid); err != nil && !same(err, ErrNoProcess) {
					t.Error(err)
				}
				if _, err := s.Inspect(ctx, pid); err != nil && !same(err, ErrNoProcess) {
					t.Error(err)
				}
				cancel()
			}
		}
	}()
	for range 2000 {
		pid := spawn(t, s, hooks{}, SpawnConfig{Name: "it"})
		in(t, s, pid, func(p *Process) { p.Monitor(pid); p.NewAlias() })
		down := make(chan struct{})
		in(t, s, spawn(t, s, hooks{any: func(*Process, any) error { close(down); return ErrNormal }}), func(p *Process) { p.Monitor(pid) })
		s.Kill(pid)
		<-down
	}
	close(stop)
	<-done
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestInspectShowsWhatTheStateSays(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		total := 0
		pid := spawn(t, s, hooks{
			any:     func(_ *Process, m any) error { total += m.(int); return nil },
			inspect: func() any { return total },
		})
		g := busyIn(t, s, pid)
		fill(s, pid, 4)
		got := make(chan any, 1)
		go func() {
			v, err := s.Inspect(context.Background(), pid)
			if err != nil {
				t.Error(err)
			}
			got <- v
		}()
		bubbletest.Wait()
		close(g.open)
		if v := <-got; v != 0 { // before the messages that wait
			t.Errorf("got %v", v)
		}
		bubbletest.Wait()
		if v, err := s.Inspect(t.Context(), pid); v != 6 || err != nil {
			t.Error(v, err)
		}
	})
}

func TestInspectFailsWithoutHarm(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		silent := Define("silent", (*counter).Init)
		none, _ := Spawn(s, silent, 1)
		_, err := s.Inspect(t.Context(), none.PID())
		wantError(t, err, ErrNotHandled)

		panics := spawn(t, s, hooks{inspect: func() any { panic("oh") }})
		_, err = s.Inspect(t.Context(), panics)
		wantError(t, err, errPanic)
		in(t, s, panics, func(*Process) {})

		empty := spawn(t, s, hooks{inspect: func() any { return nil }})
		if _, err = s.Inspect(t.Context(), empty); err == nil {
			t.Error("nothing was shown")
		}

		busy := spawn(t, s, hooks{})
		g := busyIn(t, s, busy)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.Inspect(ctx, busy)
		wantError(t, err, context.DeadlineExceeded)
		_, err = s.Inspect(context.Background(), busy)
		wantError(t, err, ErrCallTimeout)
		close(g.open)

		s.Kill(none.PID())
		bubbletest.Wait()
		_, err = s.Inspect(t.Context(), none.PID())
		wantError(t, err, ErrNoProcess)
	})
}

func TestInspectIsNotForOnAnyCall(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		b := Define("any", (*puppet).Init, OnAnyCall(func(*puppet, *Process, any) (any, error) { return "OnAnyCall", nil }))
		pid, err := Spawn(s, b, hooks{})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := s.Inspect(t.Context(), pid.PID()); v != "a puppet" || err != nil {
			t.Error(v, err)
		}
	})
}
