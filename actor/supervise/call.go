package supervise

import (
	"context"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

type (
	startChild     struct{ child Child }
	terminateChild struct{ ID string }
	restartChild   struct{ ID string }
	deleteChild    struct{ ID string }
)

// Supervisor is a running supervisor, as a process or a system calls it. Its methods are calls: see actor.Call for how long they wait,
// and for the errors that they have beside their own. It may be copied.
type Supervisor struct {
	from actor.Sender
	to   actor.Ref[supervisor]
}

// At returns the supervisor at an address, such as the PID that its actor.Spec started, or the Name of its Config. A
// Supervisor whose from is a process is for the callbacks of that process.
func At[A actor.Address](from actor.Sender, to A) Supervisor {
	return Supervisor{from, actor.RefTo[supervisor](to)}
}

// StartChild adds a child at the end of a supervisor's list and starts it. Where it does not start it is not added. It may
// be called on the supervisor's own node only: what a Child starts is a function. Errors: ErrChildExists, those with the names SupervisorConfig,
// ChildNotStarted, which wraps the reason, and SupervisorEnding, and those of actor.Call.
func (s Supervisor) StartChild(ctx context.Context, c Child) (actor.PID, error) {
	return actor.Call[actor.PID](ctx, s.from, s.to, startChild{c})
}

func (s *supervisor) startChild(p *actor.Process, m startChild) (actor.PID, error) {
	if s.ending != nil {
		return actor.PID{}, errSupervisorEnding
	}
	if s.marked {
		return postpone(s, p, m, (*supervisor).startChild)
	}
	c, err := s.add(m.child)
	if err != nil {
		return actor.PID{}, err
	}
	if err := s.start(p, c); err != nil {
		s.remove(c)
		return actor.PID{}, notStarted(c, err)
	}
	return c.pid, nil
}

func notStarted(c *child, err error) error {
	return sabir.Errorf(errChildNotStarted.Code, errChildNotStarted.Name, "%s: %q: %w", errChildNotStarted.Message, c.ID, err)
}

// TerminateChild ends a child according to its Shutdown, and returns when it has ended. It is not restarted, but stays in the list
// for RestartChild, unless it is temporary. That it does not run is no error. TerminateOne is for children of a dynamic supervisor. Errors: ErrNoChild, and those of actor.Call: a child may take longer to end than ctx allows, and ends all the same.
func (s Supervisor) TerminateChild(ctx context.Context, id string) error {
	_, err := actor.Call[struct{}](ctx, s.from, s.to, terminateChild{id})
	return err
}

func (s *supervisor) terminateChild(p *actor.Process, m terminateChild) (none struct{}, err error) {
	c := s.byID[m.ID]
	if c == nil {
		return none, problem(ErrNoChild, "%q", m.ID)
	}
	c.again = false
	if c.pid.Zero() {
		c.state = ended
		if c.Restart == temporary {
			s.remove(c)
		}
		return none, nil
	}
	if len(c.waits) == maxWaiting {
		return none, problem(actor.ErrMailboxFull, "%d calls wait for the end of child %q", maxWaiting, c.ID)
	}
	c.waits = append(c.waits, p.Request())
	if c.state != ending {
		s.shut(p, c)
	}
	return none, actor.ErrNoReply
}

// RestartChild starts a child again that TerminateChild has ended, or that has ended and was not to be restarted. Errors:
// ErrNoChild, those with the names ChildRuns, ChildNotStarted and SupervisorEnding, and those of actor.Call.
func (s Supervisor) RestartChild(ctx context.Context, id string) (actor.PID, error) {
	return actor.Call[actor.PID](ctx, s.from, s.to, restartChild{id})
}

func (s *supervisor) restartChild(p *actor.Process, m restartChild) (actor.PID, error) {
	if s.marked && s.ending == nil {
		return postpone(s, p, m, (*supervisor).restartChild)
	}
	c, err := s.resting(m.ID)
	if err != nil {
		return actor.PID{}, err
	}
	if s.ending != nil {
		return actor.PID{}, errSupervisorEnding
	}
	if err := s.start(p, c); err != nil {
		return actor.PID{}, notStarted(c, err)
	}
	return c.pid, nil
}

// DeleteChild takes a child out of the list that does not run. Errors: ErrNoChild, one with the name ChildRuns, and those of actor.Call.
func (s Supervisor) DeleteChild(ctx context.Context, id string) error {
	_, err := actor.Call[struct{}](ctx, s.from, s.to, deleteChild{id})
	return err
}

func (s *supervisor) deleteChild(p *actor.Process, m deleteChild) (none struct{}, err error) {
	c, err := s.resting(m.ID)
	if err == nil {
		s.remove(c)
	}
	return none, err
}

// resting finds a child that does not run and is not about to.
func (s *supervisor) resting(id string) (*child, error) {
	c := s.byID[id]
	switch {
	case c == nil:
		return nil, problem(ErrNoChild, "%q", id)
	case c.state != ended || c.again:
		return nil, problem(errChildRuns, "%q is %s", id, c.state)
	}
	return c, nil
}
