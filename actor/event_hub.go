package actor

import (
	"runtime"
	"sync"
	"time"
)

// hub is a topic on one node: the producer's, or another with subscribers. It gives published values to relays, which deliver
// them to the subscribers. The values of a hub go through all relays in the same order, since both happen under mu.
type hub struct {
	system   *System
	of       typedKind
	name     Name
	producer PID
	config   TopicConfig

	mu         sync.Mutex
	next       topicValues // the value that is being published
	kept       topicValues // the last ones, for newcomers
	relays     []*relay
	remote     map[PID]*relay // one relay for each node with subscribers, by its mirror
	over       bool
	spaceFreed chan struct{} // closed when a relay has taken its values; nil if no publisher waits
}

func newHub(s *System, of typedKind, name Name, producer PID, config TopicConfig) *hub {
	h := &hub{system: s, of: of, name: name, producer: producer, config: config, next: of.topicValues(), kept: of.topicValues()}
	h.relays = make([]*relay, max(runtime.GOMAXPROCS(0), 1))
	return h
}

// entriesPerRelay is the number of neighbouring entries that share a relay. Their memory is contiguous, and a few processes
// need only few relays.
const entriesPerRelay = 4096

func (h *hub) join(sub *subscription) error {
	if d, of := sub.behavior, h.of.kind(); d.find(of, false) == nil && d.any == nil {
		return problem(ErrNotHandled, h.system.nodeName(), "behaviour %s has no handler for %s, which the topic %q sends", d.name, of.name, h.name)
	}
	return h.change(sub, h.shard(sub.pid))
}

func (h *hub) shard(pid PID) int {
	return int(uint32(pid.id)) / entriesPerRelay % len(h.relays)
}

// change adds a subscriber to a relay.
func (h *hub) change(sub *subscription, shard int) error {
	h.mu.Lock()
	if h.over {
		h.mu.Unlock()
		return problem(errNoTopic, h.system.nodeName(), "%q has ended", h.name)
	}
	r := h.relays[shard]
	if r == nil {
		var err error
		if r, err = h.newRelay(); err != nil {
			h.mu.Unlock()
			return err
		}
		h.relays[shard] = r
	}
	r.changes = append(r.changes, change{at: r.pending.len(), sub: sub, kept: h.kept.shared()})
	h.unlockAndWake(r, nil) // it unlocks
	return nil
}

func (h *hub) leave(sub *subscription) {
	h.mu.Lock()
	r := h.relays[h.shard(sub.pid)]
	if r == nil || h.over {
		h.mu.Unlock()
		return
	}
	r.changes = append(r.changes, change{at: r.pending.len(), sub: sub, leaves: true})
	h.unlockAndWake(r, nil)
}

// newRelay starts a relay. Call it with mu held.
func (h *hub) newRelay() (*relay, error) {
	r := &relay{hub: h, pending: h.of.topicValues(), values: h.of.topicValues()}
	var err error
	r.pid, err = startProcess(h.system, relayBehavior, relaying(r), nil)
	return r, err
}

// unlockAndWake unlocks mu and wakes a relay that is not awake.
func (h *hub) unlockAndWake(r *relay, by *Process) {
	wake := !r.awake
	r.awake = true
	h.mu.Unlock()
	if wake {
		h.wake(r, by)
	}
}

func (h *hub) wake(r *relay, by *Process) {
	h.system.push(r.pid, &messagesOf[wakeRelay]().envelopeOf(wakeRelay{}).head, by)
}

// beginPublish waits for space, and locks the hub for one value: the caller has next hold it, and calls finishPublish. On an error it is not locked.
func (h *hub) beginPublish(by *Process) error {
	h.mu.Lock()
	if h.full() {
		if err := h.waitForSpace(by); err != nil { // it unlocks on error
			return err
		}
	}
	if h.over {
		h.mu.Unlock()
		return problem(errNoTopic, h.system.nodeName(), "%q has ended", h.name)
	}
	return nil
}

// finishPublish gives the value to all relays.
func (h *hub) finishPublish(by *Process) {
	if n := h.config.Keep; n > 0 {
		h.kept.keep(h.next, n)
	}
	var asleep [8]*relay
	wake := asleep[:0]
	for _, r := range h.relays {
		if r != nil && r.add(h.next) {
			wake = append(wake, r)
		}
	}
	for _, r := range h.remote {
		if r.add(h.next) {
			wake = append(wake, r)
		}
	}
	h.next.clear()
	h.mu.Unlock()
	for _, r := range wake {
		h.wake(r, by)
	}
}

// add appends a value and reports whether the caller has to wake the relay. Call it with the hub's mu held.
func (r *relay) add(value topicValues) bool {
	r.pending.add(value)
	wake := !r.awake
	r.awake = true
	return wake
}

// full reports whether a relay has a full backlog. Call it with mu held.
func (h *hub) full() bool {
	for _, r := range h.relays {
		if r != nil && r.pending.len() >= h.config.Backlog {
			return true
		}
	}
	for _, r := range h.remote {
		if r.pending.len() >= h.config.Backlog {
			return true
		}
	}
	return false
}

// waitForSpace waits until no relay has a full backlog. Call it with mu held; it returns with mu held unless it returns an
// error.
func (h *hub) waitForSpace(by *Process) error {
	late := time.NewTimer(sendTimeout)
	defer late.Stop()
	if by != nil {
		by.beginBlocking()
		defer by.endBlocking()
	}
	for h.full() && !h.over {
		if h.spaceFreed == nil {
			h.spaceFreed = make(chan struct{})
		}
		spaceFreed := h.spaceFreed
		h.mu.Unlock()
		select {
		case <-spaceFreed:
		case <-late.C:
			return problem(ErrMailboxFull, h.system.nodeName(), "%d values of the topic %q wait, and there was no room within %s", h.config.Backlog, h.name, sendTimeout)
		}
		h.mu.Lock()
	}
	return nil
}

// end ends the topic: subscribers are notified after the last value. The name is free before.
func (h *hub) end(reason error) {
	h.system.events.remove(h.name.Name, h)
	h.mu.Lock()
	if h.over {
		h.mu.Unlock()
		return
	}
	h.over = true
	h.kept = nil
	if h.spaceFreed != nil {
		close(h.spaceFreed)
		h.spaceFreed = nil
	}
	var wake []*relay
	finish := func(r *relay) {
		r.changes = append(r.changes, change{at: r.pending.len(), over: reason})
		if !r.awake {
			r.awake = true
			wake = append(wake, r)
		}
	}
	for _, r := range h.relays {
		if r != nil {
			finish(r)
		}
	}
	for _, r := range h.remote {
		finish(r)
	}
	h.mu.Unlock()
	for _, r := range wake {
		h.wake(r, nil)
	}
}
