package actor

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestAProcessIsFoundByItsName(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		spawn(t, s, hooks{any: got.note}, SpawnConfig{Name: "db"})
		for _, name := range []Name{{Name: "db"}, {Name: "db", Node: "local"}} {
			if err := Send(s, name, name.String()); err != nil {
				t.Error(err)
			}
		}
		got.want(t, "db", "db@local")
		wantError(t, Send(s, Name{Name: "nobody"}, 1), ErrNoProcess)
	})
}

func TestANameIsFreeWhenItsProcessHasEnded(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		first := spawn(t, s, hooks{}, SpawnConfig{Name: "db"})
		var again PID
		watcher := spawn(t, s, hooks{any: func(p *Process, _ any) error { again = spawn(t, p, hooks{}, SpawnConfig{Name: "db"}); return nil }})
		in(t, s, watcher, func(p *Process) { p.Monitor(first) })
		s.Kill(first)
		bubbletest.Wait()
		if pid, ok := s.Whereis("db"); !ok || pid != again || again.Zero() {
			t.Errorf("db is %s, not %s", pid, again)
		}
	})
}

func TestANameMayBeGivenBackAndTakenByAnother(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		one, other := spawn(t, s, hooks{}, SpawnConfig{Name: "db"}), spawn(t, s, hooks{})
		in(t, s, other, func(p *Process) { wantError(t, p.Register("db"), ErrNameTaken) })
		in(t, s, one, func(p *Process) {
			wantError(t, p.Register("second"), ErrNameTaken)
			p.Unregister()
			p.Unregister()
		})
		in(t, s, other, func(p *Process) {
			if err := p.Register("db"); err != nil {
				t.Error(err)
			}
		})
		s.Kill(one)
		bubbletest.Wait()
		if pid, _ := s.Whereis("db"); pid != other {
			t.Errorf("db is %s, not %s", pid, other)
		}
	})
}

func TestANameHas1To255Bytes(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		for length, ok := range map[int]bool{0: false, 1: true, 255: true, 256: false} {
			in(t, s, spawn(t, s, hooks{}), func(p *Process) {
				if err := p.Register(strings.Repeat("n", length)); (err == nil) != ok {
					t.Errorf("%d bytes: %v", length, err)
				}
			})
		}
	})
}

func TestAnAliasIsAnAddressThatCanBeTakenBack(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		var a, b Alias
		pid := spawn(t, s, hooks{any: got.note})
		in(t, s, pid, func(p *Process) { a, _ = p.NewAlias(); b, _ = p.NewAlias() })
		Send(s, a, "a")
		Send(s, b, "b")
		in(t, s, pid, func(p *Process) { p.DropAlias(a) })
		wantError(t, Send(s, a, "a"), ErrNoProcess)
		Send(s, b, "b")
		got.want(t, "a", "b", "b")
		s.Kill(pid)
		bubbletest.Wait()
		wantError(t, Send(s, b, "b"), ErrNoProcess)
		wantError(t, Send(s, Alias{}, "none"), ErrNoProcess)
	})
}

func TestAnAliasIsTakenBackOnlyByWhoMadeIt(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var a Alias
		in(t, s, spawn(t, s, hooks{}), func(p *Process) { a, _ = p.NewAlias() })
		in(t, s, spawn(t, s, hooks{}), func(p *Process) { p.DropAlias(a) })
		if err := Send(s, a, "still"); err != nil {
			t.Error(err)
		}
	})
}

func TestAliasesAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		in(t, s, spawn(t, s, hooks{}), func(p *Process) {
			for range maxAliases {
				if _, err := p.NewAlias(); err != nil {
					t.Fatal(err)
				}
			}
			_, err := p.NewAlias()
			wantError(t, err, ErrTooMany)
		})
	})
}
