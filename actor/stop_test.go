package actor

import (
	"context"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestStopEndsAllProcesses(t *testing.T) {
	stopMany(t, 100_000)
}

func TestStopEndsAMillionProcesses(t *testing.T) {
	brokers.Slow(t)
	stopMany(t, 1_000_000)
}

func stopMany(t *testing.T, n int) {
	s := quiet()
	for i := range n {
		pid, err := Spawn(s, counterB, i)
		if err != nil {
			t.Fatal(err)
		}
		if i%10 == 0 {
			Send(s, pid, add{1})
		}
	}
	if s.Count() != n {
		t.Errorf("%d of %d live", s.Count(), n)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	started := time.Now()
	if err := s.Stop(ctx); err != nil || s.Count() != 0 {
		t.Errorf("%v; %d live", err, s.Count())
	}
	t.Logf("stopped %d in %s", n, time.Since(started))
	if lost := s.Stats(); lost.Undelivered > int64(n/10) {
		t.Errorf("counted as lost: %+v", lost)
	}
}

func TestASecondStopWaitsForTheFirst(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		g := busyIn(t, s, pid)
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- s.Stop(context.Background()) }()
		bubbletest.Wait()
		go func() { second <- s.Stop(context.Background()) }()
		bubbletest.Wait()
		if len(second) != 0 {
			t.Error("it returned while a process was there")
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantError(t, s.Stop(short), context.DeadlineExceeded)
		close(g.open)
		if err := <-first; err != nil {
			t.Error(err)
		}
		if err := <-second; err != nil {
			t.Error(err)
		}
	})
}

func TestStopEndsTheContextsOfProcessesWhoseInitStillRuns(t *testing.T) {
	for name, asked := range map[string]bool{"that asked for it before": true, "that asks for it afterwards": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				goOn, spawned := make(chan struct{}), make(chan error, 1)
				go func() {
					_, err := Spawn(s, puppets, hooks{init: func(p *Process) error {
						if !asked {
							<-goOn
						}
						<-p.Context().Done()
						return context.Cause(p.Context())
					}})
					spawned <- err
				}()
				bubbletest.Wait()
				stopped := make(chan error, 1)
				go func() { stopped <- s.Stop(context.Background()) }()
				bubbletest.Wait()
				close(goOn)
				wantError(t, <-spawned, ErrShutdown)
				if err := <-stopped; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestStopLetsProcessesFinishWhatLiesBeforeIt(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid := spawn(t, s, hooks{terminate: func(_ *Process, reason error) { got.add(reason) }})
		g := busyIn(t, s, pid)
		stopped := make(chan error, 1)
		go func() { stopped <- s.Stop(context.Background()) }()
		time.Sleep(time.Second)
		if len(stopped) != 0 || !s.Alive(pid) {
			t.Error("it did not wait for a callback")
		}
		close(g.open)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		got.want(t, ErrShutdown)
	})
}

func TestStopKillsWhoHasNotEndedInTime(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		stubborn, err := Spawn(s, catchers, hooks{terminate: func(*Process, error) { t.Error("Terminate was called") }})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		wantError(t, s.Stop(ctx), context.DeadlineExceeded)
		time.Sleep(time.Second) // what is left of the workers ends
		bubbletest.Wait()
		if s.Alive(stubborn.PID()) {
			t.Error("it lives")
		}
	})
}

func TestStopEndsAProcessThatIsJustStarting(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		g := newGate()
		started := make(chan error, 1)
		go func() {
			_, err := Spawn(s, puppets, hooks{init: g.pass, terminate: func(_ *Process, reason error) { got.add(reason) }})
			started <- err
		}()
		<-g.entered
		stopped := make(chan error, 1)
		go func() { stopped <- s.Stop(context.Background()) }()
		bubbletest.Wait()
		close(g.open)
		if err := <-stopped; err != nil || <-started != nil {
			t.Error(err)
		}
		got.want(t, ErrShutdown)
	})
}

func TestStopAndSpawnAtOnceLeaveNoProcessBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for range 200 {
		s := quiet()
		started := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			close(started)
			for {
				if _, err := Spawn(s, counterB, 1); err != nil {
					return
				}
			}
		}()
		<-started
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		if err := s.Stop(ctx); err != nil {
			t.Fatalf("%v; %d live", err, s.Count())
		}
		cancel()
		<-done
		if s.Count() != 0 {
			t.Fatalf("%d live", s.Count())
		}
	}
}
