package actor

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Inspector is implemented by states that can be shown to who asks, see System.Inspect.
type Inspector interface {
	// Inspect returns something to look at. It runs as a callback of the process, between two messages, and must not change
	// the state nor keep what is in it: what it returns is read by others.
	Inspect() any
}

// Info is what can be said of a process from outside, at one moment.
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

// Info tells about a process of this system; ErrNoProcess where there is none. It does not wait for the process, and may be
// called at any time.
func (s *System) Info(pid PID) (Info, error) {
	at := s.table.find(pid.id)
	if at != nil && pid.home == s.home && pid.id != 0 {
		if info, ok := at.info(s, pid); ok {
			return info, nil
		}
	}
	return Info{}, problem(ErrNoProcess, s.homeName(), "%s", pid)
}

// Processes tells about all processes of this system, each as it is when the loop comes to it, in no certain order. Those
// that start meanwhile may be missing.
func (s *System) Processes() iter.Seq[Info] {
	return func(yield func(Info) bool) {
		for pid := range s.listed() {
			if info, ok := s.table.find(pid.id).info(s, pid); ok && !yield(info) {
				return
			}
		}
	}
}

func (at *slot) info(s *System, pid PID) (Info, bool) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.id != pid.id || at.life == dying {
		return Info{}, false
	}
	i := Info{
		PID: pid, Behavior: at.behavior.name, Parent: at.parent, Life: at.life.String(),
		Waiting: int(at.waiting.Load()), Bound: int(at.bound), Overflow: at.rule.String(), Traps: at.behavior.exits,
		Age: s.clock.Now().Sub(s.begun) - at.begun,
	}
	i.Links = slices.SortedFunc(at.links(), PID.Compare)
	if r := at.rare(); r != nil {
		i.Name, i.Aliases, i.Groups = r.name, r.aliases.len(), slices.Clone(r.groups)
	}
	m := at.more
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

// String is the life in the words of Info.
func (l life) String() string {
	return [...]string{free: "free", born: "initializing", idle: "sleeping", ready: "ready", busy: "running", dying: "ending"}[l]
}

// inspection is the call that Inspect makes.
type inspection struct{}

var inspectKind = &messagesOf[inspection]().k

// Inspect asks a process of this system for what its state's Inspect returns, before what waits in its mailbox. It waits
// as a call does: until ctx ends, or for CallTimeout where ctx has no deadline. ErrNotHandled where the state has no
// Inspect; ErrPanic where that panicked, which does not end the process.
func (s *System) Inspect(ctx context.Context, pid PID) (any, error) {
	w, turn := newWaiter[any](s)
	c := messagesOf[inspection]().call(inspection{}, Request{to: w, turn: turn})
	c.head.lane = PrioritySystem
	if err := s.push(pid, &c.head, nil); err != nil {
		w.failed(turn, err)
	}
	if s.crew.stepping != nil {
		s.stepCall(ctx, nil, pid, "Inspect", func() bool { return w.waits(turn) }, func(err error) { w.failed(turn, err) })
	}
	return w.wait(ctx, s, nil, turn)
}

// inspected answers an inspection.
func (p *Process) inspected(l *letter) {
	c := l.body.(*call[inspection])
	out, err := p.inspect()
	if err != nil {
		c.request.fail(err)
	} else {
		c.request.to.answered(c.request.turn, out)
	}
	p.done(l)
}

func (p *Process) inspect() (out any, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = p.panicked("Inspect", value)
		}
	}()
	i, ok := p.slot.state.(Inspector)
	if !ok {
		return nil, problem(ErrNotHandled, p.pid.Node(), "%s %s has no Inspect", p.slot.behavior.name, p.pid)
	}
	if out = i.Inspect(); out == nil {
		return nil, fmt.Errorf("actor: Inspect of %s %s returned nothing", p.slot.behavior.name, p.pid)
	}
	return out, nil
}
