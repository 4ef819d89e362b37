package supervise

import (
	"context"
	"slices"
	"time"

	"github.com/sabir-go/sabir/actor"
)

// witness is a process that waits for the end of another, for one whose callback has to wait.
type witness struct {
	waits actor.Request
	ref   actor.MonitorRef
	turn  int
}

// untilEnd is answered with true when the process has ended, with false when that takes longer than Limit.
type untilEnd struct {
	PID   actor.PID
	Limit time.Duration
}

type tooLong struct{ turn int }

var witnessing = actor.Define[witness, struct{}]("supervisor.witness", nil,
	actor.OnCall((*witness).untilEnd),
	actor.OnMessage((*witness).down),
	actor.OnMessage((*witness).tooLong),
)

func (w *witness) untilEnd(p *actor.Process, m untilEnd) (bool, error) {
	w.turn++
	w.waits, w.ref = p.Request(), p.Monitor(m.PID)
	if m.Limit != infinity {
		actor.SendAfter(p, p.PID(), m.Limit, tooLong{w.turn})
	}
	return false, actor.ErrNoReply
}

func (w *witness) down(p *actor.Process, d actor.Down) error {
	if d.Ref == w.ref {
		actor.Reply(p, w.waits, true)
	}
	return nil
}

func (w *witness) tooLong(p *actor.Process, m tooLong) error {
	if m.turn == w.turn {
		p.Demonitor(w.ref)
		actor.Reply(p, w.waits, false)
	}
	return nil
}

// endAll ends children, the last one first, and waits for each. It is for Init, where no messages come.
func endAll(p *actor.Process, children []*child) {
	w, err := actor.Spawn(p.System(), witnessing, struct{}{})
	if err != nil { // the system is about to stop
		for _, c := range children {
			actor.Kill(p, c.pid)
		}
		return
	}
	defer actor.Kill(p, w)
	ctx, cancel := context.WithTimeout(p.Context(), infinity) // without one, a call ends after 5 s
	defer cancel()
	ended := func(c *child, limit time.Duration) bool {
		ok, err := actor.Call[bool](ctx, p, w, untilEnd{c.pid, limit})
		return ok && err == nil
	}
	for _, c := range slices.Backward(children) {
		if c.pid.Zero() {
			continue
		}
		if c.Shutdown != brutal {
			actor.Stop(p, c.pid, actor.ErrShutdown)
			if ended(c, c.Shutdown) {
				continue
			}
		}
		actor.Kill(p, c.pid)
		if !ended(c, killTimeout) {
			logLost(p, c.ID, c.pid)
		}
	}
}

func logLost(p *actor.Process, id string, pid actor.PID) {
	p.Log().Error("a child was killed, but a callback of it does not return: the supervisor goes on without it", "child", id, "child_pid", pid.String())
}
