package actor

import (
	"fmt"

	"github.com/sabir-go/sabir"
)

// Topic is the right to publish values of type T to subscribers on any node: NewTopic returns it, and the process may give it
// to others on its node. The topic ends with the process that made it, or by End.
type Topic[T any] struct{ hub *hub }

var (
	// errNoTopic: no topic of this name is registered on that node, or no longer.
	errNoTopic = sabir.NewError(sabir.CodeNotFound, "NoTopic", "no such topic")
	// errSubscribed: the process has subscribed to the topic already.
	errSubscribed = sabir.NewError(sabir.CodeAlreadyExists, "Subscribed", "the process has subscribed to this topic already")
)

// TopicConfig has the settings of a topic.
type TopicConfig struct {
	Keep    int // values that the topic remembers: newcomers get them first. Default: 0; 1 Mi at most
	Backlog int // published values that may wait until they are handed out; Publish then waits. Default: 16 Ki
}

const (
	maxKept        = 1 << 20
	defaultBacklog = 16 << 10
)

// NewTopic registers a topic under a name that is unique among the topics of its node. ErrNameTaken where there is one
// already. It ends when this process does.
//
//	prices, err := actor.NewTopic[Price](p, "prices", actor.TopicConfig{Keep: 10})
func NewTopic[T any](p *Process, name string, config TopicConfig) (*Topic[T], error) {
	if name == "" || len(name) > maxName {
		return nil, fmt.Errorf("actor: the name of a topic has 1 to %d bytes", maxName)
	}
	if config.Keep < 0 || config.Keep > maxKept || config.Backlog < 0 {
		return nil, fmt.Errorf("actor: topic %q: Keep is %d, not 0 to %d, or Backlog is %d, less than 0", name, config.Keep, maxKept, config.Backlog)
	}
	if config.Backlog == 0 {
		config.Backlog = defaultBacklog
	}
	h := newHub(p.system, messagesOf[T](), Name{Name: name}, p.pid, config)
	if err := p.system.events.serve(p.system); err != nil {
		return nil, err
	}
	if err := p.system.events.add(p.system, name, h); err != nil {
		return nil, err
	}
	p.entry.mu.Lock()
	e := p.entry.ensureRare().eventState()
	e.owned = append(e.owned, h)
	p.entry.mu.Unlock()
	return &Topic[T]{h}, nil
}

// Publish sends a value to all subscribers and does not wait until they have it. Each gets all values in the order of the calls
// of Publish, with the producer as sender, with normal priority. A subscriber whose mailbox is full loses the value (Stats
// counts it; DropOldest loses an older message instead) and holds up no one, even if its rule is Wait.
//
// Publish waits while Backlog values have not been delivered yet, 5 s at most; then no subscriber gets the value, and
// the error is ErrMailboxFull. NoTopic after the topic's end.
func (e *Topic[T]) Publish(from Sender, value T) error {
	h, by := e.hub, from.process()
	if err := h.beginPublish(by); err != nil {
		return err
	}
	next := h.next.(*topicValuesOf[T])
	next.items = append(next.items[:0], value)
	h.finishPublish(by)
	return nil
}

// End ends the topic: subscribers get ErrNormal, and the name is free.
func (e *Topic[T]) End() { e.hub.end(ErrNormal) }

// Name returns the topic's name on its node.
func (e *Topic[T]) Name() string { return e.hub.name.Name }

// Subscribe subscribes this process to a topic, of this node where topic.Node is "". Its values come as messages of their
// type: first those that the topic has kept, then all later ones, each once and in order. When the topic ends, an Exit with
// Topic set comes after the last value, which ends the process as that of a link does: not if it has a handler for Exit, or
// the reason is ErrNormal.
//
// NoTopic where this node has no such topic, ErrNotHandled where the behaviour has no handler for its values, Subscribed where this process has subscribed to it already.
// Of a topic on another node that shows later, by an Exit.
func (p *Process) Subscribe(topic Name) error {
	_, err := p.subscribe(topic, true)
	return err
}

// SubscribeMonitored is Subscribe, but the end of the topic comes as a Down, after all values that were published before. Its Name is
// topic, its PID that of the producer, zero where there was none, and its Reason that of the producer's end, ErrNormal after End, NoTopic
// where there was no such topic, or ErrNoConnection when its node was lost.
func (p *Process) SubscribeMonitored(topic Name) (MonitorRef, error) {
	return p.subscribe(topic, false)
}

// Unsubscribe ends the subscription to a topic, if there is one. No Exit or Down of it comes after that; values that lie
// in the mailbox already do.
func (p *Process) Unsubscribe(topic Name) {
	name := p.system.events.key(p.system, topic)
	p.entry.mu.Lock()
	var sub *subscription
	if r := p.entry.rareState(); r != nil && r.events != nil {
		sub = r.events.take(func(s *subscription) bool { return s.name == name })
	}
	p.entry.mu.Unlock()
	if sub != nil {
		sub.to.leave(sub)
	}
}

func (p *Process) subscribe(topic Name, link bool) (MonitorRef, error) {
	s := p.system
	sub := &subscription{given: topic, name: s.events.key(s, topic), pid: p.pid, ref: MonitorRef(s.refs.Add(1)), link: link, at: -1}
	sub.behavior = p.entry.behavior
	p.entry.mu.Lock()
	e := p.entry.ensureRare().eventState()
	for _, other := range e.subs {
		if other.name == sub.name {
			p.entry.mu.Unlock()
			return 0, problem(errSubscribed, s.nodeName(), "%s", topic)
		}
	}
	e.subs = append(e.subs, sub)
	p.entry.mu.Unlock()
	if err := s.events.join(s, sub); err != nil {
		p.dropSubscription(sub)
		return 0, err
	}
	return sub.ref, nil
}

// subscription connects one process with one topic.
type subscription struct {
	given    Name // the name as the user wrote it
	name     Name // with the node, for a topic of another
	pid      PID
	ref      MonitorRef
	link     bool
	behavior *definition
	to       eventSource
	at       int  // index in its relay, -1 before; only the relay uses it
	refused  bool // by the hub of a mirror; the table's mu guards it
}

// eventSource is the source of a subscription's values: a *hub, or a *mirror.
type eventSource interface {
	join(*subscription) error
	leave(*subscription)
}

// eventState holds the topics and subscriptions of a process, and the groups that it monitors.
type eventState struct {
	owned []*hub
	subs  []*subscription

	groups []string // that it monitors
}

func (r *rareState) eventState() *eventState {
	if r.events == nil {
		r.events = &eventState{}
	}
	return r.events
}

// take removes a subscription; nil where there is none.
func (e *eventState) take(is func(*subscription) bool) *subscription {
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
func (e *eventState) ended(s *System, pid PID, reason error) {
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

// dropSubscription removes a subscription and reports whether the process still had it.
func (p *Process) dropSubscription(sub *subscription) bool {
	p.entry.mu.Lock()
	defer p.entry.mu.Unlock()
	r := p.entry.rareState()
	return r != nil && r.events != nil && r.events.take(func(s *subscription) bool { return s == sub }) != nil
}

// over makes the envelope that reports the end of the topic.
func (sub *subscription) over(producer PID, reason error) *envelope {
	if sub.link {
		l := exitEnvelope(Exit{From: producer, Reason: reason, Topic: sub.given, of: sub})
		l.priority = PriorityNormal // after the values
		return l
	}
	l := &messagesOf[Down]().envelopeOf(Down{Name: sub.given, Ref: sub.ref, PID: producer, Reason: reason, of: sub}).head
	l.from = producer
	return l
}
