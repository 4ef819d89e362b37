package actor

import (
	"context"
	"fmt"
	"testing"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

// twoLinked starts a puppet that is linked with another; got notes how the other ends, or what it gets.
func twoLinked(t *testing.T, s *System, b *Behavior[puppet, hooks], got *notes) (one, other PID) {
	t.Helper()
	one = spawn(t, s, hooks{})
	other, err := b.Spec(hooks{any: got.note, terminate: func(_ *Process, reason error) { got.add(reason) }}).Start(s)
	if err != nil {
		t.Fatal(err)
	}
	in(t, s, other, func(p *Process) {
		if err := p.Link(one); err != nil {
			t.Fatal(err)
		}
	})
	return one, other
}

// with ends the process with a reason.
func endWith(t *testing.T, s *System, pid PID, reason error) {
	t.Helper()
	notify(t, s, pid, func(*Process) error { return reason })
}

func TestWhenOneOfTwoLinkedEndsTheOtherDoesForTheSameReason(t *testing.T) {
	for name, swap := range map[string]bool{"that was linked": false, "that has linked": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				var got notes
				one, other := twoLinked(t, s, puppets, &got)
				if swap {
					one, other = other, one
				}
				endWith(t, s, one, errOut)
				bubbletest.Wait()
				if s.Alive(one) || s.Alive(other) {
					t.Errorf("alive: %v, %v", s.Alive(one), s.Alive(other))
				}
				got.want(t, errOut)
			})
		})
	}
}

func TestALinkThatEndsNormallyDoesNothing(t *testing.T) {
	for name, reason := range map[string]error{"ErrNormal": ErrNormal, "wrapped": fmt.Errorf("done: %w", ErrNormal), "a copy": ErrNormal.WithData(1)} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				var got notes
				one, other := twoLinked(t, s, puppets, &got)
				endWith(t, s, one, reason)
				got.want(t)
				in(t, s, other, func(p *Process) {
					if links := p.Links(); len(links) != 0 {
						t.Errorf("it is linked with %v", links)
					}
				})
			})
		})
	}
}

func TestWhoHandlesExitsGetsThemAsMessages(t *testing.T) {
	for _, reason := range []error{errOut, ErrNormal, ErrShutdown} {
		t.Run(reason.Error(), func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				var got notes
				one, other := twoLinked(t, s, catchers, &got)
				endWith(t, s, one, reason)
				bubbletest.Wait()
				all := got.all()
				if e, ok := all[0].(Exit); !ok || len(all) != 1 || e.From != one || !same(e.Reason, reason) || !s.Alive(other) {
					t.Errorf("got %v; alive: %v", all, s.Alive(other))
				}
			})
		})
	}
}

func TestTrapExitSaysWhetherExitsComeAsMessages(t *testing.T) {
	for _, c := range []struct {
		b    *Behavior[puppet, hooks]
		trap bool
	}{{puppets, true}, {catchers, false}} {
		t.Run(fmt.Sprint(c.b.Name(), " ", c.trap), func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				var got notes
				one, other := twoLinked(t, s, c.b, &got)
				in(t, s, other, func(p *Process) { p.TrapExit(c.trap) })
				endWith(t, s, one, errOut)
				bubbletest.Wait()
				if s.Alive(other) != c.trap || len(got.all()) != 1 {
					t.Errorf("alive: %v; got %v", s.Alive(other), got.all())
				}
			})
		})
	}
}

func TestAfterUnlinkNoExitComes(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		one, other := twoLinked(t, s, catchers, &got)
		in(t, s, other, func(p *Process) {
			s.Kill(one)
			bubbletest.Wait() // the exit is in the mailbox now
			if _, err := s.Info(one); err == nil {
				t.Error("it has not ended yet")
			}
			p.Unlink(one)
		})
		got.want(t)
	}, Config{Workers: 2}) // one ends while a callback of the other runs
}

func TestUnlinkWorksForBoth(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		one, other := twoLinked(t, s, catchers, &got)
		in(t, s, one, func(p *Process) { p.Unlink(other) })
		endWith(t, s, one, errOut)
		got.want(t)
		if !s.Alive(other) {
			t.Error("the other has ended")
		}
	})
}

func TestLinkingTwiceIsLinkingOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		one, other := twoLinked(t, s, catchers, &got)
		in(t, s, other, func(p *Process) { p.Link(one) })
		in(t, s, one, func(p *Process) { p.Link(other) })
		s.Kill(one)
		bubbletest.Wait()
		if all := got.all(); len(all) != 1 {
			t.Errorf("got %v", all)
		}
	})
}

func TestLinkWithAProcessThatIsNotThereFails(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		gone, pid := spawn(t, s, hooks{}), spawn(t, s, hooks{})
		s.Kill(gone)
		bubbletest.Wait()
		in(t, s, pid, func(p *Process) {
			wantError(t, p.Link(gone), ErrNoProcess)
			if links := p.Links(); len(links) != 0 {
				t.Errorf("it is linked with %v", links)
			}
		})
	})
}

func TestAProcessIsNotLinkedWithItself(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		in(t, s, pid, func(p *Process) {
			if err := p.Link(pid); err != nil || len(p.Links()) != 0 {
				t.Error(err, p.Links())
			}
		})
	})
}

func TestAnExitOfTheParentEndsTheChildInAnyCase(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		var child PID
		parent := spawn(t, s, hooks{})
		in(t, s, parent, func(p *Process) {
			child, _ = catchers.Spec(hooks{any: got.note, terminate: func(_ *Process, reason error) { got.add(reason) }}, SpawnConfig{Linked: true}).Start(p)
		})
		endWith(t, s, parent, errOut)
		got.want(t, errOut)
		if s.Alive(child) {
			t.Error("it lives")
		}
	})
}

func TestStopByTheParentEndsTheChildInAnyCase(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		in(t, s, spawn(t, s, hooks{}), func(p *Process) {
			child, _ := Spawn(p, catchers, hooks{any: got.note, terminate: func(_ *Process, reason error) { got.add(reason) }})
			Stop(p, child, nil)
		})
		got.want(t, ErrShutdown)
	})
}

func TestStopByAnotherIsDecidedByWhoHandlesExits(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid, _ := Spawn(s, catchers, hooks{any: func(p *Process, m any) error { got.add(m.(Exit).Reason); return nil }})
		Stop(s, pid, nil)
		Stop(s, pid, errOut)
		got.want(t, ErrShutdown, errOut)
		if !s.Alive(pid.PID()) {
			t.Error("it has ended")
		}
	})
}

func TestStopEndsWhoDoesNotHandleExits(t *testing.T) {
	for name, address := range map[string]func(s *System, pid PID, a Alias) error{
		"by PID":   func(s *System, pid PID, _ Alias) error { return Stop(s, pid, errOut) },
		"by name":  func(s *System, _ PID, _ Alias) error { return Stop(s, Name{Name: "it"}, errOut) },
		"by alias": func(s *System, _ PID, a Alias) error { return Stop(s, a, errOut) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				var got notes
				pid := spawn(t, s, hooks{terminate: func(_ *Process, reason error) { got.add(reason) }}, SpawnConfig{Name: "it"})
				var alias Alias
				in(t, s, pid, func(p *Process) { alias, _ = p.NewAlias() })
				if err := address(s, pid, alias); err != nil {
					t.Fatal(err)
				}
				got.want(t, errOut)
				wantError(t, Stop(s, pid, nil), ErrNoProcess)
			})
		})
	}
}

func TestKillCannotBeTrapped(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		one, other := twoLinked(t, s, catchers, &got)
		var own notes
		victim, _ := Spawn(s, catchers, hooks{any: own.note, terminate: func(*Process, error) { own.add("Terminate") }})
		in(t, s, other, func(p *Process) { p.Unlink(one); p.Link(victim.PID()) })
		Send(s, victim, do{func(p *Process) error { return s.Kill(p.PID()) }})
		Send(s, victim, "after")
		own.want(t)
		if e := got.all()[0].(Exit); !same(e.Reason, ErrKilled) || s.Alive(victim.PID()) {
			t.Errorf("others are notified of %v; alive: %v", e.Reason, s.Alive(victim.PID()))
		}
		wantError(t, s.Kill(victim.PID()), ErrNoProcess)
		wantError(t, Kill(s, victim), ErrNoProcess)
	})
}

func TestKillEndsACallbackThatRunsWhenItReturns(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		g := busyIn(t, s, pid)
		s.Kill(pid)
		bubbletest.Wait()
		if !s.Alive(pid) {
			t.Error("it has ended in the callback")
		}
		close(g.open)
		bubbletest.Wait()
		if s.Alive(pid) {
			t.Error("it lives on")
		}
	})
}

func TestTerminateIsTheLastCallback(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(s *System, p *Process) error
		want error
	}{
		{"a handler's error", func(*System, *Process) error { return errOut }, errOut},
		{"ErrNormal", func(*System, *Process) error { return ErrNormal }, ErrNormal},
		{"Process.Stop", func(_ *System, p *Process) error { p.Stop(errOut); return nil }, errOut},
		{"Process.Stop without a reason", func(_ *System, p *Process) error { p.Stop(nil); return nil }, ErrNormal},
		{"a panic", func(*System, *Process) error { panic("oh") }, errPanic},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				var got notes
				pid := spawn(t, s, hooks{any: got.note, terminate: func(_ *Process, reason error) { got.add(reason) }})
				notify(t, s, pid, func(p *Process) error { return c.end(s, p) })
				got.want(t, c.want)
				if s.Alive(pid) {
					t.Error("it lives")
				}
			})
		})
	}
}

func TestAfterStopNoMoreMessagesAreHandled(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		to := spawn(t, s, hooks{any: func(p *Process, m any) error {
			got.add(m)
			if m == 2 {
				p.Stop(nil)
			}
			return nil
		}})
		b := Define("typed", (*puppet).Init, OnMessage(func(q *puppet, p *Process, m int) error { return q.Any(p, m) }))
		typed, _ := Spawn(s, b, hooks{any: func(p *Process, m any) error {
			got.add(m)
			if m == 2 {
				p.Stop(nil)
			}
			return nil
		}})
		in(t, s, spawn(t, s, hooks{}), func(p *Process) {
			for _, to := range []PID{to, typed.PID()} {
				for i := range 6 {
					Send(p, to, i)
				}
				bubbletest.Wait()
			}
		})
		bubbletest.Wait()
		if all := got.all(); len(all) != 6 {
			t.Errorf("handled %v", all)
		}
		if lost := s.Stats(); lost.Undelivered != 6 {
			t.Errorf("counted as lost: %+v", lost)
		}
	})
}

func TestAPanicEndsOnlyItsProcess(t *testing.T) {
	panics := func(p *Process) error { panic("oh") }
	for name, start := range map[string]func(s *System) (PID, func() error){
		"in a handler": func(s *System) (PID, func() error) {
			pid, _ := Spawn(s, puppets, hooks{})
			return pid.PID(), func() error { return Send(s, pid, do{panics}) }
		},
		"in a handler of calls": func(s *System) (PID, func() error) {
			pid, _ := Spawn(s, puppets, hooks{})
			return pid.PID(), func() error {
				Call[any](context.Background(), s, pid, ask{func(*Process) (any, error) { panic("oh") }})
				return nil
			}
		},
		"in OnAnyMessage": func(s *System) (PID, func() error) {
			pid, _ := Spawn(s, puppets, hooks{any: func(*Process, any) error { panic("oh") }})
			return pid.PID(), func() error { return Send(s, pid, 1) }
		},
		"in Terminate": func(s *System) (PID, func() error) {
			pid, _ := Spawn(s, puppets, hooks{terminate: func(*Process, error) { panic("oh") }})
			return pid.PID(), func() error { return Stop(s, pid, errOut) }
		},
		"in a handler of exits": func(s *System) (PID, func() error) {
			pid, _ := Spawn(s, catchers, hooks{any: func(*Process, any) error { panic("oh") }})
			return pid.PID(), func() error { return Stop(s, pid, errOut) }
		},
		"with nil": func(s *System) (PID, func() error) {
			pid, _ := Spawn(s, puppets, hooks{any: func(*Process, any) error { panic(nil) }})
			return pid.PID(), func() error { return Send(s, pid, 1) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				var downs notes
				watcher := spawn(t, s, hooks{any: func(_ *Process, m any) error { downs.add(m.(Down).Reason); return nil }})
				pid, provoke := start(s)
				in(t, s, watcher, func(p *Process) { p.Monitor(pid) })
				if err := provoke(); err != nil {
					t.Fatal(err)
				}
				want := error(errPanic)
				if name == "in Terminate" {
					want = errOut
				}
				downs.want(t, want)
				if s.Alive(pid) || !s.Alive(watcher) {
					t.Error("the wrong one lives")
				}
			})
		})
	}
}

func TestStopInTerminateStopsNoOtherProcess(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		other := spawn(t, s, hooks{})
		Stop(s, spawn(t, s, hooks{terminate: func(p *Process, _ error) { p.Stop(errOut) }}), nil)
		bubbletest.Wait()
		for range 10 {
			in(t, s, other, func(*Process) {})
		}
	}, Config{Workers: 1})
}

func TestExitsGoAlongALongChain(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		last := spawn(t, s, hooks{})
		for range 1000 {
			next := spawn(t, s, hooks{})
			in(t, s, next, func(p *Process) { p.Link(last) })
			last = next
		}
		endWith(t, s, last, errOut)
		bubbletest.Wait()
		if n := s.Count(); n != 0 {
			t.Errorf("%d live", n)
		}
	})
}
