package actor

import (
	"testing"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

// watchers starts a puppet that notes the reasons of the Downs it gets.
func watcherOf(t *testing.T, s *System, downs *notes) PID {
	t.Helper()
	return spawn(t, s, hooks{any: func(_ *Process, m any) error { downs.add(m.(Down)); return nil }})
}

func TestAMonitorGetsOneDownWhenTheProcessEnds(t *testing.T) {
	for name, end := range map[string]struct {
		how  func(t *testing.T, s *System, pid PID)
		want error
	}{
		"an error": {func(t *testing.T, s *System, pid PID) { endWith(t, s, pid, errOut) }, errOut},
		"normally": {func(t *testing.T, s *System, pid PID) { endWith(t, s, pid, ErrNormal) }, ErrNormal},
		"Kill":     {func(_ *testing.T, s *System, pid PID) { s.Kill(pid) }, ErrKilled},
		"Stop":     {func(_ *testing.T, s *System, pid PID) { Stop(s, pid, nil) }, ErrShutdown},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				var downs notes
				pid, watcher := spawn(t, s, hooks{}), watcherOf(t, s, &downs)
				var ref MonitorRef
				in(t, s, watcher, func(p *Process) { ref = p.Monitor(pid) })
				downs.want(t)
				end.how(t, s, pid)
				bubbletest.Wait()
				all := downs.all()
				if len(all) != 1 {
					t.Fatalf("got %v", all)
				}
				if d := all[0].(Down); d.Ref != ref || d.PID != pid || !same(d.Reason, end.want) {
					t.Errorf("got %+v", d)
				}
			})
		})
	}
}

func TestAMonitorOfAProcessThatIsNotThereGetsADownAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var downs notes
		gone, watcher := spawn(t, s, hooks{}), watcherOf(t, s, &downs)
		s.Kill(gone)
		bubbletest.Wait()
		in(t, s, watcher, func(p *Process) { p.Monitor(gone) })
		bubbletest.Wait()
		if all := downs.all(); len(all) != 1 || !same(all[0].(Down).Reason, ErrNoProcess) {
			t.Errorf("got %v", all)
		}
	})
}

func TestAMonitorOfTheZeroPIDGetsADownAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var downs notes
		watcher := watcherOf(t, s, &downs)
		var ref MonitorRef
		in(t, s, watcher, func(p *Process) { ref = p.Monitor(PID{}) })
		bubbletest.Wait()
		if all := downs.all(); len(all) != 1 || all[0].(Down).Ref != ref || !same(all[0].(Down).Reason, ErrNoProcess) {
			t.Errorf("got %v", all)
		}
	})
}

func TestAfterDemonitorNoDownComes(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var downs notes
		before, after, watcher := spawn(t, s, hooks{}), spawn(t, s, hooks{}), watcherOf(t, s, &downs)
		in(t, s, watcher, func(p *Process) {
			p.Demonitor(p.Monitor(after))
			ref := p.Monitor(before)
			s.Kill(before)
			bubbletest.Wait() // the Down is in the mailbox now
			p.Demonitor(ref)
			p.Demonitor(ref)
		})
		s.Kill(after)
		downs.want(t)
	})
}

func TestEachMonitorIsItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var downs notes
		pid, watcher := spawn(t, s, hooks{}), watcherOf(t, s, &downs)
		refs := map[MonitorRef]bool{}
		in(t, s, watcher, func(p *Process) {
			for range 3 {
				refs[p.Monitor(pid)] = true
			}
			p.Demonitor(p.Monitor(pid))
		})
		s.Kill(pid)
		bubbletest.Wait()
		for _, d := range downs.all() {
			delete(refs, d.(Down).Ref)
		}
		if len(refs) != 0 || len(downs.all()) != 3 {
			t.Errorf("got %v, and not %v", downs.all(), refs)
		}
	})
}

func TestManyMayMonitorOneAndOneMany(t *testing.T) {
	const n = 500
	bubble(t, func(t *testing.T, s *System) {
		var downs notes
		pid, watcher := spawn(t, s, hooks{}), watcherOf(t, s, &downs)
		for range n {
			other := spawn(t, s, hooks{any: downs.note})
			in(t, s, other, func(p *Process) { p.Monitor(pid) })
			in(t, s, watcher, func(p *Process) { p.Monitor(other) })
		}
		s.Kill(pid)
		bubbletest.Wait()
		if got := len(downs.all()); got != n {
			t.Errorf("%d of %d were notified", got, n)
		}
		for pid := range s.Processes() {
			if pid != watcher {
				s.Kill(pid)
			}
		}
		bubbletest.Wait()
		if got := len(downs.all()); got != 2*n {
			t.Errorf("one was notified of %d of %d", got-n, n)
		}
	})
}

func TestTheMonitorsOfAProcessEndWithIt(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var downs notes
		pid, watcher := spawn(t, s, hooks{}), watcherOf(t, s, &downs)
		in(t, s, watcher, func(p *Process) { p.Monitor(pid) })
		s.Kill(watcher)
		bubbletest.Wait()
		if info, _ := s.Info(pid); info.Monitored != 0 {
			t.Errorf("%d monitor it", info.Monitored)
		}
	})
}

func TestAForgedDownIsIgnored(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var downs notes
		watcher := watcherOf(t, s, &downs)
		Send(s, watcher, Down{Ref: 1, Reason: errOut})
		downs.want(t)
	})
}
