package actor

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/sabir-go/sabir/actor/inspect"
)

// Info describes a process of this system; ErrNoProcess if there is none. It does not wait for the process, and may be called
// at any time.
func (s *System) Info(pid PID) (inspect.Info, error) {
	at := s.processes.find(pid.id)
	if at != nil && pid.home == s.home && pid.id != 0 {
		if info, ok := at.info(s, pid); ok {
			return info, nil
		}
	}
	return inspect.Info{}, problem(ErrNoProcess, s.nodeName(), "%s", pid)
}

// Processes yields all processes of this system that exist when the loop reaches them, in no certain order. Those that start
// meanwhile may be missing.
func (s *System) Processes() iter.Seq[PID] { return s.listed() }

func (at *entry) info(s *System, pid PID) (inspect.Info, bool) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.id != pid.id || at.phase == terminated {
		return inspect.Info{}, false
	}
	i := inspect.Info{
		PID: pid.String(), Behavior: at.behavior.name, Parent: pidText(at.parent), Life: at.phase.String(),
		Waiting: int(at.waiting.Load()), Bound: int(at.bound), Overflow: at.rule.String(), Traps: at.behavior.exits,
		Age: s.clock.Now().Sub(s.started) - at.started,
	}
	for other := range at.links() {
		i.Links = append(i.Links, other.String())
	}
	slices.Sort(i.Links)
	if r := at.rareState(); r != nil {
		i.Name, i.Aliases, i.Groups = r.name, r.aliases.len(), slices.Clone(r.groups)
	}
	m := at.cold
	if m == nil {
		return i, true
	}
	if m.trap != trapIfHandled {
		i.Traps = m.trap != trapOff
	}
	i.Monitored = m.watched.len()
	for _, other := range m.watches.all() {
		i.Monitors = append(i.Monitors, other.String())
	}
	slices.Sort(i.Monitors)
	return i, true
}

// String is the phase in the words of inspect.Info.
func (l phase) String() string {
	return [...]string{free: "free", initializing: "initializing", idle: "sleeping", ready: "ready", busy: "running", terminated: "ending"}[l]
}

// inspection is the call that Inspect makes.
type inspection struct{}

var inspectKind = &messagesOf[inspection]().k

// Inspect returns the result of the Inspect method of a process's state. It runs before the messages that wait in the mailbox.
// It waits as a call does: until ctx ends, or for 5 s if ctx has no deadline. ErrNotHandled if the state has no
// Inspect; sabir.ErrPanic if it panicked, which does not end the process.
func (s *System) Inspect(ctx context.Context, pid PID) (any, error) {
	w, turn := newWaiter[any](s)
	c := messagesOf[inspection]().call(inspection{}, Request{to: w, turn: turn})
	c.head.priority = PrioritySystem
	if err := s.push(pid, &c.head, nil); err != nil {
		w.failed(turn, err)
	}
	if s.scheduler.stepping != nil {
		s.scheduler.stepping.call(ctx, nil, pid, "Inspect", func() bool { return w.waits(turn) }, func(err error) { w.failed(turn, err) })
	}
	return w.wait(ctx, s, nil, turn)
}

// inspected answers an inspection.
func (p *Process) inspected(l *envelope) {
	c := l.body.(*call[inspection])
	p.current = l
	l.at++
	out, err := p.inspect(c.request)
	p.current = nil
	if err != nil {
		c.request.fail(err)
	} else {
		c.request.to.answered(c.request.turn, out)
	}
	p.discard(l)
}

// inspect runs Inspect. If that panics, the caller gets the error. If it ends its goroutine, the process ends too.
func (p *Process) inspect(call Request) (out any, err error) {
	i, ok := p.entry.state.(interface{ Inspect() any })
	if !ok {
		return nil, problem(ErrNotHandled, p.pid.Node(), "%s %s has no Inspect", p.entry.behavior.name, p.pid)
	}
	returned := false
	defer func() {
		if !returned {
			err = p.failed("Inspect", recover())
			call.fail(err)
		}
	}()
	out = i.Inspect()
	returned = true
	if out == nil {
		return nil, fmt.Errorf("actor: Inspect of %s %s returned nothing", p.entry.behavior.name, p.pid)
	}
	return out, nil
}

// listed yields the processes that exist, without those of the runtime.
func (s *System) listed() iter.Seq[PID] {
	return func(yield func(PID) bool) {
		for pid := range s.all() {
			at := s.processes.find(pid.id)
			at.mu.Lock()
			show := at.behavior == nil || !at.behavior.internalProcess
			at.mu.Unlock()
			if show && !yield(pid) {
				return
			}
		}
	}
}
