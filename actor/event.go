package actor

import (
	"fmt"

	"github.com/sabir-go/sabir"
)

// Event is the right to publish values of type T to whoever has subscribed, on any node. Who holds it can publish: the
// process that made it with NewEvent, and whom it gives it to on the same node. It ends with that process, or by End.
type Event[T any] struct{ hub *hub[T] }

// EventDown is the word that an event has ended to a process that subscribed with MonitorEvent. All values that were published
// before came before it.
type EventDown struct {
	Event    Name // as it was given to MonitorEvent
	Ref      Ref
	Producer PID // zero where there was none
	// Reason is why the producer ended, ErrNormal after End, ErrNoEvent where there was no such event, or
	// ErrNoConnection when its node was lost.
	Reason error

	of *subscription
}

var (
	// ErrNoEvent: nobody has registered an event of this name on that node, or no more.
	ErrNoEvent = sabir.NewError(sabir.NotFound, "NoEvent", "no such event")
	// ErrSubscribed: the process has subscribed to the event already.
	ErrSubscribed = sabir.NewError(sabir.AlreadyExists, "Subscribed", "the process has subscribed to this event already")
)

// EventOption is an option of NewEvent.
type EventOption func(*eventOptions)

type eventOptions struct{ keep, backlog int }

// Keep makes an event remember its last n values: newcomers get them first. 0 without it, MaxKept at most.
func Keep(n int) EventOption { return func(o *eventOptions) { o.keep = n } }

// MaxKept bounds what Keep may ask for.
const MaxKept = 1 << 20

// Backlog bounds how many published values may wait until they are handed out; Publish then waits. DefaultBacklog without it.
func Backlog(n int) EventOption { return func(o *eventOptions) { o.backlog = n } }

// DefaultBacklog is how many published values of an event may wait where Backlog does not say otherwise.
const DefaultBacklog = 16 << 10

// NewEvent registers an event under a name that is unique among the events of its node. ErrNameTaken where there is one
// already. It ends when this process does.
//
//	prices, err := actor.NewEvent[Price](p, "prices", actor.Keep(10))
func NewEvent[T any](p *Process, name string, options ...EventOption) (*Event[T], error) {
	o := eventOptions{backlog: DefaultBacklog}
	for _, option := range options {
		option(&o)
	}
	if name == "" || len(name) > maxName {
		return nil, fmt.Errorf("actor: the name of an event has 1 to %d bytes", maxName)
	}
	if o.keep < 0 || o.keep > MaxKept || o.backlog < 1 {
		return nil, fmt.Errorf("actor: event %q: Keep(%d) must be 0 to %d, Backlog(%d) at least 1", name, o.keep, MaxKept, o.backlog)
	}
	h := newHub[T](p.system, Name{Name: name}, p.pid, o)
	if err := p.system.serveEvents(); err != nil {
		return nil, err
	}
	if err := p.system.events.add(p.system, name, h); err != nil {
		return nil, err
	}
	p.slot.mu.Lock()
	e := p.slot.rarely().eventful()
	e.owned = append(e.owned, h)
	p.slot.mu.Unlock()
	return &Event[T]{h}, nil
}

// Publish gives a value to all who have subscribed, and does not wait until they have it. Each gets all values in the order
// of the calls of Publish, from the producer as sender, in the normal lane. A subscriber whose mailbox is full loses the value
// (Lost counts it; DropOldest loses an older message instead) and holds nobody up, even if its rule is Wait.
//
// Publish waits for room, SendTimeout at most, where as many values as Backlog says have not been handed out yet; then nobody
// gets the value, and the error is ErrMailboxFull. ErrNoEvent after the event's end.
func Publish[T any](from Sender, event *Event[T], value T) error {
	return event.hub.publish(from.process(), value)
}

// End ends the event: who is subscribed is told ErrNormal, and the name is free.
func (e *Event[T]) End() { e.hub.end(ErrNormal) }

// Name is the event's name on its node.
func (e *Event[T]) Name() string { return e.hub.name.Name }

// LinkEvent subscribes this process to an event, of this node where event.Node is "". Its values come as messages of their
// type: first those that the event has kept, then all later ones, each once and in order. When the event ends, an Exit with
// Event set comes after the last value, which ends the process as that of a link does: not if it has a handler for Exit, or
// the reason is ErrNormal.
//
// ErrNoEvent where this node has no such event, ErrNotHandled where the behaviour has no handler for its values, ErrSubscribed.
// Of an event on another node that shows later, by an Exit.
func (p *Process) LinkEvent(event Name) error {
	_, err := p.subscribe(event, true)
	return err
}

// MonitorEvent is LinkEvent, but the end comes as an EventDown.
func (p *Process) MonitorEvent(event Name) (Ref, error) { return p.subscribe(event, false) }

// Unsubscribe ends the subscription to an event, if there is one. No Exit or EventDown of it comes after that; values that lie
// in the mailbox already do.
func (p *Process) Unsubscribe(event Name) {
	name := p.system.eventName(event)
	p.slot.mu.Lock()
	var sub *subscription
	if r := p.slot.rare(); r != nil && r.events != nil {
		sub = r.events.take(func(s *subscription) bool { return s.name == name })
	}
	p.slot.mu.Unlock()
	if sub != nil {
		sub.to.leave(sub)
	}
}

func (p *Process) subscribe(event Name, link bool) (Ref, error) {
	s := p.system
	sub := &subscription{given: event, name: s.eventName(event), pid: p.pid, ref: Ref(s.refs.Add(1)), link: link, at: -1}
	sub.behavior = p.slot.behavior
	p.slot.mu.Lock()
	e := p.slot.rarely().eventful()
	for _, other := range e.subs {
		if other.name == sub.name {
			p.slot.mu.Unlock()
			return 0, problem(ErrSubscribed, s.homeName(), "%s", event)
		}
	}
	e.subs = append(e.subs, sub)
	p.slot.mu.Unlock()
	if err := s.events.join(s, sub); err != nil {
		p.dropSubscription(sub)
		return 0, err
	}
	return sub.ref, nil
}

// subscription is one process's, to one event.
type subscription struct {
	given    Name // by the user
	name     Name // with the node, for an event on another
	pid      PID
	ref      Ref
	link     bool
	behavior *definition
	to       feed
	at       int  // in its relay; only that uses it
	refused  bool // by the hub of a mirror; the table's mu guards it
}

// feed is where a subscription gets its values from: a *hub[T], or a *mirror.
type feed interface {
	join(*subscription) error
	leave(*subscription)
}

// eventful is what a process has that has to do with events, and the groups that it monitors.
type eventful struct {
	owned []interface{ end(reason error) } // *hub[T]
	subs  []*subscription

	groups []string // that it monitors
}

func (r *rare) eventful() *eventful {
	if r.events == nil {
		r.events = &eventful{}
	}
	return r.events
}

// take removes a subscription; nil where there is none.
func (e *eventful) take(is func(*subscription) bool) *subscription {
	for i, sub := range e.subs {
		if is(sub) {
			last := len(e.subs) - 1
			e.subs[i] = e.subs[last]
			e.subs[last] = nil
			e.subs = e.subs[:last]
			return sub
		}
	}
	return nil
}

// ended runs after the process has ended.
func (e *eventful) ended(s *System, pid PID, reason error) {
	for _, h := range e.owned {
		h.end(reason)
	}
	for _, sub := range e.subs {
		sub.to.leave(sub)
	}
	for _, group := range e.groups {
		s.groups.unwatch(s, group, pid)
	}
}

// dropSubscription tells whether the process still had it.
func (p *Process) dropSubscription(sub *subscription) bool {
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	r := p.slot.rare()
	return r != nil && r.events != nil && r.events.take(func(s *subscription) bool { return s == sub }) != nil
}

var eventDownKind = &messagesOf[EventDown]().k

// over is the letter that tells a subscriber of the end.
func (sub *subscription) over(producer PID, reason error) *letter {
	if sub.link {
		l := exitLetter(Exit{From: producer, Reason: reason, Event: sub.given, of: sub})
		l.lane = PriorityNormal // after the values
		return l
	}
	l := &messagesOf[EventDown]().letterOf(EventDown{Event: sub.given, Ref: sub.ref, Producer: producer, Reason: reason, of: sub}).head
	l.from = producer
	return l
}
