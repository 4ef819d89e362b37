package actor

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor/inspect"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestCallbacksThatBlockDelayNoOtherProcess(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var gates []gate
		for range 10 * runtime.GOMAXPROCS(0) {
			gates = append(gates, busyIn(t, s, spawn(t, s, hooks{})))
		}
		pid := spawn(t, s, hooks{})
		started := time.Now()
		for range 100 {
			in(t, s, pid, func(*Process) {})
		}
		if waited := time.Since(started); waited > 2*watchEvery {
			t.Errorf("100 calls took %s", waited)
		}
		for _, g := range gates {
			close(g.open)
		}
	})
}

func TestAProcessThatWaitsInACallDelaysNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		last := spawn(t, s, hooks{})
		readyList := ask{nothing}
		for range 100 {
			to, inner := last, readyList
			last = spawn(t, s, hooks{})
			readyList = ask{func(p *Process) (any, error) { return Call[any](p.Context(), p, to, inner) }}
		}
		started := time.Now()
		if _, err := Call[any](t.Context(), s, last, readyList); err != nil || time.Since(started) != 0 {
			t.Errorf("100 calls in one another: %v after %s", err, time.Since(started))
		}
	}, Config{Workers: 1})
}

func TestACallbackThatBlocksDoesNotHoldUpWhatItHasWoken(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		to, from := spawn(t, s, hooks{any: got.note}), spawn(t, s, hooks{})
		g := newGate()
		notify(t, s, from, func(p *Process) error { Send(p, to, "hello"); return g.pass(p) })
		<-g.entered
		time.Sleep(3 * watchEvery)
		got.want(t, "hello")
		close(g.open)
	}, Config{Workers: 1})
}

func TestAProcessWithMuchToDoLetsOthersHaveTheirTurn(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		busy, other := spawn(t, s, hooks{}), spawn(t, s, hooks{})
		for range 500 {
			notify(t, s, busy, func(*Process) error { time.Sleep(watchEvery / 2); return nil })
		}
		started := time.Now()
		in(t, s, other, func(*Process) {})
		if waited := time.Since(started); waited > 4*watchEvery {
			t.Errorf("it waited for %s", waited)
		}
	}, Config{Workers: 1})
}

func TestTheCallbacksOfOneProcessRunOneAtATime(t *testing.T) {
	s := quiet(Config{Workers: 8})
	defer s.Stop(context.Background())
	var inside, most, handled atomic.Int32
	done := make(chan struct{})
	const senders, each = 8, 500
	pid := spawn(t, s, hooks{any: func(*Process, any) error {
		most.Store(max(most.Load(), inside.Add(1)))
		runtime.Gosched()
		inside.Add(-1)
		if handled.Add(1) == senders*each {
			close(done)
		}
		return nil
	}})
	for range senders {
		go fill(s, pid, each)
	}
	<-done
	if most.Load() != 1 {
		t.Errorf("%d ran at once", most.Load())
	}
}

func TestTheWorkersRestWhenThereIsNothingToDo(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		in(t, s, spawn(t, s, hooks{}), func(*Process) {})
		time.Sleep(time.Second)
		bubbletest.Wait()
		s.scheduler.mu.Lock()
		defer s.scheduler.mu.Unlock()
		if s.scheduler.watching || s.scheduler.active != 0 || len(s.scheduler.working) != 0 {
			t.Errorf("watching: %v; %d are active, %d work", s.scheduler.watching, s.scheduler.active, len(s.scheduler.working))
		}
	})
}

// In a storm of messages from many goroutines each is handled, refused or counted as lost, and those of one goroutine that
// are handled are so in their order.
func TestAStormOfMessagesIsAccountedFor(t *testing.T) {
	for _, rule := range []Overflow{Reject, DropNewest, DropOldest, Wait} {
		t.Run(rule.String(), func(t *testing.T) {
			const senders, each = 8, 5000
			s := quiet()
			var handled, refused atomic.Int64
			var last [senders]int
			pid, err := Spawn(s, stormy, func(m drop) error {
				if m.n <= last[m.from] {
					t.Errorf("%d of sender %d came after %d", m.n, m.from, last[m.from])
				}
				last[m.from] = m.n
				handled.Add(1)
				return nil
			}, SpawnConfig{Mailbox: 100, Overflow: rule})
			if err != nil {
				t.Fatal(err)
			}
			var sending sync.WaitGroup
			for from := range senders {
				from := from
				sending.Go(func() {
					if from%2 == 0 {
						for i := range each {
							if Send(s, pid, drop{from, i + 1}) != nil {
								refused.Add(1)
							}
						}
						return
					}
					sender, _ := Spawn(s, puppets, hooks{})
					Call[any](context.Background(), s, sender, ask{func(p *Process) (any, error) {
						for i := range each {
							Send(p, pid, drop{from, i + 1})
						}
						return nil, nil
					}})
				})
			}
			sending.Wait()
			if rule == Wait { // else what still waits is lost by the stop, and counted
				if _, err := Call[bool](context.Background(), s, pid, drained{}); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Stop(context.Background()); err != nil {
				t.Fatal(err)
			}
			lost := s.Stats()
			if sum := handled.Load() + lost.Overflowed + lost.Undelivered; sum != senders*each {
				t.Errorf("%d handled and %+v lost are %d of %d", handled.Load(), lost, sum, senders*each)
			}
			if refused.Load() > lost.Overflowed || rule == DropNewest && refused.Load() > 0 {
				t.Errorf("%d were refused, %d are counted", refused.Load(), lost.Overflowed)
			}
			if rule == Wait && lost != (inspect.Stats{}) {
				t.Errorf("lost though the senders waited: %+v", lost)
			}
		})
	}
}

type drop struct{ from, n int }

type drained struct{}

type storm struct{ fn func(drop) error }

var stormy = Define("stormy", func(s *storm, _ *Process, fn func(drop) error) error { s.fn = fn; return nil },
	OnMessage(func(s *storm, _ *Process, m drop) error { return s.fn(m) }),
	OnCall(func(*storm, *Process, drained) (bool, error) { return true, nil }))
