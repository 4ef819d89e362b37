package actor

import (
	"runtime"
	"slices"
	"sync"
	"time"
)

// hub is a topic on one node: the producer's, or another with subscribers. It gives published values to relays, which deliver
// them to the subscribers. The values of a hub go through all relays in the same order, since both happen under mu.
type hub[T any] struct {
	system   *System
	of       *messages[T]
	name     Name
	producer PID
	config   TopicConfig

	mu             sync.Mutex
	kept           []T // never overwritten in place, so newcomers share the slice
	forwardedTypes []*relay[T]
	remote         map[PID]*relay[T] // one relay for each node with subscribers, by its mirror
	over           bool
	spaceFreed     chan struct{} // closed when a relay has taken its values; nil if no publisher waits
}

func newHub[T any](s *System, name Name, producer PID, config TopicConfig) *hub[T] {
	h := &hub[T]{system: s, of: messagesOf[T](), name: name, producer: producer, config: config}
	h.forwardedTypes = make([]*relay[T], max(runtime.GOMAXPROCS(0), 1))
	return h
}

// entriesPerRelay is the number of neighbouring entries that share a relay. Their memory is contiguous, and a few processes
// need only few relays.
const entriesPerRelay = 4096

func (h *hub[T]) join(sub *subscription) error {
	if d := sub.behavior; d.find(&h.of.k, false) == nil && d.any == nil {
		return problem(ErrNotHandled, h.system.nodeName(), "behaviour %s has no handler for %s, which the topic %q sends", d.name, h.of.k.name, h.name)
	}
	return h.change(sub, h.shard(sub.pid))
}

func (h *hub[T]) shard(pid PID) int {
	return int(uint32(pid.id)) / entriesPerRelay % len(h.forwardedTypes)
}

// change adds a subscriber to a relay.
func (h *hub[T]) change(sub *subscription, shard int) error {
	h.mu.Lock()
	if h.over {
		h.mu.Unlock()
		return problem(ErrNoTopic, h.system.nodeName(), "%q has ended", h.name)
	}
	r := h.forwardedTypes[shard]
	if r == nil {
		var err error
		if r, err = h.newRelay(); err != nil {
			h.mu.Unlock()
			return err
		}
		h.forwardedTypes[shard] = r
	}
	r.changes = append(r.changes, change[T]{at: len(r.pending), sub: sub, kept: slices.Clip(h.kept)})
	h.unlockAndWake(r, nil) // it unlocks
	return nil
}

func (h *hub[T]) leave(sub *subscription) {
	h.mu.Lock()
	r := h.forwardedTypes[h.shard(sub.pid)]
	if r == nil || h.over {
		h.mu.Unlock()
		return
	}
	r.changes = append(r.changes, change[T]{at: len(r.pending), sub: sub, leaves: true})
	h.unlockAndWake(r, nil)
}

// newRelay starts a relay. Call it with mu held.
func (h *hub[T]) newRelay() (*relay[T], error) {
	r := &relay[T]{hub: h}
	var err error
	r.pid, err = startProcess(h.system, relayBehavior, relaying(r), nil)
	return r, err
}

// unlockAndWake unlocks mu and wakes a relay that is not awake.
func (h *hub[T]) unlockAndWake(r *relay[T], by *Process) {
	wake := !r.awake
	r.awake = true
	h.mu.Unlock()
	if wake {
		h.wake(r, by)
	}
}

func (h *hub[T]) wake(r *relay[T], by *Process) {
	h.system.push(r.pid, &messagesOf[wakeRelay]().envelopeOf(wakeRelay{}).head, by)
}

// publish gives a value to all relays.
func (h *hub[T]) publish(by *Process, value T) error {
	h.mu.Lock()
	if h.full() {
		if err := h.waitForSpace(by); err != nil { // it unlocks on error
			return err
		}
	}
	if h.over {
		h.mu.Unlock()
		return problem(ErrNoTopic, h.system.nodeName(), "%q has ended", h.name)
	}
	h.keep(value)
	var asleep [8]*relay[T]
	wake := asleep[:0]
	for _, r := range h.forwardedTypes {
		if r != nil && r.add(value) {
			wake = append(wake, r)
		}
	}
	for _, r := range h.remote {
		if r.add(value) {
			wake = append(wake, r)
		}
	}
	h.mu.Unlock()
	for _, r := range wake {
		h.wake(r, by)
	}
	return nil
}

// add appends a value and reports whether the caller has to wake the relay. Call it with the hub's mu held.
func (r *relay[T]) add(value T) bool {
	r.pending = append(r.pending, value)
	wake := !r.awake
	r.awake = true
	return wake
}

// keep remembers a value for newcomers. Call it with mu held.
func (h *hub[T]) keep(value T) {
	n := h.config.Keep
	if n == 0 {
		return
	}
	if len(h.kept) == cap(h.kept) { // every n values, or every 64
		last := h.kept[max(0, len(h.kept)-n+1):]
		h.kept = append(make([]T, 0, n+max(n, 64)), last...)
	}
	h.kept = append(h.kept, value)
	if len(h.kept) > n {
		h.kept = h.kept[1:]
	}
}

// full reports whether a relay has a full backlog. Call it with mu held.
func (h *hub[T]) full() bool {
	for _, r := range h.forwardedTypes {
		if r != nil && len(r.pending) >= h.config.Backlog {
			return true
		}
	}
	for _, r := range h.remote {
		if len(r.pending) >= h.config.Backlog {
			return true
		}
	}
	return false
}

// waitForSpace waits until no relay has a full backlog. Call it with mu held; it returns with mu held unless it returns an
// error.
func (h *hub[T]) waitForSpace(by *Process) error {
	late := time.NewTimer(SendTimeout)
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
			return problem(ErrMailboxFull, h.system.nodeName(), "%d values of the topic %q wait, and there was no room within %s", h.config.Backlog, h.name, SendTimeout)
		}
		h.mu.Lock()
	}
	return nil
}

// end ends the topic: subscribers are notified after the last value. The name is free before.
func (h *hub[T]) end(reason error) {
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
	var wake []*relay[T]
	finish := func(r *relay[T]) {
		r.changes = append(r.changes, change[T]{at: len(r.pending), over: reason})
		if !r.awake {
			r.awake = true
			wake = append(wake, r)
		}
	}
	for _, r := range h.forwardedTypes {
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
