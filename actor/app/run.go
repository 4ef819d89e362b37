package app

import (
	"context"
	"errors"

	"github.com/sabir-go/sabir/actor"
)

// Run starts the controller and the applications named, all of them where none is, waits until ctx ends or an application
// ends without which nothing should go on, and stops all. It returns nil after the end of ctx, ApplicationEnded, or why something
// did not start. The system goes on: the code that made it stops it.
func Run(ctx context.Context, s *actor.System, c Config, names ...string) error {
	fatal := make(chan error, 1)
	c.Stop = func(reason error) {
		select {
		case fatal <- reason:
		default:
		}
	}
	top, err := Spec(c).Start(s)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	if _, err := actor.Spawn(s, watching, watched{top, ended}); err != nil {
		return err
	}
	if len(names) == 0 {
		for _, a := range c.Apps {
			names = append(names, a.Name)
		}
	}
	for _, name := range names {
		if err = On(s, "").Start(ctx, name); err != nil {
			if ctx.Err() != nil {
				err = nil // it received an exit while it started
			}
			break
		}
	}
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-fatal:
		case <-ended:
			return problem(errApplicationEnded, "the controller")
		}
	}
	if stop := actor.Stop(s, top, actor.ErrShutdown); stop != nil && !errors.Is(stop, actor.ErrNoProcess) {
		return errors.Join(err, stop)
	}
	<-ended
	return err
}

// watcher closes a channel when a process has ended.
type watcher struct{ ended chan struct{} }

type watched struct {
	pid   actor.PID
	ended chan struct{}
}

var watching = actor.Define("app.watcher", (*watcher).init, actor.OnMessage((*watcher).down))

func (w *watcher) init(p *actor.Process, of watched) error {
	w.ended = of.ended
	p.Monitor(of.pid)
	return nil
}

func (w *watcher) down(*actor.Process, actor.Down) error { return actor.ErrNormal }

// Terminate closes the channel also where the watcher itself is ended, with its system.
func (w *watcher) Terminate(*actor.Process, error) { close(w.ended) }
