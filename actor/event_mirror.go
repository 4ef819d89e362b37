package actor

import (
	"errors"
	"slices"

	"github.com/sabir-go/sabir"
)

// eventsName is the name of the process by which other nodes subscribe to the topics of this one.
const eventsName = "$topics"

// mirror represents a topic of another node on this one. It is the only subscriber on behalf of this node: a process that gets
// each value once and publishes it here, in a hub of its own. It starts with the first subscriber here and ends with the last.
type mirror struct {
	system *System
	name   Name
	pid    PID

	// nil until the other node has described the topic
	hub     *hub            // nil until the other node has sent its type
	waiting []*subscription // until then
	count   int
}

func (t *eventTable) joinMirror(s *System, sub *subscription) error {
	t.mu.Lock()
	m := t.mirrors[sub.name]
	if m == nil {
		m = &mirror{system: s, name: sub.name}
		var err error
		if m.pid, err = startProcess(s, mirrorBehavior, m, nil); err != nil {
			t.mu.Unlock()
			return err
		}
		if t.mirrors == nil {
			t.mirrors = make(map[Name]*mirror)
		}
		t.mirrors[sub.name] = m
		defer Send(s, m.pid, mirrorBegins{})
	}
	sub.to = m
	m.count++
	hub, last := m.hub, false
	if hub == nil {
		m.waiting = append(m.waiting, sub)
	} else {
		last = m.admit(sub)
	}
	t.mu.Unlock()
	if last {
		m.end(hub)
	}
	return nil
}

// join does nothing: joinMirror has joined already.
func (m *mirror) join(*subscription) error { return nil } // joinMirror does it

// admit gives a subscriber to the hub. If the hub refuses it, the subscriber is notified, and last reports whether it was the
// only one. Call it with the table's mu held, so that a subscriber cannot leave the hub before it has joined.
func (m *mirror) admit(sub *subscription) (last bool) {
	err := m.hub.join(sub)
	if err == nil {
		return false
	}
	sub.end(m.system, PID{}, err)
	sub.refused = true
	return m.removeSubscriber()
}

// removeSubscriber counts one subscriber less, and removes the mirror from the table after the last. Call it with the table's
// mu held.
func (m *mirror) removeSubscriber() (last bool) {
	t := &m.system.events
	m.count--
	last = m.count == 0 && t.mirrors[m.name] == m
	if last {
		delete(t.mirrors, m.name)
	}
	return last
}

// end ends a mirror without subscribers.
func (m *mirror) end(hub *hub) {
	_ = m.system.Kill(m.pid) // which the other node monitors
	if hub != nil {
		hub.end(ErrNormal)
	}
}

// end notifies one subscriber of the end of its topic, even if its mailbox is full.
func (sub *subscription) end(s *System, producer PID, reason error) {
	var ready readyList
	ready.notify(s, sub, sub.over(producer, reason))
	ready.flush(s)
}

func (m *mirror) leave(sub *subscription) {
	t := &m.system.events
	t.mu.Lock()
	hub := m.hub
	m.waiting = slices.DeleteFunc(m.waiting, func(other *subscription) bool { return other == sub })
	last := !sub.refused && m.removeSubscriber()
	t.mu.Unlock()
	if hub != nil {
		hub.leave(sub)
	}
	if last {
		m.end(hub)
	}
}

// attach gives the waiting subscribers to the hub.
func (m *mirror) attach(hub *hub) {
	t := &m.system.events
	t.mu.Lock()
	m.hub = hub
	last := false
	for _, sub := range m.waiting {
		last = m.admit(sub) || last
	}
	m.waiting = nil
	t.mu.Unlock()
	if last {
		m.end(hub)
	}
}

// over ends the mirror and notifies all its subscribers.
func (m *mirror) over(reason error) {
	t := &m.system.events
	t.mu.Lock()
	if t.mirrors[m.name] == m {
		delete(t.mirrors, m.name)
	}
	hub, waiting := m.hub, m.waiting
	m.waiting = nil
	t.mu.Unlock()
	for _, sub := range waiting {
		sub.end(m.system, PID{}, reason)
	}
	if hub != nil {
		hub.end(reason)
	}
}

// The messages between a mirror and the producer's node.
type (
	mirrorBegins struct{}

	eventJoin struct{ Event string }

	eventAccepted struct {
		Type     string // of the values, as in kind
		Keep     int
		Producer PID
		Keeper   PID // the process that looks after mirrors there
	}

	eventOver struct {
		Code          sabir.Code
		Name, Message string
	}
)

// mirrorProcess is the process of a mirror.
type mirrorProcess struct{ *mirror }

var mirrorBehavior = internalProcess(Define("topic-mirror", (*mirrorProcess).Init,
	OnMessage((*mirrorProcess).Begin), OnMessage((*mirrorProcess).Over), OnMessage((*mirrorProcess).Down), Handler[mirrorProcess](mirrored{})))

func (m *mirrorProcess) Init(p *Process, of *mirror) error { m.mirror = of; return nil }

func (m *mirrorProcess) Begin(p *Process, _ mirrorBegins) error {
	accepted, err := Call[eventAccepted](p.Context(), p, Name{Name: eventsName, Node: m.name.Node}, eventJoin{m.name.Name})
	if err != nil {
		if errors.Is(err, ErrNoProcess) { // which comes with the node's first topic
			err = problem(errNoTopic, m.name.Node, "%q", m.name.Name)
		}
		m.over(err)
		return ErrNormal
	}
	known, ok := registered.Load(accepted.Type)
	if !ok {
		m.over(problem(ErrNotHandled, m.system.nodeName(), "nobody here handles %s, which the topic %s sends", accepted.Type, m.name))
		return ErrNormal
	}
	p.Monitor(accepted.Keeper)
	config := TopicConfig{Keep: min(max(accepted.Keep, 0), maxKept), Backlog: defaultBacklog}
	m.attach(newHub(p.system, known.(typedKind), m.name, accepted.Producer, config))
	return nil
}

func (m *mirrorProcess) Over(p *Process, over eventOver) error {
	m.over(over.reason())
	return ErrNormal
}

func (m *mirrorProcess) Down(p *Process, down Down) error {
	m.over(down.Reason)
	return ErrNormal
}

// mirrored handles values of any type.
type mirrored struct{}

func (mirrored) of(*mirrorProcess)          {}
func (mirrored) handlerEntry() handlerEntry { return handlerEntry{} }

func (mirrored) handle(p *Process, l *envelope) error {
	hub := p.entry.state.(*mirrorProcess).mirror.hub // set by this process
	from := int(l.at)
	l.at = l.count
	if hub != nil {
		hub.publishAll(p, l.body, from)
	}
	return nil
}

// publishAll publishes what came from the producer's node. It waits while the relays here have a full backlog.
func (h *hub) publishAll(by *Process, body body, from int) {
	for i := from; ; {
		err := h.beginPublish(by)
		switch {
		case errors.Is(err, ErrMailboxFull):
		case err != nil: // the topic has ended
			return
		case !h.next.set(body, i): // that was the last, or it is not of this topic
			h.mu.Unlock()
			return
		default:
			h.finishPublish(by)
			i++
		}
	}
}

// joinRemote adds the mirror on another node.
func (h *hub) joinRemote(mirror PID) (eventAccepted, error) {
	h.mu.Lock()
	if h.over {
		h.mu.Unlock()
		return eventAccepted{}, problem(errNoTopic, h.system.nodeName(), "%q has ended", h.name.Name)
	}
	r, err := h.newRelay()
	if err != nil {
		h.mu.Unlock()
		return eventAccepted{}, err
	}
	r.mirror = &mirror
	if h.remote == nil {
		h.remote = make(map[PID]*relay)
	}
	h.remote[mirror] = r
	r.changes = append(r.changes, change{at: r.pending.len(), kept: h.kept.shared()})
	h.unlockAndWake(r, nil)
	return eventAccepted{Type: h.of.kind().name, Keep: h.config.Keep, Producer: h.producer}, nil
}

func (h *hub) leaveRemote(mirror PID) {
	h.mu.Lock()
	r := h.remote[mirror]
	delete(h.remote, mirror)
	if r == nil || h.over {
		h.mu.Unlock()
		return
	}
	r.changes = append(r.changes, change{at: r.pending.len(), leaves: true})
	h.unlockAndWake(r, nil)
}

func overOf(reason error) eventOver {
	e := sabir.AsError(reason)
	return eventOver{e.Code, e.Name, e.Message}
}

func (o eventOver) reason() error {
	if e := reasons[o.Name]; e != nil && e.Code == o.Code {
		return e
	}
	return &sabir.Error{Code: o.Code, Name: o.Name, Message: o.Message} // not NewError, which panics with a code that a peer made up
}

// eventKeeper is the process through which other nodes subscribe to the topics of this one.
type eventKeeper struct{ mirrors map[MonitorRef]keptMirror }

type keptMirror struct {
	of  *hub
	pid PID
}

var eventKeeperBehavior = internalProcess(Define[eventKeeper, struct{}]("topics", nil, OnCall((*eventKeeper).Join), OnMessage((*eventKeeper).Down)))

func (k *eventKeeper) Join(p *Process, join eventJoin) (eventAccepted, error) {
	h, err := p.system.events.find(p.system, join.Event)
	if err != nil {
		return eventAccepted{}, err
	}
	mirror := p.Sender()
	accepted, err := h.joinRemote(mirror)
	if err != nil {
		return eventAccepted{}, err
	}
	if k.mirrors == nil {
		k.mirrors = make(map[MonitorRef]keptMirror)
	}
	k.mirrors[p.Monitor(mirror)] = keptMirror{h, mirror}
	accepted.Keeper = p.pid
	return accepted, nil
}

func (k *eventKeeper) Down(p *Process, down Down) error {
	kept := k.mirrors[down.Ref]
	delete(k.mirrors, down.Ref)
	if kept.of != nil {
		kept.of.leaveRemote(kept.pid)
	}
	return nil
}

// serve starts the keeper with the node's first topic: before, there is nothing to subscribe to.
func (t *eventTable) serve(s *System) error {
	if s.node == nil {
		return nil
	}
	if _, ok := s.Whereis(eventsName); ok {
		return nil
	}
	_, err := Spawn(s, eventKeeperBehavior, struct{}{}, SpawnConfig{Name: eventsName})
	if errors.Is(err, ErrNameTaken) {
		return nil
	}
	return err
}
