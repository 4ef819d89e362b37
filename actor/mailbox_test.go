package actor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor/inspect"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

// fill sends 0 to n-1 to a process that is busy, one by one, and returns how many were refused.
func fill(s *System, to PID, n int) (refused int) {
	for i := range n {
		if Send(s, to, i) != nil {
			refused++
		}
	}
	return refused
}

func TestAFullMailboxDoesWhatItsRuleSays(t *testing.T) {
	for _, c := range []struct {
		rule    Overflow
		want    []any
		refused int
	}{
		{Reject, []any{0, 1, 2}, 2},
		{DropNewest, []any{0, 1, 2}, 0},
		{DropOldest, []any{2, 3, 4}, 0},
	} {
		t.Run(c.rule.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				var got notes
				pid := spawn(t, s, hooks{any: got.note}, SpawnConfig{Mailbox: 3, Overflow: c.rule})
				g := busyIn(t, s, pid)
				if refused := fill(s, pid, 5); refused != c.refused {
					t.Errorf("%d were refused, not %d", refused, c.refused)
				}
				close(g.open)
				got.want(t, c.want...)
				if lost := s.Stats(); lost != (inspect.Stats{Overflowed: 2}) {
					t.Errorf("counted as lost: %+v", lost)
				}
			})
		})
	}
}

func TestEachImportantMessageThatIsConfirmedIsHandledAndEachOtherRefused(t *testing.T) {
	for _, c := range []struct {
		rule      Overflow
		confirmed int
		err       error
	}{
		{Reject, 10, ErrMailboxFull},
		{DropNewest, 10, ErrMailboxFull},
		{Wait, 10, context.DeadlineExceeded},
	} {
		t.Run(c.rule.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				var got notes
				pid := spawn(t, s, hooks{any: got.note}, SpawnConfig{Mailbox: 10, Overflow: c.rule})
				g := busyIn(t, s, pid)
				var confirmed []any
				for i := range 50 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					err := SendConfirmed(ctx, s, pid, i)
					cancel()
					if err == nil {
						confirmed = append(confirmed, i)
					} else if !errors.Is(err, c.err) {
						t.Fatalf("message %d: %v", i, err)
					}
				}
				if len(confirmed) != c.confirmed {
					t.Errorf("%d were confirmed, not %d", len(confirmed), c.confirmed)
				}
				close(g.open)
				got.want(t, confirmed...)
				if lost := s.Stats(); lost != (inspect.Stats{Overflowed: 40}) {
					t.Errorf("counted as lost: %+v", lost)
				}
			})
		})
	}
}

func TestAnImportantMessageTakesThePlaceOfTheOldestInAMailboxWithDropOldest(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid := spawn(t, s, hooks{any: got.note}, SpawnConfig{Mailbox: 3, Overflow: DropOldest})
		g := busyIn(t, s, pid)
		for i := range 5 {
			if err := SendConfirmed(t.Context(), s, pid, i); err != nil {
				t.Fatal(err)
			}
		}
		close(g.open)
		got.want(t, 2, 3, 4)
	})
}

func TestALaterStructOfSettingsLeavesWhatItDoesNotSet(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid := spawn(t, s, hooks{any: got.note}, SpawnConfig{Mailbox: 9, Overflow: DropOldest}, SpawnConfig{Mailbox: 3})
		g := busyIn(t, s, pid)
		for i := range 5 {
			if err := SendConfirmed(t.Context(), s, pid, i); err != nil {
				t.Fatal(err)
			}
		}
		close(g.open)
		got.want(t, 2, 3, 4)
	})
}

func TestAnImportantMessageWaitsForSpaceWithOthers(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid := spawn(t, s, hooks{any: got.note}, SpawnConfig{Mailbox: 1, Overflow: Wait})
		g := busyIn(t, s, pid)
		fill(s, pid, 1)
		sent := make(chan error)
		go func() { sent <- SendConfirmed(t.Context(), s, pid, 1) }()
		bubbletest.Wait()
		close(g.open)
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		got.want(t, 0, 1)
	})
}

func TestAnImportantMessageThatWaitsForSpaceIsRefusedWhenTheProcessEnds(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{}, SpawnConfig{Mailbox: 1, Overflow: Wait})
		g := busyIn(t, s, pid)
		fill(s, pid, 1)
		sent := make(chan error)
		go func() { sent <- SendConfirmed(t.Context(), s, pid, 1) }()
		bubbletest.Wait()
		_ = Kill(s, pid)
		close(g.open)
		if err := <-sent; !errors.Is(err, ErrNoProcess) {
			t.Fatal(err)
		}
	})
}

func TestARunOfMessagesGoesInAsFarAsThereIsSpace(t *testing.T) {
	for _, c := range []struct {
		rule Overflow
		want []any
	}{
		{Reject, []any{0, 1, 2}},
		{DropNewest, []any{0, 1, 2}},
		{DropOldest, []any{2, 3, 4}},
		{Wait, []any{0, 1, 2, 3, 4}},
	} {
		for _, alone := range []bool{true, false} {
			t.Run(fmt.Sprint(c.rule, " alone=", alone), func(t *testing.T) {
				bubble(t, func(t *testing.T, s *System) {
					var got notes
					to := spawn(t, s, hooks{any: got.note}, SpawnConfig{Mailbox: 3, Overflow: c.rule})
					g := busyIn(t, s, to)
					from := spawn(t, s, hooks{})
					started := time.Now()
					notify(t, s, from, func(p *Process) error {
						if alone {
							Send(p, from, "other") // so that nothing of what follows was sent to that process in a row
						}
						for i := range 5 {
							Send(p, to, i)
						}
						return nil
					})
					bubbletest.Wait()
					close(g.open)
					got.want(t, c.want...)
					if c.rule == Wait && time.Since(started) >= sendTimeout {
						t.Error("the sender waited though there was room")
					}
				})
			})
		}
	}
}

func TestDropOldestKeepsTheLatestAlsoInTheMiddleOfTheMailbox(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		second := newGate()
		pid := spawn(t, s, hooks{any: func(p *Process, m any) error {
			got.add(m)
			if m == 0 {
				return second.pass(p)
			}
			return nil
		}}, SpawnConfig{Mailbox: 3, Overflow: DropOldest})
		first := busyIn(t, s, pid)
		fill(s, pid, 3)
		close(first.open)
		<-second.entered
		for i := 3; i <= 50; i++ {
			if err := Send(s, pid, i); err != nil {
				t.Fatal(err)
			}
		}
		close(second.open)
		got.want(t, 0, 48, 49, 50)
	})
}

func TestDropOldestLosesOnlyMessagesOfItsPriority(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid := spawn(t, s, hooks{any: got.note}, SpawnConfig{Mailbox: 2, Overflow: DropOldest})
		g := busyIn(t, s, pid)
		Send(s, pid, "normal")
		for i := range 3 {
			SendPriority(s, pid, PriorityLog, i)
		}
		close(g.open)
		got.want(t, "normal", 2)
	})
}

func TestTheBoundIsNotForUrgentAndSystem(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid := spawn(t, s, hooks{any: got.note}, SpawnConfig{Mailbox: 1})
		g := busyIn(t, s, pid)
		fill(s, pid, 1)
		if err := SendPriority(s, pid, PriorityUrgent, "u"); err != nil {
			t.Error(err)
		}
		if err := SendPriority(s, pid, PrioritySystem, "s"); err != nil {
			t.Error(err)
		}
		wantError(t, SendPriority(s, pid, PriorityLog, "l"), ErrMailboxFull)
		close(g.open)
		got.want(t, "u", "s", 0)
	})
}

func TestTheMessageThatIsHandledDoesNotWait(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{}, SpawnConfig{Mailbox: 1})
		g := busyIn(t, s, pid)
		if err := Send(s, pid, 1); err != nil {
			t.Error(err)
		}
		wantError(t, Send(s, pid, 2), ErrMailboxFull)
		close(g.open)
	})
}

func TestWhenMessagesWereHandledThereIsSpaceAgain(t *testing.T) {
	for _, rule := range []Overflow{Reject, DropNewest, DropOldest, Wait} {
		t.Run(rule.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				handled := 0
				pid := spawn(t, s, hooks{any: func(*Process, any) error { handled++; return nil }}, SpawnConfig{Mailbox: 10, Overflow: rule})
				from := spawn(t, s, hooks{})
				for range 100 {
					fill(s, pid, 5)
					in(t, s, from, func(p *Process) {
						for i := range 5 {
							SendPriority(p, pid, PriorityNormal, i)
						}
					})
					bubbletest.Wait()
				}
				if handled != 1000 {
					t.Errorf("%d of 1000 were handled", handled)
				}
				if info, err := s.Info(pid); err != nil || info.Waiting != 0 {
					t.Errorf("%d wait in an empty mailbox (%v)", info.Waiting, err)
				}
			})
		})
	}
}

func TestASenderWaitsForSpace(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid := spawn(t, s, hooks{any: got.note}, SpawnConfig{Mailbox: 1, Overflow: Wait})
		g := busyIn(t, s, pid)
		fill(s, pid, 1)

		goroutine := make(chan error, 1)
		go func() { goroutine <- Send(s, pid, "goroutine") }()
		bubbletest.Wait()
		from := spawn(t, s, hooks{})
		process := make(chan error, 1)
		notify(t, s, from, func(p *Process) error { process <- Send(p, pid, "process"); return nil })
		bubbletest.Wait()
		if len(goroutine)+len(process) != 0 {
			t.Fatal("a sender did not wait")
		}
		close(g.open)
		for _, sent := range []chan error{goroutine, process} {
			if err := <-sent; err != nil {
				t.Error(err)
			}
		}
		bubbletest.Wait()
		if n := len(got.all()); n != 3 {
			t.Errorf("%d of 3 came", n)
		}
	})
}

func TestASenderWaitsNoLongerThanFiveSeconds(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{}, SpawnConfig{Mailbox: 1, Overflow: Wait})
		g := busyIn(t, s, pid)
		fill(s, pid, 1)
		started := time.Now()
		wantError(t, Send(s, pid, "late"), ErrMailboxFull)
		if waited := time.Since(started); waited != sendTimeout {
			t.Errorf("it waited for %s", waited)
		}
		close(g.open)
	})
}

func TestACallWaitsForSpaceNoLongerThanItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{}, SpawnConfig{Mailbox: 1, Overflow: Wait})
		g := busyIn(t, s, pid)
		fill(s, pid, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		started := time.Now()
		_, err := Call[any](ctx, s, pid, ask{})
		wantError(t, err, context.DeadlineExceeded)
		if waited := time.Since(started); waited != time.Second {
			t.Errorf("it waited for %s", waited)
		}
		close(g.open)
	})
}

func TestAProcessDoesNotWaitForSpaceInItsOwnMailbox(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{}, SpawnConfig{Mailbox: 1, Overflow: Wait})
		started := time.Now()
		in(t, s, pid, func(p *Process) {
			SendPriority(p, p.PID(), PriorityNormal, 1)
			wantError(t, SendPriority(p, p.PID(), PriorityNormal, 2), ErrMailboxFull)
		})
		if time.Since(started) != 0 {
			t.Error("it waited")
		}
	})
}

func TestASenderThatWaitsGetsAnErrorWhenTheProcessEnds(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{}, SpawnConfig{Mailbox: 1, Overflow: Wait})
		g := busyIn(t, s, pid)
		fill(s, pid, 1)
		sent := make(chan error, 1)
		go func() { sent <- Send(s, pid, "late") }()
		bubbletest.Wait()
		s.Kill(pid)
		close(g.open)
		wantError(t, <-sent, ErrNoProcess)
	})
}

func TestMessagesToAProcessThatIsNotThereAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		g := busyIn(t, s, pid)
		fill(s, pid, 3)
		s.Kill(pid)
		close(g.open)
		bubbletest.Wait()
		wantError(t, Send(s, pid, 4), ErrNoProcess)
		wantError(t, Send(s, PID{}, 5), ErrNoProcess)
		if lost := s.Stats(); lost != (inspect.Stats{Undelivered: 5}) {
			t.Errorf("counted as lost: %+v", lost)
		}
	})
}

func TestMessagesWithoutAHandlerAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		deaf := Define[puppet, hooks]("deaf", nil)
		pid, err := Spawn(s, deaf, hooks{})
		if err != nil {
			t.Fatal(err)
		}
		fill(s, pid.PID(), 3)
		bubbletest.Wait()
		if lost := s.Stats(); lost != (inspect.Stats{NotHandled: 3}) || !s.Alive(pid.PID()) {
			t.Errorf("counted as lost: %+v; alive: %v", lost, s.Alive(pid.PID()))
		}
	})
}
