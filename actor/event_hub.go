package actor

import (
	"runtime"
	"sync"
	"time"
)

// hub is an event on one node: its producer's, or one that has subscribers. It gives what is published to relays, which hand it
// out to the subscribers.
type hub[T any] struct {
	system   *System
	of       *messages[T]
	name     Name
	producer PID
	options  eventOptions

	mu     sync.Mutex
	kept   []T // what is in it is never overwritten, so newcomers share it
	relays []*relay[T]
	away   map[PID]*relay[T] // one for each node that has subscribers, by its mirror
	over   bool
	room   chan struct{} // publishers wait for it; nil if none does
}

func newHub[T any](s *System, name Name, producer PID, o eventOptions) *hub[T] {
	h := &hub[T]{system: s, of: messagesOf[T](), name: name, producer: producer, options: o}
	h.relays = make([]*relay[T], max(runtime.GOMAXPROCS(0), 1))
	return h
}

// neighbours is how many slots in a row have the same relay: their memory lies together, and few processes need few relays.
const neighbours = 4096

func (h *hub[T]) join(sub *subscription) error {
	if d := sub.behavior; d.find(&h.of.k, false) == nil && d.any == nil {
		return problem(ErrNotHandled, h.system.homeName(), "behaviour %s has no handler for %s, which the event %q sends", d.name, h.of.k.name, h.name)
	}
	return h.change(sub, h.shard(sub.pid))
}

func (h *hub[T]) shard(pid PID) int { return int(uint32(pid.id)) / neighbours % len(h.relays) }

// change has a newcomer join at a relay.
func (h *hub[T]) change(sub *subscription, shard int) error {
	h.mu.Lock()
	if h.over {
		h.mu.Unlock()
		return problem(ErrNoEvent, h.system.homeName(), "%q has ended", h.name)
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
	r.changes = append(r.changes, change[T]{at: len(r.pending), sub: sub, kept: h.kept[:len(h.kept):len(h.kept)]})
	h.kick(r, nil) // it unlocks
	return nil
}

func (h *hub[T]) leave(sub *subscription) {
	h.mu.Lock()
	r := h.relays[h.shard(sub.pid)]
	if r == nil || h.over {
		h.mu.Unlock()
		return
	}
	r.changes = append(r.changes, change[T]{at: len(r.pending), sub: sub, leaves: true})
	h.kick(r, nil)
}

// newRelay runs under mu.
func (h *hub[T]) newRelay() (*relay[T], error) {
	r := &relay[T]{hub: h}
	var err error
	r.pid, err = Spawn(h.system, relayBehavior, relaying(r))
	return r, err
}

// kick wakes a relay, unless it is awake. It runs under mu and unlocks it.
func (h *hub[T]) kick(r *relay[T], by *Process) {
	wake := !r.awake
	r.awake = true
	h.mu.Unlock()
	if wake {
		h.wake(r, by)
	}
}

func (h *hub[T]) wake(r *relay[T], by *Process) {
	h.system.push(r.pid, &messagesOf[turn]().letterOf(turn{}).head, by)
}

// publish gives a value to all relays.
func (h *hub[T]) publish(by *Process, value T) error {
	h.mu.Lock()
	if h.full() {
		if err := h.waitForRoom(by); err != nil { // it unlocks on error
			return err
		}
	}
	if h.over {
		h.mu.Unlock()
		return problem(ErrNoEvent, h.system.homeName(), "%q has ended", h.name)
	}
	h.keep(value)
	var asleep [8]*relay[T]
	wake := asleep[:0]
	for _, r := range h.relays {
		if r != nil && r.add(value) {
			wake = append(wake, r)
		}
	}
	for _, r := range h.away {
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

// add runs under the hub's mu, and tells whether the relay is to be woken.
func (r *relay[T]) add(value T) bool {
	r.pending = append(r.pending, value)
	wake := !r.awake
	r.awake = true
	return wake
}

// keep remembers a value for newcomers. It runs under mu.
func (h *hub[T]) keep(value T) {
	n := h.options.keep
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

// full tells whether a relay has as much to do as may be. It runs under mu.
func (h *hub[T]) full() bool {
	for _, r := range h.relays {
		if r != nil && len(r.pending) >= h.options.backlog {
			return true
		}
	}
	for _, r := range h.away {
		if len(r.pending) >= h.options.backlog {
			return true
		}
	}
	return false
}

// waitForRoom runs under mu, which it has unlocked only if it returns an error.
func (h *hub[T]) waitForRoom(by *Process) error {
	late := time.NewTimer(SendTimeout)
	defer late.Stop()
	if by != nil {
		by.leave()
		defer by.enter()
	}
	for h.full() && !h.over {
		if h.room == nil {
			h.room = make(chan struct{})
		}
		room := h.room
		h.mu.Unlock()
		select {
		case <-room:
		case <-late.C:
			return problem(ErrMailboxFull, h.system.homeName(), "%d values of the event %q wait, and there was no room within %s", h.options.backlog, h.name, SendTimeout)
		}
		h.mu.Lock()
	}
	return nil
}

// end tells all subscribers, after what was published. The name is free before.
func (h *hub[T]) end(reason error) {
	h.system.events.remove(h.name.Name, h)
	h.mu.Lock()
	if h.over {
		h.mu.Unlock()
		return
	}
	h.over = true
	h.kept = nil
	if h.room != nil {
		close(h.room)
		h.room = nil
	}
	var wake []*relay[T]
	finish := func(r *relay[T]) {
		r.changes = append(r.changes, change[T]{at: len(r.pending), over: reason})
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
	for _, r := range h.away {
		finish(r)
	}
	h.mu.Unlock()
	for _, r := range wake {
		h.wake(r, nil)
	}
}
