package app

import (
	"time"

	"github.com/sabir-go/sabir/actor"
)

// AllowRemoteControl lets other nodes control the applications of this one, by [On]: those named, or every node of the
// cluster where none is.
func AllowRemoteControl(s *actor.System, nodes ...string) {
	reaching.AllowRemoteSpawn(s, nodes...)
}

// hand is a process that another node has started to reach the controller of this one. It passes one call on and ends.
type hand struct{}

// handTimeout bounds how long a hand waits for its call.
const handTimeout = time.Minute

type tooLate struct{}

// setText is setEnv for another node.
type setText struct {
	Name, Key, Text string
	Set             bool
}

var reaching = actor.Define("app.hand", (*hand).init,
	actor.OnCall(passOn[startApp, struct{}]),
	actor.OnCall(passOn[stopApp, struct{}]),
	actor.OnCall(passOn[listApps, []Info]),
	actor.OnCall(passOn[setLogLevel, struct{}]),
	actor.OnCall((*hand).setText),
	actor.OnMessage((*hand).tooLate),
)

func (*hand) init(p *actor.Process, _ struct{}) error {
	actor.SendAfter(p, p.PID(), handTimeout, tooLate{})
	return nil
}

func (*hand) tooLate(*actor.Process, tooLate) error { return actor.ErrNormal }

func passOn[In, Out any](_ *hand, p *actor.Process, in In) (Out, error) {
	p.Stop(nil)
	ctx, cancel := patient(p.Context())
	defer cancel()
	return actor.Call[Out](ctx, p, actor.Name{Name: controllerName}, in)
}

func (h *hand) setText(p *actor.Process, m setText) (struct{}, error) {
	var value any
	if m.Set {
		value = m.Text
	}
	return passOn[setEnv, struct{}](h, p, setEnv{m.Name, m.Key, value})
}
