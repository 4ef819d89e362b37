package supervise

import (
	"errors"
	"slices"

	"github.com/sabir-go/sabir/actor"
)

// Spec is a supervisor with its children, to be started: by Spec.Start, or by another supervisor whose child it is. It starts
// its children in their order before Start returns. Where one does not start, those before it are ended again, the last one
// first, and Start returns errChildNotStarted. A child whose Init returns actor.ErrNormal is no failure: it stays in the list without a
// process.
//
// A supervisor ends its children, the last one first, before it ends itself.
func Spec(c Config, children ...Child) actor.Spec {
	return fixed.Spec(plan{c, slices.Clone(children)})
}

type plan struct {
	config   Config
	children []Child
}

var fixed = actor.Define(fixedName, (*supervisor).init,
	actor.OnMessage((*supervisor).exit),
	actor.OnMessage((*supervisor).down),
	actor.OnMessage((*supervisor).tooLate),
	actor.OnMessage((*supervisor).retry),
	actor.OnCall((*supervisor).startChild),
	actor.OnCall((*supervisor).terminateChild),
	actor.OnCall((*supervisor).restartChild),
	actor.OnCall((*supervisor).deleteChild),
	actor.OnCall((*supervisor).describe),
)

// supervisor is the state of a supervisor with a list of children.
//
// A restart of several children takes many messages: they are marked, and after every message advance does the next step
// that is possible: send an exit to the last one that still runs, or start all in their order. The end of the supervisor is the
// same, of all children and without starting them.
type supervisor struct {
	config   Config
	children []*child // in the order of their start
	byID     map[string]*child
	byPID    map[actor.PID]*child
	marked   bool  // children are marked: see child.again
	top      int   // all children from here on that are to end have ended
	ending   error // why the supervisor ends as soon as its children have; nil while it does not
	history  history

	postponed []func(*actor.Process) // calls that wait until marked is over, at most maxWaiting
}

// child is a child of a supervisor.
type child struct {
	Child
	pid      actor.PID // zero while it has no process
	state    string
	again    bool // to be ended, if it runs, and started with others
	restarts int
	timer    func() bool     // stops the timer of its shutdown
	waits    []actor.Request // of TerminateChild
}

// maxWaiting bounds how many calls wait for the end of one child.
const maxWaiting = 1000

func (s *supervisor) init(p *actor.Process, with plan) (err error) {
	p.TrapParent()
	if s.config, err = with.config.complete(); err != nil {
		return err
	}
	if s.config.Name != "" {
		if err := p.Register(s.config.Name); err != nil {
			return err
		}
	}
	s.byID, s.byPID = make(map[string]*child), make(map[actor.PID]*child)
	for _, spec := range with.children {
		if _, err := s.add(spec); err != nil {
			return err
		}
	}
	for _, c := range slices.Clone(s.children) {
		if err := s.start(p, c); err != nil {
			endAll(p, s.children)
			return notStarted(c, err)
		}
	}
	return nil
}

// add puts a child at the end of the list, without starting it.
func (s *supervisor) add(spec Child) (*child, error) {
	if spec.ID == "" || spec.Start.Zero() {
		return nil, problem(errSupervisorConfig, "child %q needs an ID and a Start", spec.ID)
	}
	if s.byID[spec.ID] != nil {
		return nil, problem(ErrChildExists, "%q", spec.ID)
	}
	spec, err := spec.complete()
	if err != nil {
		return nil, err
	}
	c := &child{Child: spec, state: ended}
	s.children = append(s.children, c)
	s.byID[c.ID] = c
	return c, nil
}

func (s *supervisor) remove(c *child) {
	if i := slices.Index(s.children, c); i >= 0 {
		s.children = slices.Delete(s.children, i, i+1)
	}
	delete(s.byID, c.ID)
}

// start starts a child that has no process.
func (s *supervisor) start(p *actor.Process, c *child) error {
	pid, err := c.Start.Start(p, actor.SpawnConfig{Supervised: true})
	switch {
	case err == nil:
		c.pid, c.state = pid, running
		s.byPID[pid] = c
	case errors.Is(err, actor.ErrNormal):
		c.state = ended
		if c.Restart == temporary {
			s.remove(c)
		}
	default:
		return err
	}
	return nil
}

// down reports that a child on another node has ended, which may have unlinked itself; see exit.
func (s *supervisor) down(p *actor.Process, d actor.Down) error {
	s.left(p, d.PID, d.Reason)
	return nil
}

// left handles the end of a child.
func (s *supervisor) left(p *actor.Process, pid actor.PID, reason error) {
	c := s.byPID[pid]
	if c == nil {
		return // the supervisor stopped waiting for it before
	}
	delete(s.byPID, pid)
	asked := c.state == ending
	c.pid, c.state = actor.PID{}, ended
	if c.timer != nil {
		c.timer()
		c.timer = nil
	}
	for _, r := range c.waits {
		actor.Reply(p, r, struct{}{})
	}
	c.waits = nil
	if asked || c.again || s.ending != nil {
		if c.Restart == temporary {
			s.remove(c)
		}
	} else {
		s.ended(p, c, pid, reason)
	}
	s.advance(p)
}

// ended decides what follows from the end of a child by itself.
func (s *supervisor) ended(p *actor.Process, c *child, pid actor.PID, reason error) {
	again := c.isRestarted(reason)
	if !peaceful(reason) {
		p.Log().Warn("a child ended", "child", c.ID, "child_pid", pid.String(), "reason", reason, "restart", again)
	}
	if again {
		s.failed(p, c, reason, false)
		return
	}
	if c.Restart == temporary {
		s.remove(c)
	}
	if s.config.Ended != nil {
		s.config.Ended(p, c.ID, pid, reason)
	}
	if c.Significant && (!s.config.AllSignificant || !slices.ContainsFunc(s.children, func(c *child) bool {
		return c.Significant && c.state != ended
	})) {
		s.end(p, actor.ErrShutdown)
	}
}

// failed counts a failure, of a child or of its restart, and begins what the strategy requires.
func (s *supervisor) failed(p *actor.Process, c *child, reason error, ofRestart bool) {
	c.state = restarting
	if s.history.tooMany(p.Now(), s.config.Intensity, s.config.Period) {
		c.state = ended
		err := problem(ErrRestartIntensity, "more than %d in %s; the last was of %q, which ended by: %v", s.config.Intensity, s.config.Period, c.ID, reason)
		p.Log().Error("a supervisor gives up", "supervisor", s.config.Name, "reason", err)
		s.end(p, err)
		return
	}
	if s.config.Strategy == oneForOne {
		if ofRestart {
			toSelf(p, retry{c})
		} else {
			s.restart(p, c)
		}
		return
	}
	before := s.config.Strategy == restForOne
	for _, other := range s.children {
		before = before && other != c
		if !before {
			other.again = true
		} else if ofRestart {
			other.again = false // it was started just now
		}
	}
	s.marked, s.top = true, len(s.children)
	if ofRestart {
		toSelf(p, retry{})
	}
	// Else left goes on with advance.
}

// retry is the supervisor's message to itself to try again. Between two attempts it handles what else has come.
type retry struct{ child *child } // nil: those that are marked

func (s *supervisor) retry(p *actor.Process, r retry) error {
	if r.child == nil {
		s.advance(p)
	} else if r.child.state == restarting && s.ending == nil && s.byID[r.child.ID] == r.child {
		s.restart(p, r.child)
	}
	return nil
}

// restart starts one child again.
func (s *supervisor) restart(p *actor.Process, c *child) bool {
	if err := s.start(p, c); err != nil {
		p.Log().Warn("a child did not restart", "child", c.ID, "reason", err)
		s.failed(p, c, err, true)
		return false
	}
	c.restarts++
	return true
}

// end begins the end of the supervisor.
func (s *supervisor) end(p *actor.Process, reason error) {
	if s.ending == nil {
		s.ending, s.top = reason, len(s.children)
		s.catchUp(p)
		s.advance(p)
	}
}

// advance does the next step of the end of the supervisor, or of the restart of those that are marked.
func (s *supervisor) advance(p *actor.Process) {
	if !s.marked && s.ending == nil {
		return
	}
	for s.top = min(s.top, len(s.children)); s.top > 0; s.top-- {
		c := s.children[s.top-1]
		if c.pid.Zero() || !c.again && s.ending == nil {
			continue
		}
		if c.state != ending {
			s.shut(p, c)
		}
		return
	}
	if s.ending != nil {
		p.Stop(s.ending)
		return
	}
	s.marked = false
	for _, c := range slices.Clone(s.children) {
		if !c.again {
			continue
		}
		if !s.restart(p, c) {
			break // failed has marked what is to be done, or the supervisor ends
		}
		c.again = false
	}
	s.catchUp(p)
}

// postpone keeps the call that is being handled until the restart of several children is over.
func postpone[In, Out any](s *supervisor, p *actor.Process, in In, handle func(*supervisor, *actor.Process, In) (Out, error)) (none Out, err error) {
	if len(s.postponed) == maxWaiting {
		return none, problem(actor.ErrMailboxFull, "%d calls wait for the restart of the children", maxWaiting)
	}
	r := p.Request()
	s.postponed = append(s.postponed, func(p *actor.Process) {
		if out, err := handle(s, p, in); err != nil {
			r.Fail(p, err)
		} else {
			actor.Reply(p, r, out)
		}
	})
	return none, actor.ErrNoReply
}

// catchUp handles the calls that were postponed, if nothing keeps them waiting any more.
func (s *supervisor) catchUp(p *actor.Process) {
	if s.marked && s.ending == nil {
		return
	}
	calls := s.postponed
	s.postponed = nil
	for _, call := range calls {
		call(p)
	}
}

// shut ends a child according to its Shutdown: by an exit or by a kill.
func (s *supervisor) shut(p *actor.Process, c *child) {
	c.state = ending
	switch c.Shutdown {
	case brutal:
		s.kill(p, c)
		return
	case infinity:
	default:
		c.timer = actor.SendAfter(p, p.PID(), c.Shutdown, tooLate{c.pid, false})
	}
	actor.Stop(p, c.pid, actor.ErrShutdown)
}

func (s *supervisor) kill(p *actor.Process, c *child) {
	actor.Kill(p, c.pid)
	c.timer = actor.SendAfter(p, p.PID(), killTimeout, tooLate{c.pid, true})
}

// tooLate reports that a child has not ended in time.
type tooLate struct {
	pid    actor.PID
	killed bool
}

func (s *supervisor) tooLate(p *actor.Process, m tooLate) error {
	c := s.byPID[m.pid]
	switch {
	case c == nil:
	case m.killed:
		logLost(p, c.ID, c.pid)
		s.left(p, c.pid, actor.ErrKilled)
	default:
		s.kill(p, c)
	}
	return nil
}

// exit is the message that the supervisor should end, or that a process ended that it is linked with, such as a child.
func (s *supervisor) exit(p *actor.Process, e actor.Exit) error {
	if !e.Linked() || e.From == p.Parent() {
		s.end(p, e.Reason)
	} else {
		s.left(p, e.From, e.Reason)
	}
	return nil
}
