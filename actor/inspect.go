package actor

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Inspector is implemented by states that can be shown: see System.Inspect.
type Inspector interface {
	// Inspect returns something to look at. It runs as a callback of the process, between two messages, and must not change
	// the state nor keep what is in it: what it returns is read by others.
	Inspect() any
}

// Info describes a process at one moment, as seen from outside.
type Info struct {
	PID       PID           `json:"pid"`
	Name      string        `json:"name,omitempty"` // that it is registered under; "" for none
	Behavior  string        `json:"behavior"`
	Parent    PID           `json:"parent"`             // the zero PID where a system started it
	Life      string        `json:"life"`               // initializing, sleeping, ready or running
	Waiting   int           `json:"waiting"`            // messages in its mailbox that count for its bound
	Bound     int           `json:"bound"`              // of its mailbox
	Overflow  string        `json:"overflow"`           // what happens to one message too many
	Traps     bool          `json:"traps"`              // exits come as messages
	Links     []PID         `json:"links,omitempty"`    // in the order of PID.Compare
	Monitors  []PID         `json:"monitors,omitempty"` // what it monitors, once for each monitor, in the same order
	Monitored int           `json:"monitored"`          // monitors of it
	Groups    []string      `json:"groups,omitempty"`   // that it is in
	Aliases   int           `json:"aliases"`
	Age       time.Duration `json:"age"` // since it was started, by the system's clock
}

// Info describes a process of this system; ErrNoProcess if there is none. It does not wait for the process, and may be called
// at any time.
func (s *System) Info(pid PID) (Info, error) {
	at := s.processes.find(pid.id)
	if at != nil && pid.home == s.home && pid.id != 0 {
		if info, ok := at.info(s, pid); ok {
			return info, nil
		}
	}
	return Info{}, problem(ErrNoProcess, s.nodeName(), "%s", pid)
}

// Processes describes all processes of this system, each as it is when the loop reaches it, in no certain order. Those that
// start meanwhile may be missing.
func (s *System) Processes() iter.Seq[Info] {
	return func(yield func(Info) bool) {
		for pid := range s.listed() {
			if info, ok := s.processes.find(pid.id).info(s, pid); ok && !yield(info) {
				return
			}
		}
	}
}

func (at *entry) info(s *System, pid PID) (Info, bool) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.id != pid.id || at.phase == terminated {
		return Info{}, false
	}
	i := Info{
		PID: pid, Behavior: at.behavior.name, Parent: at.parent, Life: at.phase.String(),
		Waiting: int(at.waiting.Load()), Bound: int(at.bound), Overflow: at.rule.String(), Traps: at.behavior.exits,
		Age: s.clock.Now().Sub(s.started) - at.started,
	}
	i.Links = slices.SortedFunc(at.links(), PID.Compare)
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
		i.Monitors = append(i.Monitors, other)
	}
	slices.SortFunc(i.Monitors, PID.Compare)
	return i, true
}

// String is the phase in the words of Info.
func (l phase) String() string {
	return [...]string{free: "free", initializing: "initializing", idle: "sleeping", ready: "ready", busy: "running", terminated: "ending"}[l]
}

// inspection is the call that Inspect makes.
type inspection struct{}

var inspectKind = &messagesOf[inspection]().k

// Inspect returns the result of the Inspect method of a process's state. It runs before the messages that wait in the mailbox.
// It waits as a call does: until ctx ends, or for CallTimeout if ctx has no deadline. ErrNotHandled if the state has no
// Inspect; ErrPanic if it panicked, which does not end the process.
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
	i, ok := p.entry.state.(Inspector)
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
func (s *System) listed() func(yield func(PID) bool) {
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
