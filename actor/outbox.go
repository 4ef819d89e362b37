package actor

import (
	"sync"
	"sync/atomic"
)

// outbox holds back what a callback sends to one process in a row, so that it is handed over in one piece: the first
// message goes at once, so that its receiver wakes up, those that follow go together. They go when there are many, before
// anything is sent to another process, before a call, and when the process has handled what lies in its mailbox; where a
// callback takes longer, the watch sees to it.
type outbox struct {
	owner *Process

	mu   sync.Mutex  // the owner's, and the watch's
	to   PID         // of the last message; zero for none
	body body        // what is held back for it; nil for nothing
	held atomic.Bool // whether body is set, for those who look without the lock
}

// flush hands over what is held back. That it is not delivered is nobody's error any more: it is a dead letter.
func (b *outbox) flush() {
	b.mu.Lock()
	if b.body != nil {
		b.handOver(b.owner)
	}
	b.to = PID{}
	b.mu.Unlock()
}

// flushHeld is flush where something is held back.
func (b *outbox) flushHeld() {
	if b.held.Load() {
		b.flush()
	}
}

// flushFor is flush by somebody else than the owner, who stays in a callback.
func (b *outbox) flushFor() {
	b.mu.Lock()
	if b.body != nil {
		b.handOver(nil)
	}
	b.mu.Unlock()
}

// handOver runs under mu.
func (b *outbox) handOver(by *Process) error {
	l := b.body.letter()
	b.body = nil
	b.held.Store(false)
	return b.owner.system.push(b.to, l, by)
}
