package actor

import (
	"sync"
	"sync/atomic"
)

// outbox collects the messages that a callback sends to one process in a row, so that they are pushed as one envelope. The
// first message is pushed at once, so that the receiver wakes up; those that follow wait in body. They are pushed when there
// are many of them, before anything is sent to another process, before a call, and when the mailbox of the sender is empty. If
// the callback takes longer than that, the watchdog pushes them, which is why there is a mutex.
type outbox struct {
	owner *Process

	mu   sync.Mutex  // taken by the process and by the watchdog
	to   PID         // receiver of the last message; zero for none
	body body        // messages held back for it; nil for none
	held atomic.Bool // body is not nil; for the watchdog, which looks without the lock

	behavior *definition // of the receiver; nil if it is not known yet
}

// flush pushes what is held back. Its errors reach no one: Send has returned long ago. Lost counts the messages.
func (b *outbox) flush() {
	b.mu.Lock()
	defer b.mu.Unlock() // also when what writes a message ends the goroutine
	if b.body != nil {
		b.handOver(b.owner)
	}
	b.to, b.behavior = PID{}, nil
}

// flushHeld is flush, without the lock if nothing is held back.
func (b *outbox) flushHeld() {
	if b.held.Load() {
		b.flush()
	}
}

// flushFor is flush from another goroutine than the process's: it must not take part in blocking on its behalf.
func (b *outbox) flushFor() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.body != nil {
		b.handOver(nil)
	}
}

// handOver pushes what is held back. Call it with mu held.
func (b *outbox) handOver(by *Process) error {
	l := b.body.envelope()
	b.body = nil
	b.held.Store(false)
	return b.owner.system.push(b.to, l, by)
}
