package actor

import (
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

// long is a callback that sends 1, 2 and 3 to a process and goes on until the gate is opened.
func long(to PID, g gate, then func(p *Process)) func(p *Process) error {
	return func(p *Process) error {
		for i := range 3 {
			if err := Send(p, to, i+1); err != nil {
				return err
			}
		}
		if then != nil {
			then(p)
		}
		return g.pass(p)
	}
}

func TestWhatACallbackSendsComesThoughItGoesOnForLong(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		to, from := spawn(t, s, hooks{any: got.note}), spawn(t, s, hooks{})
		g := newGate()
		notify(t, s, from, long(to, g, nil))
		<-g.entered
		time.Sleep(2 * watchEvery) // of the bubble's time
		got.want(t, 1, 2, 3)
		close(g.open)
	})
}

// On Linux the bubble's time stands while the watchdog glances, since the clock of its glances is the system's. The test may have no turn for as long
// as the watchdog glances: then a callback is late again.
func TestWhatLongCallbacksSendIsLateOnlyOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		got := make(chan any)
		to := spawn(t, s, hooks{any: func(_ *Process, m any) error { got <- m; return nil }})
		from := spawn(t, s, hooks{})
		late := func() bool {
			g := newGate()
			defer close(g.open)
			notify(t, s, from, long(to, g, nil))
			<-g.entered
			begun := time.Now()
			for want := range 3 {
				if m := <-got; m != want+1 {
					t.Errorf("got %v for %d", m, want+1)
				}
			}
			return time.Since(begun) >= watchEvery/2
		}
		if !late() {
			t.Error("the first was not late, so there is nothing to see here")
		}
		for range 20 {
			if !late() {
				return
			}
		}
		t.Error("what twenty callbacks sent was late")
	})
}

func TestWhatInitSendsComesThoughItGoesOnForLong(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		to := spawn(t, s, hooks{any: got.note})
		g := newGate()
		done := make(chan struct{})
		go func() {
			defer close(done)
			spawn(t, s, hooks{init: long(to, g, nil)})
		}()
		<-g.entered
		got.want(t, 1, 2, 3)
		close(g.open)
		<-done
	})
}

func TestWhatIsHeldBackComesThoughTheProcessHasMoreToDo(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		last := 0
		to, from := spawn(t, s, hooks{any: func(_ *Process, m any) error { last = m.(int); return nil }}), spawn(t, s, hooks{})
		for i := range 100 {
			notify(t, s, from, func(p *Process) error {
				if i > 3 && last < i-4 {
					t.Errorf("%d callbacks have sent, and only %d messages have come", i, last)
				}
				Send(p, to, i)
				time.Sleep(watchEvery)
				bubbletest.Wait()
				return nil
			})
		}
		in(t, s, from, func(*Process) {})
	})
}

func TestWhatIsHeldBackGoesBeforeAnythingElseThatTheCallbackDoes(t *testing.T) {
	for name, then := range map[string]func(p *Process, to, other PID){
		"a send to another":      func(p *Process, _, other PID) { Send(p, other, "go") },
		"a call of another":      func(p *Process, _, other PID) { Call[any](p.Context(), p, other, ask{nothing}) },
		"an urgent message":      func(p *Process, _, other PID) { SendPriority(p, other, PriorityUrgent, "go") },
		"an important message":   func(p *Process, _, other PID) { SendConfirmed(p.Context(), p, other, "go") },
		"Stop":                   func(p *Process, _, other PID) { Stop(p, other, nil) },
		"Kill":                   func(p *Process, _, other PID) { Kill(p, other) },
		"a message of the log":   func(p *Process, _, other PID) { SendPriority(p, other, PriorityLog, "go") },
		"a send of another type": func(p *Process, to, _ PID) { Send(p, to, "last"); Send(p, to, "last") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				var got notes
				to, from, other := spawn(t, s, hooks{any: got.note}), spawn(t, s, hooks{}), spawn(t, s, hooks{})
				g := newGate()
				notify(t, s, from, long(to, g, func(p *Process) { then(p, to, other) }))
				<-g.entered
				bubbletest.Wait() // and no time passes, so the watch has not seen it
				if n := len(got.all()); n < 3 {
					t.Errorf("only %d messages have come", n)
				}
				close(g.open)
			}, Config{Workers: 2}) // one is in the callback that goes on
		})
	}
}

func nothing(*Process) (any, error) { return nil, nil }

func TestWhatAHandlerOfCallsSendsGoesBeforeTheAnswer(t *testing.T) {
	for name, answer := range map[string]func(p *Process) (any, error){
		"returned":     nothing,
		"an error":     func(p *Process) (any, error) { return nil, ErrNormal },
		"by Reply":     func(p *Process) (any, error) { Reply(p, p.Request(), any(1)); return nil, ErrNoReply },
		"Request.Fail": func(p *Process) (any, error) { p.Request().Fail(p, ErrNormal); return nil, ErrNoReply },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *System) {
				to := spawn(t, s, hooks{})
				from := spawn(t, s, hooks{})
				busy := busyIn(t, s, to)
				g := newGate()
				done := make(chan struct{})
				before := busyIn(t, s, from)
				go func() {
					defer close(done)
					Call[any](t.Context(), s, from, ask{func(p *Process) (any, error) {
						for i := range 3 {
							Send(p, to, i)
						}
						return answer(p)
					}})
				}()
				bubbletest.Wait()
				notify(t, s, from, g.pass) // taken out of the mailbox with the call, so that the process does not rest between them
				close(before.open)
				<-done
				if info, _ := s.Info(to); info.Waiting != 3 {
					t.Errorf("%d of 3 messages have come when the call is answered", info.Waiting)
				}
				<-g.entered
				close(g.open)
				close(busy.open)
			})
		})
	}
}

func TestWhatTerminateSendsComes(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		var got notes
		to := spawn(t, s, hooks{any: got.note})
		from := spawn(t, s, hooks{terminate: func(p *Process, _ error) {
			for i := range 3 {
				Send(p, to, i)
			}
		}})
		Stop(s, from, nil)
		got.want(t, 0, 1, 2)
	})
}
