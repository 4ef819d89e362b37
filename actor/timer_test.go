package actor

import (
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestSendAfterSendsWhenTheTimeIsOver(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid := spawn(t, s, hooks{any: got.note}, SpawnConfig{Name: "it"})
		SendAfter(s, pid, 2*time.Second, "second")
		SendAfter(s, Name{Name: "it"}, time.Second, "first")
		in(t, s, pid, func(p *Process) { SendAfter(p, p.PID(), 3*time.Second, "third") })
		time.Sleep(time.Second - 1)
		got.want(t)
		time.Sleep(time.Nanosecond)
		got.want(t, "first")
		time.Sleep(time.Minute)
		got.want(t, "first", "second", "third")
	})
}

func TestSendAfterMayBeStopped(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid := spawn(t, s, hooks{any: got.note})
		stop := SendAfter(s, pid, time.Second, "stopped")
		late := SendAfter(s, pid, time.Second, "late")
		if !stop() || stop() {
			t.Error("it was not stopped once")
		}
		time.Sleep(time.Minute)
		got.want(t, "late")
		if late() {
			t.Error("what has been sent was stopped")
		}
	})
}

func TestTheTimersOfAProcessEndWithIt(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		to, from := spawn(t, s, hooks{any: got.note}), spawn(t, s, hooks{})
		in(t, s, from, func(p *Process) { SendAfter(p, to, time.Second, "late") })
		SendAfter(s, to, time.Second, "of the system")
		s.Kill(from)
		time.Sleep(time.Minute)
		got.want(t, "of the system")
	})
}

func TestATimerOfAProcessThatIsNotThereDoesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		SendAfter(s, pid, time.Second, "late")
		SendAfter(s, Name{Name: "nobody"}, time.Second, "late")
		s.Kill(pid)
		time.Sleep(time.Minute)
		if lost := s.Stats(); lost.Undelivered != 1 {
			t.Errorf("counted as lost: %+v", lost)
		}
	})
}

func TestTheSenderOfATimerIsTheProcess(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		pid := spawn(t, s, hooks{any: func(p *Process, _ any) error { got.add(p.Sender()); return nil }})
		in(t, s, pid, func(p *Process) { SendAfter(p, pid, time.Second, 1) })
		SendAfter(s, pid, time.Minute, 2)
		time.Sleep(time.Hour)
		bubbletest.Wait()
		got.want(t, pid, PID{})
	})
}
