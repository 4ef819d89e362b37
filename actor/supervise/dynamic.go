package supervise

import (
	"context"
	"errors"
	"slices"

	"github.com/sabir-go/sabir/actor"
)

// Dynamic is a supervisor of any number of children of one behaviour, each started by StartOne with args of its own: "simple
// one for one" in OTP. It starts with none. Of the Child, ID, Start and Significant stay empty; of the Config, Strategy and
// AllSignificant. The actor.SpawnConfig is for each child.
//
// What it does for one child does not depend on how many there are; a million are fine. When it ends, it sends all children an
// exit and then waits for them together: the Shutdown is for all.
func Dynamic[S, A any](b *actor.Behavior[S, A], c Config, each Child, spawn ...actor.SpawnConfig) actor.Spec {
	return dynamicOf[A]().Spec(dynamicPlan[A]{c, each, b.Name(), func(p *actor.Process, args A) (actor.PID, error) {
		return b.Spec(args, append(slices.Clip(spawn), actor.SpawnConfig{Supervised: true})...).Start(p)
	}})
}

type dynamicPlan[A any] struct {
	config   Config
	each     Child
	behavior string
	spawn    func(*actor.Process, A) (actor.PID, error)
}

func dynamicOf[A any]() *actor.Behavior[dynamic[A], dynamicPlan[A]] {
	return actor.Define(dynamicName, (*dynamic[A]).init,
		actor.OnMessage((*dynamic[A]).exit),
		actor.OnMessage((*dynamic[A]).down),
		actor.OnMessage((*dynamic[A]).tooLate),
		actor.OnMessage((*dynamic[A]).retry),
		actor.OnCall((*dynamic[A]).start),
		actor.OnCall((*dynamic[A]).terminate),
		actor.OnCall((*dynamic[A]).describe),
	)
}

// dynamic is the state of a dynamic supervisor.
type dynamic[A any] struct {
	dynamicPlan[A]
	children   map[actor.PID]one[A]
	shutting   map[actor.PID]*shutting // of children, those that TerminateOne has sent an exit
	restarting int                     // retries on their way
	ending     error                   // why the supervisor ends as soon as its children have; nil while it does not
	history    history
}

// one is a child; args is the zero value where it is temporary.
type one[A any] struct {
	args     A
	restarts int32
}

type shutting struct {
	timer func() bool
	waits []actor.Request
}

func (s *dynamic[A]) init(p *actor.Process, with dynamicPlan[A]) (err error) {
	p.TrapParent()
	s.dynamicPlan = with
	if s.config, err = s.config.complete(); err != nil {
		return err
	}
	if s.each, err = s.each.complete(); err != nil {
		return err
	}
	if !s.each.Start.Zero() || s.each.ID != "" || s.each.Significant || s.config.Strategy != oneForOne || s.config.AllSignificant {
		return problem(errSupervisorConfig, "a dynamic supervisor takes no ID, Start, Significant, Strategy and AllSignificant")
	}
	if supervises(s.behavior) && with.each.Shutdown == 0 {
		s.each.Shutdown = infinity
	}
	if s.config.Name != "" {
		if err := p.Register(s.config.Name); err != nil {
			return err
		}
	}
	s.children = make(map[actor.PID]one[A])
	s.shutting = make(map[actor.PID]*shutting)
	return nil
}

// StartOne starts a child of a dynamic supervisor and passes args to its Init. Their type must be the one that the behaviour
// takes, else the error is actor.ErrNotHandled. The other errors are that of the child's Init, one with the name SupervisorEnding, and those
// of actor.Call.
func StartOne[A any](ctx context.Context, s Supervisor, args A) (actor.PID, error) {
	return actor.Call[actor.PID](ctx, s.from, s.to, startOne[A]{args})
}

// TerminateOne ends a child of a dynamic supervisor according to its Shutdown, and returns when it has ended. The supervisor forgets
// it. Errors: ErrNoChild, and those of actor.Call: a child may take longer to end than ctx allows, and ends all the same.
func (s Supervisor) TerminateOne(ctx context.Context, child actor.PID) error {
	_, err := actor.Call[struct{}](ctx, s.from, s.to, terminateOne{child})
	return err
}

type startOne[A any] struct{ Args A }

func (s *dynamic[A]) start(p *actor.Process, m startOne[A]) (actor.PID, error) {
	if s.ending != nil {
		return actor.PID{}, errSupervisorEnding
	}
	pid, err := s.spawn(p, m.Args)
	if err != nil {
		return actor.PID{}, err
	}
	s.keep(pid, m.Args, 0)
	return pid, nil
}

func (s *dynamic[A]) keep(pid actor.PID, args A, restarts int32) {
	c := one[A]{restarts: restarts}
	if s.each.Restart != temporary {
		c.args = args
	}
	s.children[pid] = c
}

type terminateOne struct{ Child actor.PID }

func (s *dynamic[A]) terminate(p *actor.Process, m terminateOne) (none struct{}, err error) {
	if _, ok := s.children[m.Child]; !ok {
		return none, problem(ErrNoChild, "%s", m.Child)
	}
	c := s.shutting[m.Child]
	if c == nil {
		c = &shutting{}
		s.shutting[m.Child] = c
		if s.ending == nil {
			s.shut(p, m.Child, c)
		}
	}
	if len(c.waits) == maxWaiting {
		return none, problem(actor.ErrMailboxFull, "%d calls wait for the end of %s", maxWaiting, m.Child)
	}
	c.waits = append(c.waits, p.Request())
	return none, actor.ErrNoReply
}

// shut ends one child according to its Shutdown: by an exit or by a kill.
func (s *dynamic[A]) shut(p *actor.Process, pid actor.PID, c *shutting) {
	switch s.each.Shutdown {
	case brutal:
		actor.Kill(p, pid)
		c.timer = actor.SendAfter(p, p.PID(), killTimeout, tooLate{pid, true})
		return
	case infinity:
	default:
		c.timer = actor.SendAfter(p, p.PID(), s.each.Shutdown, tooLate{pid, false})
	}
	actor.Stop(p, pid, actor.ErrShutdown)
}

// down reports that a child on another node has ended, which may have unlinked itself; see exit.
func (s *dynamic[A]) down(p *actor.Process, d actor.Down) error {
	s.left(p, d.PID, d.Reason)
	return nil
}

// left handles the end of a child.
func (s *dynamic[A]) left(p *actor.Process, pid actor.PID, reason error) {
	c, ok := s.children[pid]
	if !ok {
		return // the supervisor stopped waiting for it before
	}
	delete(s.children, pid)
	asked := s.shutting[pid]
	if asked != nil {
		delete(s.shutting, pid)
		if asked.timer != nil {
			asked.timer()
		}
		for _, r := range asked.waits {
			actor.Reply(p, r, struct{}{})
		}
	}
	if asked != nil || s.ending != nil {
		s.endIfAlone(p)
		return
	}
	again := s.each.isRestarted(reason)
	if !peaceful(reason) {
		p.Log().Warn("a child ended", "child_pid", pid.String(), "reason", reason, "restart", again)
	}
	switch {
	case again && s.allowed(p, reason):
		s.restart(p, retryOne[A](c))
	case !again && s.config.Ended != nil:
		s.config.Ended(p, "", pid, reason)
	}
}

// retryOne is the supervisor's message to itself to try again to restart a child.
type retryOne[A any] struct {
	args     A
	restarts int32
}

func (s *dynamic[A]) retry(p *actor.Process, r retryOne[A]) error {
	s.restarting--
	if s.ending == nil {
		s.restart(p, r)
	}
	return nil
}

func (s *dynamic[A]) restart(p *actor.Process, r retryOne[A]) {
	pid, err := s.spawn(p, r.args)
	switch {
	case err == nil:
		s.keep(pid, r.args, r.restarts+1)
	case errors.Is(err, actor.ErrNormal):
	default:
		p.Log().Warn("a child did not restart", "reason", err)
		if s.allowed(p, err) {
			s.restarting++
			toSelf(p, r)
		}
	}
}

// allowed counts a restart. Where there were too many it begins the end of the supervisor.
func (s *dynamic[A]) allowed(p *actor.Process, reason error) bool {
	if !s.history.tooMany(p.Now(), s.config.Intensity, s.config.Period) {
		return true
	}
	err := problem(ErrRestartIntensity, "more than %d in %s; the last child ended by: %v", s.config.Intensity, s.config.Period, reason)
	p.Log().Error("a supervisor gives up", "supervisor", s.config.Name, "reason", err)
	s.end(p, err)
	return false
}

// end sends all children an exit. The supervisor does when the last of them has.
func (s *dynamic[A]) end(p *actor.Process, reason error) {
	if s.ending != nil {
		return
	}
	s.ending = reason
	for pid := range s.children {
		if s.each.Shutdown == brutal {
			actor.Kill(p, pid)
		} else {
			actor.Stop(p, pid, actor.ErrShutdown)
		}
	}
	switch s.each.Shutdown {
	case brutal:
		actor.SendAfter(p, p.PID(), killTimeout, tooLate{killed: true})
	case infinity:
	default:
		actor.SendAfter(p, p.PID(), s.each.Shutdown, tooLate{})
	}
	s.endIfAlone(p)
}

func (s *dynamic[A]) endIfAlone(p *actor.Process) {
	if s.ending != nil && len(s.children) == 0 {
		p.Stop(s.ending)
	}
}

// tooLate reports that a child, or where it names none some of those that are to end with the supervisor, have not ended.
func (s *dynamic[A]) tooLate(p *actor.Process, m tooLate) error {
	late := []actor.PID{m.pid}
	if m.pid.Zero() {
		late = late[:0]
		for pid := range s.children {
			late = append(late, pid)
		}
	}
	for _, pid := range late {
		if _, ok := s.children[pid]; !ok {
			continue
		}
		if m.killed {
			logLost(p, "", pid)
			s.left(p, pid, actor.ErrKilled)
			continue
		}
		actor.Kill(p, pid)
	}
	if !m.killed {
		stop := actor.SendAfter(p, p.PID(), killTimeout, tooLate{m.pid, true})
		if c := s.shutting[m.pid]; c != nil {
			c.timer = stop
		}
	}
	return nil
}

// exit is the message that the supervisor should end, or that a process ended that it is linked with, such as a child.
func (s *dynamic[A]) exit(p *actor.Process, e actor.Exit) error {
	if !e.Linked() || e.From == p.Parent() {
		s.end(p, e.Reason)
	} else {
		s.left(p, e.From, e.Reason)
	}
	return nil
}

func (s *dynamic[A]) describe(*actor.Process, describe) (description, error) {
	d := description{Name: s.config.Name, Strategy: s.config.Strategy, Dynamic: true, Children: []described{}}
	for pid, c := range s.children {
		if len(d.Children) == maxListed {
			break
		}
		state := running
		if s.ending != nil || s.shutting[pid] != nil {
			state = ending
		}
		d.Children = append(d.Children, described{"", pid, s.behavior, supervises(s.behavior), s.each.Restart, int(c.restarts), state})
	}
	d.Unlisted = len(s.children) + s.restarting - len(d.Children)
	return d, nil
}
