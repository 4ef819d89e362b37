package wire

import (
	"context"
	"math"
	"time"
)

// calls is the table of this side's requests that the peer has not answered yet. Link.mu guards it.
//
// The lower bits of a request's id are the index of its entry in the table, the upper bits a generation that changes each time
// the entry is taken. The peer answers every request exactly once, even one that was cancelled, and the entry stays taken
// until then. So an answer that comes late is never mistaken for that of a later call with the same entry; an answer whose
// id is not that of a taken entry was sent twice and is ignored.
//
// A Call comes from a pool and is used again as soon as its owner calls Free. So the code that removes a Call from its entry,
// under the lock, must then send on Call.done exactly once, and must not touch the Call after that. The owner frees it only
// after it has received from done, or has removed the Call from the entry itself.
type calls struct {
	entries []callEntry
	free    []uint32 // indexes, last in first out: the same entries stay in the processor's caches
	taken   int
	begun   uint64 // how often an entry was taken
	limit   int    // how many the peer accepts

	firstWaiting, lastWaiting *Call // for an entry
	waitingCount              int

	timer   *time.Timer
	timerAt int64 // when it fires, in the link's time; 0 while it is not set
}

type callEntry struct {
	id   uint32
	busy bool
	call *Call // nil when the caller no longer waits
}

// lockWithEntry takes an entry for c, waits for space in the outgoing buffer, and returns with mu locked unless it returns an
// error. The entry is taken first: a call that waits for an entry must not hold up others that have one.
func (c *Call) lockWithEntry(ctx context.Context, deadline int64) error {
	l := c.link
	l.mu.Lock()
	if !l.closed && len(l.pending) < highWater && l.takeEntry(c) {
		return nil
	}
	// Something is full. This is the slow way, where a timer is cheap.
	if deadline != 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(deadline-l.now()))
		defer cancel()
	}
	l.mu.Unlock()
	if err := c.waitForEntry(ctx); err != nil {
		return err
	}
	if err := l.lockWithSpace(ctx, nil, 0); err != nil {
		c.freeEntry()
		return err
	}
	return nil
}

// freeEntry frees the entry of a request that was not sent. If the end of the link or the deadline has removed the call from
// its entry meanwhile, something was or will be sent on done: it must be received here, or the next use of the pooled call
// would take it for its answer.
func (c *Call) freeEntry() {
	l := c.link
	l.mu.Lock()
	ours := l.entries[c.id&indexMask].call == c
	if ours {
		l.release(c.id)
	}
	l.mu.Unlock()
	if !ours {
		<-c.done
	}
}

// takeEntry takes an entry for c and reports whether there was a free one. It runs under mu.
func (l *Link) takeEntry(c *Call) bool {
	var index uint32
	if n := len(l.free); n > 0 {
		index = l.free[n-1]
		l.free = l.free[:n-1]
	} else if len(l.entries) < min(l.calls.limit, indexMask+1) {
		index = uint32(len(l.entries))
		l.entries = append(l.entries, callEntry{id: index})
	} else {
		return false
	}
	s := &l.entries[index]
	if s.id += 1 << indexBits; s.id>>indexBits == 0 {
		s.id += 1 << indexBits // generation 0 is not used, so no id is 0
	}
	s.busy, s.call = true, c
	c.id, c.start, c.deadline = s.id, math.MaxInt64, 0
	l.calls.taken++
	l.calls.begun++
	return true
}

// release frees the entry of an id, or gives it to the call that has waited longest. It runs under mu.
func (l *Link) release(id uint32) {
	s := &l.entries[id&indexMask]
	s.busy, s.call = false, nil
	l.free = append(l.free, id&indexMask)
	l.calls.taken--
	if c := l.firstWaiting; c != nil {
		l.unlinkWaiting(c)
		l.takeEntry(c)
		c.done <- struct{}{}
	} else if l.calls.taken == 0 && l.leaving.draining.Load() {
		l.leaving.signal()
	}
}

// waitForEntry waits until c has an entry. As many calls may wait as may be in flight; more fail at once.
func (c *Call) waitForEntry(ctx context.Context) error {
	l := c.link
	l.mu.Lock()
	if l.closed {
		err := l.lost()
		l.mu.Unlock()
		return err
	}
	if l.takeEntry(c) {
		l.mu.Unlock()
		return nil
	}
	if l.waitingCount >= l.calls.limit {
		l.mu.Unlock()
		return l.tooManyCalls()
	}
	if l.lastWaiting == nil {
		l.firstWaiting = c
	} else {
		l.lastWaiting.next = c
	}
	l.lastWaiting, c.waiting = c, true
	l.waitingCount++
	l.mu.Unlock()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
	case <-l.done:
	}
	l.mu.Lock()
	waiting := c.waiting
	if waiting {
		l.unlinkWaiting(c)
	}
	l.mu.Unlock()
	if !waiting { // it got an entry at the same time
		<-c.done
		c.freeEntry()
	}
	if err := l.Err(); err != nil {
		return &LostError{Node: l.peer.Node, Err: err}
	}
	return ctx.Err()
}

// unlinkWaiting removes c from the calls that wait for an entry. It runs under mu.
func (l *Link) unlinkWaiting(c *Call) {
	var before *Call
	for at := l.firstWaiting; at != c; at = at.next {
		before = at
	}
	if before == nil {
		l.firstWaiting = c.next
	} else {
		before.next = c.next
	}
	if l.lastWaiting == c {
		l.lastWaiting = before
	}
	c.next, c.waiting = nil, false
	l.waitingCount--
}

func (l *Link) tooManyCalls() *Failure {
	return &Failure{Code: codeResourceExhausted, Retryable: true, Name: NameTooManyCalls, Node: l.config.Node,
		Message: "as many calls as node " + l.peer.Node + " accepts are in flight, and as many wait"}
}

// find returns the entry that is taken for an answer's id, or nil if there is none. It runs under mu.
func (l *Link) find(id uint32) (*callEntry, error) {
	index := id & indexMask
	if int(index) >= len(l.entries) {
		return nil, protocolError("an answer to call %d, which was never made", id)
	}
	s := &l.entries[index]
	if !s.busy || s.id != id {
		return nil, nil
	}
	return s, nil
}

// cancelCall removes a call whose context has ended from its entry and sends a cancel to the peer. The entry stays taken until
// the peer answers. It returns false if the answer came first: it is then on its way through done.
func (l *Link) cancelCall(c *Call) bool {
	l.mu.Lock()
	s := &l.entries[c.id&indexMask]
	if s.id != c.id || s.call != c || l.closed {
		l.mu.Unlock()
		return false
	}
	s.call = nil
	l.append(c.id, kindCancel, 0, nil)
	l.unlockAndWrite(writeInBackground)
	return true
}

// cancelUnsent sends a cancel for a request whose deadline ended before all of it was sent: the peer starts its own clock only
// when it has the whole request, so it would wait for the rest for ever. Nothing is sent if the peer has answered.
func (l *Link) cancelUnsent(id uint32) {
	l.mu.Lock()
	if s := &l.entries[id&indexMask]; s.busy && s.id == id && !l.closed {
		l.append(id, kindCancel, 0, nil)
	}
	l.unlockAndWrite(writeInBackground)
}

// watchDeadline makes the timer fire at the call's deadline or earlier. There is one timer for all calls of a
// link: if all have the same timeout, it is set about once in that time, not once per call. It runs under mu.
func (l *Link) watchDeadline(c *Call, deadline int64) {
	c.deadline = deadline
	if deadline == 0 || l.timerAt != 0 && l.timerAt <= deadline {
		return
	}
	l.setTimer(deadline)
}

func (l *Link) setTimer(at int64) {
	l.timerAt = at
	left := max(time.Duration(at-l.now()), time.Microsecond)
	if l.calls.timer == nil {
		l.calls.timer = time.AfterFunc(left, l.expireCalls)
	} else {
		l.calls.timer.Reset(left)
	}
}

// expireCalls ends the calls whose deadline is over, and sets the timer for the next one. Their entries stay taken until the
// peer answers.
func (l *Link) expireCalls() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timerAt = 0
	if l.closed {
		return
	}
	now, next := l.now(), int64(0)
	for i := range l.entries {
		c := l.entries[i].call
		if c == nil || c.deadline == 0 {
			continue
		}
		if c.deadline <= now {
			l.entries[i].call = nil
			c.err = context.DeadlineExceeded
			c.done <- struct{}{}
		} else if next == 0 || c.deadline < next {
			next = c.deadline
		}
	}
	if next != 0 {
		l.setTimer(next)
	}
}

// takeAllCalls removes all calls from their entries when the link has ended, and sets their errors. It runs under mu. The
// caller then sends on each call's done, without the lock.
func (l *Link) takeAllCalls() []*Call {
	var all []*Call
	for i := range l.entries {
		if c := l.entries[i].call; c != nil {
			l.entries[i].call = nil
			c.err = &LostError{Sent: c.start < l.bytesTaken, Node: l.peer.Node, Err: l.err}
			all = append(all, c)
		}
	}
	if l.calls.timer != nil {
		l.calls.timer.Stop()
	}
	return all
}
