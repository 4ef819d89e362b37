package actor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

var errOut = errors.New("out of stock")

func TestACallGetsTheAnswerOfTheHandler(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid, err := Spawn(s, counterB, 5)
		if err != nil {
			t.Fatal(err)
		}
		Send(s, pid, add{2})
		if got, err := Call[int](t.Context(), s, pid, total{}); got != 7 || err != nil {
			t.Error(got, err)
		}
	})
}

func TestACallGetsTheErrorOfTheHandlerWhichDoesNotEndTheProcess(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		_, err := Call[any](t.Context(), s, pid, ask{func(*Process) (any, error) { return nil, errOut }})
		wantError(t, err, errOut)
		if !s.Alive(pid) {
			t.Error("it has ended")
		}
	})
}

func TestACallMayBeAnsweredLater(t *testing.T) {
	for name, answer := range map[string]func(t *testing.T, s *System, p *Process){
		"by another process": func(t *testing.T, s *System, p *Process) {
			r := p.Request()
			Send(p, spawn(t, p, hooks{}), do{func(p *Process) error { Reply(p, r, any("late")); return nil }})
		},
		"by a goroutine": func(_ *testing.T, s *System, p *Process) {
			r := p.Request()
			go func() { time.Sleep(time.Second); Reply(s, r, any("late")) }()
		},
		"by the process itself": func(_ *testing.T, _ *System, p *Process) {
			r := p.Request()
			SendAfter(p, p.PID(), time.Second, do{func(p *Process) error { Reply(p, r, any("late")); return nil }})
		},
		"twice, of which the first counts": func(_ *testing.T, s *System, p *Process) {
			Reply(p, p.Request(), any("late"))
			Reply(p, p.Request(), any("later"))
			p.Request().Fail(p, errOut)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				pid := spawn(t, s, hooks{})
				got, err := Call[any](t.Context(), s, pid, ask{func(p *Process) (any, error) { answer(t, s, p); return nil, ErrNoReply }})
				if got != "late" || err != nil {
					t.Error(got, err)
				}
			})
		})
	}
}

func TestACallMayBeAnsweredLaterWithAnError(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		_, err := Call[any](t.Context(), s, pid, ask{func(p *Process) (any, error) {
			r := p.Request()
			go func() { r.Fail(s, errOut) }()
			return nil, ErrNoReply
		}})
		wantError(t, err, errOut)
	})
}

func TestAnAnswerThatComesTooLateIsLostAndNotTakenForAnothers(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		var first Request
		_, err := Call[any](t.Context(), s, pid, ask{func(p *Process) (any, error) { first = p.Request(); return nil, ErrNoReply }})
		wantError(t, err, ErrCallTimeout)
		for range 10 { // one of these waits where the first has waited
			got, err := Call[any](t.Context(), s, pid, ask{func(p *Process) (any, error) {
				Reply(p, first, any("of the first"))
				return "own", nil
			}})
			if got != "own" || err != nil {
				t.Fatal(got, err)
			}
		}
	})
}

func TestAProcessThatCallsItselfIsNotHeldUp(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{}, SpawnConfig{Name: "self"})
		for what, call := range map[string]func(p *Process) (any, error){
			"by PID":  func(p *Process) (any, error) { return Call[any](p.Context(), p, p.PID(), ask{}) },
			"by name": func(p *Process) (any, error) { return Call[any](p.Context(), p, Name{Name: "self"}, ask{}) },
		} {
			started := time.Now()
			_, err := Call[any](t.Context(), s, pid, ask{call})
			wantError(t, err, ErrCallTimeout)
			if waited := time.Since(started); waited != 0 || !strings.Contains(err.Error(), "calls itself") {
				t.Errorf("%s, after %s: %v", what, waited, err)
			}
		}
	})
}

func TestACallEndsAfterFiveSecondsWhereTheContextHasNoDeadline(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for _, ctx := range []context.Context{context.Background(), ctx} {
			for range 3 {
				started := time.Now()
				_, err := Call[any](ctx, s, pid, ask{func(*Process) (any, error) { return nil, ErrNoReply }})
				wantError(t, err, ErrCallTimeout)
				if waited := time.Since(started); waited != callTimeout {
					t.Errorf("it waited for %s", waited)
				}
			}
		}
	})
}

func TestManyCallsEndEachAtItsOwnTime(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		waited := make(chan time.Duration)
		for i := range 20 {
			go func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				started := time.Now()
				Call[any](context.Background(), s, pid, ask{func(*Process) (any, error) { return nil, ErrNoReply }})
				waited <- time.Since(started)
			}()
		}
		for range 20 {
			if d := <-waited; d != callTimeout {
				t.Errorf("one waited for %s", d)
			}
		}
	})
}

func TestACallEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		never := ask{func(*Process) (any, error) { return nil, ErrNoReply }}

		late, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		started := time.Now()
		_, err := Call[any](late, s, pid, never)
		wantError(t, err, context.DeadlineExceeded)
		if !strings.Contains(err.Error(), pid.String()) {
			t.Errorf("the error is %q, without the process", err)
		}
		if waited := time.Since(started); waited != time.Minute {
			t.Errorf("it waited for %s", waited)
		}

		canceled, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err = Call[any](canceled, s, pid, never)
		wantError(t, err, context.Canceled)
	})
}

func TestACallOfAProcessThatIsNotThereFailsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		started := time.Now()
		_, err := Call[any](t.Context(), s, PID{}, ask{})
		wantError(t, err, ErrNoProcess)
		pid := spawn(t, s, hooks{})
		s.Kill(pid)
		bubbletest.Wait()
		_, err = Call[any](t.Context(), s, pid, ask{})
		wantError(t, err, ErrNoProcess)
		_, err = Call[any](t.Context(), s, Name{Name: "nobody"}, ask{})
		wantError(t, err, ErrNoProcess)
		if time.Since(started) != 0 {
			t.Error("it waited")
		}
	})
}

func TestACallerGetsAnErrorWhenTheProcessEndsBeforeItAnswers(t *testing.T) {
	for name, meanwhile := range map[string]func(s *System, p *Process){
		"Stop":  func(_ *System, p *Process) { p.Stop(nil) },
		"Kill":  func(s *System, p *Process) { s.Kill(p.PID()) },
		"panic": func(_ *System, p *Process) { Send(p, p.PID(), do{func(*Process) error { panic("after the call") }}) },
	} {
		for _, noted := range []int{0, 100} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T, s *System) {
					pid := spawn(t, s, hooks{})
					for range noted { // calls that were answered, which are not kept
						Call[any](t.Context(), s, pid, ask{func(p *Process) (any, error) { Reply(p, p.Request(), any(1)); return nil, ErrNoReply }})
					}
					started := time.Now()
					_, err := Call[any](t.Context(), s, pid, ask{func(p *Process) (any, error) { meanwhile(s, p); return nil, ErrNoReply }})
					wantError(t, err, ErrNoProcess)
					if time.Since(started) != 0 {
						t.Error("it waited")
					}
				})
			})
		}
	}
}

func TestACallThatWaitsInTheMailboxFailsWhenTheProcessEnds(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		g := busyIn(t, s, pid)
		failed := make(chan error, 1)
		go func() {
			_, err := Call[any](t.Context(), s, pid, ask{nothing})
			failed <- err
		}()
		bubbletest.Wait()
		s.Kill(pid)
		close(g.open)
		wantError(t, <-failed, ErrNoProcess)
	})
}

func TestAnswersThatWereGivenAreNotKept(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		for range 1000 {
			Call[any](t.Context(), s, pid, ask{func(p *Process) (any, error) { Reply(p, p.Request(), any(1)); return nil, ErrNoReply }})
		}
		in(t, s, pid, func(p *Process) {
			if n := cap(p.entry.rareState().later); n > 16 {
				t.Errorf("it keeps room for %d calls", n)
			}
		})
	})
}

func TestACallWhoseHandlerPanicsFailsWithThePanic(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		_, err := Call[any](t.Context(), s, pid, ask{func(*Process) (any, error) { panic("oh") }})
		wantError(t, err, errPanic)
		bubbletest.Wait()
		if s.Alive(pid) {
			t.Error("it lives on")
		}
	})
}

func TestACallThatWantsAnotherTypeFails(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid, _ := Spawn(s, counterB, 5)
		_, err := Call[string](t.Context(), s, pid, total{})
		wantError(t, err, ErrNotHandled)
		if got, err := Call[any](t.Context(), s, pid, total{}); got != 5 || err != nil {
			t.Errorf("an interface that the answer implements: %v, %v", got, err)
		}
	})
}

func TestACallWithoutAHandlerFails(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{any: func(*Process, any) error { t.Error("a call came as a message"); return nil }})
		_, err := Call[int](t.Context(), s, pid, total{})
		wantError(t, err, ErrNotHandled)
	})
}

func TestOnAnyCallHandlesCallsOfAllOtherTypes(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		b := Define[puppet, hooks]("any", nil,
			OnCall(func(_ *puppet, _ *Process, in string) (string, error) { return in, nil }),
			OnAnyCall(func(_ *puppet, _ *Process, in any) (any, error) {
				if in == (total{}) {
					return 7, nil
				}
				return nil, errOut
			}))
		pid, err := Spawn(s, b, hooks{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Call[string](t.Context(), s, pid, "own"); got != "own" || err != nil {
			t.Error(got, err)
		}
		if got, err := Call[int](t.Context(), s, pid, total{}); got != 7 || err != nil {
			t.Error(got, err)
		}
		_, err = Call[int](t.Context(), s, pid, 5)
		wantError(t, err, errOut)
		_, err = Call[string](t.Context(), s, pid, total{})
		wantError(t, err, ErrNotHandled)
	})
}

func TestACallToAFullMailboxFails(t *testing.T) {
	for _, rule := range []Overflow{Reject, DropNewest, DropOldest} {
		t.Run(rule.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				pid := spawn(t, s, hooks{}, SpawnConfig{Mailbox: 1, Overflow: rule})
				g := busyIn(t, s, pid)
				if rule != DropOldest {
					fill(s, pid, 1)
				}
				failed := make(chan error, 1)
				go func() {
					_, err := Call[any](t.Context(), s, pid, ask{nothing})
					failed <- err
				}()
				bubbletest.Wait()
				if rule == DropOldest {
					fill(s, pid, 1) // the call is the oldest
				}
				started := time.Now()
				wantError(t, <-failed, ErrMailboxFull)
				if time.Since(started) != 0 {
					t.Error("it waited")
				}
				close(g.open)
			})
		})
	}
}

func TestCallsInACircleEndByTheTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		a, b := spawn(t, s, hooks{}), spawn(t, s, hooks{})
		started := time.Now()
		_, err := Call[any](t.Context(), s, a, ask{func(p *Process) (any, error) {
			return Call[any](context.Background(), p, b, ask{func(p *Process) (any, error) {
				return Call[any](context.Background(), p, a, ask{nothing})
			}})
		}})
		wantError(t, err, ErrCallTimeout)
		if waited := time.Since(started); waited != callTimeout {
			t.Errorf("it waited for %s", waited)
		}
		in(t, s, a, func(*Process) {})
		in(t, s, b, func(*Process) {})
	})
}

func TestASystemMayBeUsedInABubbleAndAnotherOutside(t *testing.T) {
	use := func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		for range 10 {
			in(t, s, pid, func(*Process) {})
		}
	}
	bubble(t, use)
	s := quiet()
	defer s.Stop(context.Background())
	use(t, s)
	bubble(t, use)
}

func TestACallThatNobodyWaitsForAnyMoreIsNotHandled(t *testing.T) {
	for name, limit := range map[string]func() (context.Context, context.CancelFunc){
		"its deadline has passed": func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), time.Second)
		},
		"callTimeout has passed": func() (context.Context, context.CancelFunc) { return context.Background(), func() {} },
		"its caller has cancelled it": func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				pid := spawn(t, s, hooks{})
				Send(s, pid, do{func(*Process) error { time.Sleep(callTimeout + time.Second/2); return nil }})
				handled := false
				ctx, cancel := limit()
				defer cancel()
				_, err := Call[any](ctx, s, pid, ask{func(*Process) (any, error) { handled = true; return nil, nil }})
				if err == nil {
					t.Error("it was answered")
				}
				if _, err := Call[any](t.Context(), s, pid, ask{func(*Process) (any, error) { return nil, nil }}); err != nil {
					t.Errorf("the next call: %v", err)
				}
				if handled {
					t.Error("it was handled")
				}
			})
		})
	}
}

func TestACallThatNobodyWaitsForGoesToOnCanceledCall(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var canceled []any
		behavior := Define("counts", func(*struct{}, *Process, int) error { return nil },
			OnCall(func(_ *struct{}, _ *Process, d time.Duration) (int, error) { time.Sleep(d); return 1, nil }),
			OnCanceledCall(func(_ *struct{}, _ *Process, in any) { canceled = append(canceled, in) }))
		ref, err := Spawn(s, behavior, 0)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = Call[int](t.Context(), s, ref.PID(), 2*time.Second) }()
		bubbletest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Call[int](ctx, s, ref.PID(), 3*time.Second); err == nil {
			t.Error("it was answered")
		}
		if _, err := Call[int](t.Context(), s, ref.PID(), time.Duration(0)); err != nil {
			t.Error(err)
		}
		if len(canceled) != 1 || canceled[0] != 3*time.Second {
			t.Errorf("OnCanceledCall got %v", canceled)
		}
	})
}
