package actor

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestAPIDIsNeverUsedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		seen := map[PID]bool{}
		for range 1000 {
			pid := spawn(t, s, hooks{})
			if seen[pid] {
				t.Fatalf("%s came twice", pid)
			}
			seen[pid] = true
			s.Kill(pid)
			bubbletest.Wait()
		}
		if used := s.processes.used; used > 2 {
			t.Errorf("%d slots were used for one process at a time", used)
		}
		for pid := range seen {
			if s.Alive(pid) {
				t.Errorf("%s is alive", pid)
			}
		}
	})
}

func TestASlotWhoseGenerationsAreUsedUpIsNotUsedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		s.Kill(spawn(t, s, hooks{}))
		bubbletest.Wait()
		s.processes.find(0).generation = lastGeneration - 1
		last := spawn(t, s, hooks{})
		s.Kill(last)
		bubbletest.Wait()
		if next := spawn(t, s, hooks{}); uint32(next.id) == uint32(last.id) {
			t.Errorf("%s came after %s", next, last)
		}
	})
}

func TestSpawnReturnsWhenInitHas(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		started := time.Now()
		var self PID
		pid := spawn(t, s, hooks{init: func(p *Process) error {
			time.Sleep(time.Minute)
			self = p.PID()
			return nil
		}})
		if time.Since(started) != time.Minute || self != pid {
			t.Errorf("Init had %s; its PID is %s, not %s", time.Since(started), self, pid)
		}
	})
}

func TestAProcessWhoseInitFailsWasNeverThere(t *testing.T) {
	for _, c := range []struct {
		name string
		init func(p *Process) error
		want error
	}{
		{"an error", func(*Process) error { return errOut }, errOut},
		{"ErrNormal", func(*Process) error { return ErrNormal }, ErrNormal},
		{"Stop", func(p *Process) error { p.Stop(errOut); return nil }, errOut},
		{"a panic", func(*Process) error { panic("oh") }, errPanic},
		{"Kill", func(p *Process) error { return p.System().Kill(p.PID()) }, ErrKilled},
	} {
		for _, timeout := range []time.Duration{0, time.Minute} {
			t.Run(c.name, func(t *testing.T) {
				bubble(t, func(t *testing.T, s *System) {
					var exits notes
					var failed PID
					parent, err := Spawn(s, catchers, hooks{any: exits.note})
					if err != nil {
						t.Fatal(err)
					}
					in(t, s, parent.PID(), func(p *Process) {
						ref, err := Spawn(p, puppets, hooks{
							init:      func(p *Process) error { failed = p.PID(); return c.init(p) },
							terminate: func(*Process, error) { t.Error("Terminate was called") },
						}, SpawnConfig{Name: "child", Linked: true, InitTimeout: timeout})
						wantError(t, err, c.want)
						if !ref.PID().Zero() {
							t.Errorf("Spawn returned %s", ref.PID())
						}
						if links := p.Links(); len(links) != 0 {
							t.Errorf("the parent is linked with %v", links)
						}
					})
					bubbletest.Wait()
					if _, named := s.Whereis("child"); s.Alive(failed) || named || s.Count() != 1 {
						t.Errorf("alive: %v; named: %v; %d live", s.Alive(failed), named, s.Count())
					}
					exits.want(t)
				})
			})
		}
	}
}

func TestInitThatTakesTooLongEndsTheProcess(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var exits notes
		var failed PID
		parent, err := Spawn(s, catchers, hooks{any: exits.note})
		if err != nil {
			t.Fatal(err)
		}
		in(t, s, parent.PID(), func(p *Process) {
			started := time.Now()
			_, err := Spawn(p, puppets, hooks{init: func(p *Process) error {
				failed = p.PID()
				<-p.Context().Done()
				time.Sleep(time.Hour)
				return nil
			}}, SpawnConfig{InitTimeout: time.Second, Linked: true})
			wantError(t, err, errInitTimeout)
			if waited := time.Since(started); waited != time.Second {
				t.Errorf("it waited for %s", waited)
			}
		})
		time.Sleep(2 * time.Hour)
		if s.Alive(failed) || s.Count() != 1 {
			t.Error("it lives when Init has returned")
		}
		exits.want(t)
	})
}

func TestInitInTimeIsAsWithoutTheTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{init: func(*Process) error { time.Sleep(time.Second); return nil }}, SpawnConfig{InitTimeout: time.Minute})
		time.Sleep(time.Hour)
		in(t, s, pid, func(*Process) {})
	})
}

func TestANameThatIsTakenIsNotGivenAgain(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		first := spawn(t, s, hooks{}, SpawnConfig{Name: "db"})
		ran := false
		_, err := Spawn(s, puppets, hooks{init: func(*Process) error { ran = true; return nil }}, SpawnConfig{Name: "db"})
		wantError(t, err, ErrNameTaken)
		if pid, _ := s.Whereis("db"); pid != first || ran || s.Count() != 1 {
			t.Errorf("db is %s, not %s; Init ran: %v; %d live", pid, first, ran, s.Count())
		}
	})
}

func TestThereAreNoMoreProcessesThanMayBe(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		first := spawn(t, s, hooks{})
		watcher := spawn(t, s, hooks{any: func(p *Process, m any) error {
			_, err := Spawn(p, puppets, hooks{})
			if err != nil {
				t.Errorf("a process that is notified of an end finds no room: %v", err)
			}
			return nil
		}})
		in(t, s, watcher, func(p *Process) { p.Monitor(first) })
		_, err := Spawn(s, puppets, hooks{})
		wantError(t, err, ErrTooMany)
		s.Kill(first)
		bubbletest.Wait()
		if n := s.Count(); n != 2 {
			t.Errorf("%d live", n)
		}
	}, Config{MaxProcesses: 2})
}

func TestMessagesSentDuringInitAreHandledAfterIt(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		spawn(t, s, hooks{any: got.note, init: func(p *Process) error {
			Send(p, p.PID(), "by Init")
			Send(s, p.PID(), "during Init")
			SendPriority(s, p.PID(), PriorityUrgent, "urgent")
			SendPriority(s, p.PID(), PriorityLog, "log")
			got.add("Init")
			return nil
		}})
		got.want(t, "Init", "urgent", "by Init", "during Init", "log")
	})
}

func TestAnExitDuringInitComesAfterIt(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid := spawn(t, s, hooks{
			init:      func(p *Process) error { return Stop(s, p.PID(), errOut) },
			terminate: func(_ *Process, reason error) { got.add(reason) },
		})
		got.want(t, errOut)
		if s.Alive(pid) {
			t.Error("it lives")
		}
	})
}

func TestTheChildKnowsItsParent(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		parent := spawn(t, s, hooks{})
		in(t, s, parent, func(p *Process) {
			if !p.Parent().Zero() {
				t.Errorf("a system's process has the parent %s", p.Parent())
			}
			spawn(t, p, hooks{init: func(p *Process) error {
				if p.Parent() != parent {
					t.Errorf("the parent is %s, not %s", p.Parent(), parent)
				}
				return nil
			}})
		})
	})
}

func TestASpecStartsAsOftenAsWanted(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		spec := counterB.Spec(5, SpawnConfig{Mailbox: 3})
		if spec.Behavior() != "counter" {
			t.Errorf("it is of %q", spec.Behavior())
		}
		for range 2 {
			pid, err := spec.Start(s)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Call[int](t.Context(), s, pid, total{}); got != 5 || err != nil {
				t.Error(got, err)
			}
			if info, _ := s.Info(pid); info.Bound != 3 {
				t.Errorf("the options were not used: %+v", info)
			}
		}
		if _, err := spec.Start(s, SpawnConfig{Name: "n"}); err != nil {
			t.Fatal(err)
		}
		_, err := spec.Start(s, SpawnConfig{Name: "n"})
		wantError(t, err, ErrNameTaken)
	})
}

func TestTwoHandlersForOneTypeAreAMistake(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Define did not panic")
		}
	}()
	Define[puppet, hooks]("twice", nil, OnMessage((*puppet).Do), OnMessage((*puppet).Do))
}

func TestOneTypeMayBeAMessageAndACall(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		b := Define[puppet, hooks]("both", nil,
			OnMessage(func(_ *puppet, _ *Process, m int) error { got.add(m); return nil }),
			OnCall(func(_ *puppet, _ *Process, in int) (int, error) { return in + 1, nil }))
		pid, err := Spawn(s, b, hooks{})
		if err != nil {
			t.Fatal(err)
		}
		Send(s, pid, 1)
		if out, err := Call[int](t.Context(), s, pid, 1); out != 2 || err != nil {
			t.Error(out, err)
		}
		got.want(t, 1)
	})
}

func TestASystemOfANodeStartsNothingBeforeTheNodeAndSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		s.Option()
		_, err := Spawn(s, puppets, hooks{})
		if !errors.Is(err, ErrSystemStopped) || !strings.Contains(err.Error(), "OnStart") {
			t.Error(err)
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestASystemThatHasStoppedStartsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err := Spawn(s, puppets, hooks{})
		if !errors.Is(err, ErrSystemStopped) {
			t.Error(err)
		}
	})
}
