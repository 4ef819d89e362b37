package actor

import (
	"sync"
	"time"

	seam "github.com/sabir-go/sabir/actor/internal/stepping"
)

// callTimeout bounds a call whose context has no deadline.
const callTimeout = 5 * time.Second

// deadlines holds the calls that have no deadline of their own. They all wait equally long, so the list is in the order in
// which they expire and one timer is enough.
type deadlines struct {
	clock seam.Clock

	mu          sync.Mutex
	first, last *deadline
	armed       bool
}

type deadline struct {
	of         expiring
	turn       uint64
	at         time.Time
	prev, next *deadline
	listed     bool
}

type expiring interface{ expired(turn uint64) }

func (d *deadlines) add(e *deadline, turn uint64) {
	at := d.clock.Now().Add(callTimeout)
	d.mu.Lock()
	e.turn, e.at, e.listed = turn, at, true
	e.prev, e.next = d.last, nil
	if d.last == nil {
		d.first = e
	} else {
		d.last.next = e
	}
	d.last = e
	arm := !d.armed
	d.armed = true
	d.mu.Unlock()
	if arm {
		d.clock.AfterFunc(callTimeout, d.expire)
	}
}

func (d *deadlines) remove(e *deadline) {
	d.mu.Lock()
	d.unlink(e)
	d.mu.Unlock()
}

func (d *deadlines) unlink(e *deadline) {
	if !e.listed {
		return
	}
	if e.prev == nil {
		d.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		d.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next, e.listed = nil, nil, false
}

func (d *deadlines) expire() {
	for {
		now := d.clock.Now()
		d.mu.Lock()
		e := d.first
		if e == nil {
			d.armed = false
			d.mu.Unlock()
			return
		}
		if left := e.at.Sub(now); left > 0 {
			d.mu.Unlock()
			d.clock.AfterFunc(left, d.expire)
			return
		}
		of, turn := e.of, e.turn
		d.unlink(e)
		d.mu.Unlock()
		of.expired(turn)
	}
}
