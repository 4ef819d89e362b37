package wire

import (
	"context"
	"math"
	"time"
)

// calls is the requests of this side that were not answered yet. Link.mu guards it.
//
// A request's id is the index of its slot, and above that the slot's generation, which changes each time the slot is taken.
// The peer answers every request exactly once, also one that was given up: the slot stays taken until then. So an answer
// can never be taken for that of a later call, however late it is; an answer whose id is not that of a taken slot was
// sent twice, and is ignored.
type calls struct {
	slots []slot
	free  []uint32 // indexes, last in first out: the same few stay warm
	taken int
	limit int // how many the peer accepts

	firstWaiting, lastWaiting *Call // for a slot
	waitingCount              int

	timer   *time.Timer
	timerAt int64 // when it rings, in the link's time; 0 where it is not set
}

type slot struct {
	id   uint32
	busy bool
	call *Call // nil when it was given up
}

// lockWithSlot locks mu, with room in the outgoing buffer and a slot for c.
func (c *Call) lockWithSlot(ctx context.Context, deadline int64) error {
	l := c.link
	l.mu.Lock()
	if !l.closed && len(l.pending) < highWater && l.takeSlot(c) {
		return nil
	}
	// Something is full. This is the slow way, where a timer is cheap.
	if deadline != 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(deadline-l.now()))
		defer cancel()
	}
	l.mu.Unlock()
	if err := c.waitForSlot(ctx); err != nil {
		return err
	}
	if err := l.lockWithRoom(ctx, nil); err != nil {
		c.giveUpSlot()
		return err
	}
	return nil
}

// giveUpSlot frees the slot of a request that was not sent. It leaves done empty: who takes a call out of its slot sends on
// it, and the call is used again.
func (c *Call) giveUpSlot() {
	l := c.link
	l.mu.Lock()
	ours := l.slots[c.id&indexMask].call == c
	if ours {
		l.release(c.id)
	}
	l.mu.Unlock()
	if !ours {
		<-c.done
	}
}

// takeSlot gives c a slot and tells whether there was one. It runs under mu.
func (l *Link) takeSlot(c *Call) bool {
	var index uint32
	if n := len(l.free); n > 0 {
		index = l.free[n-1]
		l.free = l.free[:n-1]
	} else if len(l.slots) < min(l.calls.limit, indexMask+1) {
		index = uint32(len(l.slots))
		l.slots = append(l.slots, slot{id: index})
	} else {
		return false
	}
	s := &l.slots[index]
	if s.id += 1 << indexBits; s.id>>indexBits == 0 {
		s.id += 1 << indexBits // generation 0 is not used, so no id is 0
	}
	s.busy, s.call = true, c
	c.id, c.start, c.deadline = s.id, math.MaxInt64, 0
	l.calls.taken++
	return true
}

// release frees the slot of an id, or gives it to the call that waits longest. It runs under mu.
func (l *Link) release(id uint32) {
	s := &l.slots[id&indexMask]
	s.busy, s.call = false, nil
	l.free = append(l.free, id&indexMask)
	l.calls.taken--
	if c := l.firstWaiting; c != nil {
		l.unlinkWaiting(c)
		l.takeSlot(c)
		c.done <- struct{}{}
	} else if l.calls.taken == 0 && l.leaving.draining.Load() {
		l.leaving.signal()
	}
}

// waitForSlot waits until c has a slot. As many calls may wait as may be in flight; more fail at once.
func (c *Call) waitForSlot(ctx context.Context) error {
	l := c.link
	l.mu.Lock()
	if l.closed {
		err := l.lost()
		l.mu.Unlock()
		return err
	}
	if l.takeSlot(c) {
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
	if !waiting { // it was given a slot at the same time
		<-c.done
		c.giveUpSlot()
	}
	if err := l.Err(); err != nil {
		return &LostError{Node: l.peer.Node, Err: err}
	}
	return ctx.Err()
}

// unlinkWaiting takes c out of those that wait for a slot. It runs under mu.
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

// find is the slot of an answer's id; nil where none is taken for it. It runs under mu.
func (l *Link) find(id uint32) (*slot, error) {
	index := id & indexMask
	if int(index) >= len(l.slots) {
		return nil, protocolError("an answer to call %d, which was never made", id)
	}
	s := &l.slots[index]
	if !s.busy || s.id != id {
		return nil, nil
	}
	return s, nil
}

// abandon gives up a call whose context has ended, and tells the peer. It is false where the answer has come first.
func (l *Link) abandon(c *Call) bool {
	l.mu.Lock()
	s := &l.slots[c.id&indexMask]
	if s.id != c.id || s.call != c || l.closed {
		l.mu.Unlock()
		return false
	}
	s.call = nil
	l.append(c.id, kindCancel, 0, nil)
	l.unlockAndWrite(byWriter)
	return true
}

// giveUpRest gives up a request that was not sent completely, where its deadline ended it: the peer does not count the time
// of what it does not have yet. Where it was answered there is nothing to do.
func (l *Link) giveUpRest(id uint32, begun bool) {
	l.mu.Lock()
	s := &l.slots[id&indexMask]
	if waits := s.busy && s.id == id && !l.closed; waits && begun {
		l.append(id, kindCancel, 0, nil)
	} else if waits {
		l.release(id)
	}
	l.unlockAndWrite(byWriter)
}

// watchDeadline sees to it that the timer rings at the call's deadline or before. There is one timer for all calls of a
// link: where they have the same timeout it is set about once in that time, not once per call. It runs under mu.
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
		l.calls.timer = time.AfterFunc(left, l.ring)
	} else {
		l.calls.timer.Reset(left)
	}
}

// ring ends the calls whose deadline is over, and sets the timer for the next.
func (l *Link) ring() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timerAt = 0
	if l.closed {
		return
	}
	now, next := l.now(), int64(0)
	for i := range l.slots {
		c := l.slots[i].call
		if c == nil || c.deadline == 0 {
			continue
		}
		if c.deadline <= now {
			l.slots[i].call = nil
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

// takeAllCalls takes out all calls in flight and sets their error. It runs under mu, when the link has ended.
func (l *Link) takeAllCalls() []*Call {
	var all []*Call
	for i := range l.slots {
		if c := l.slots[i].call; c != nil {
			l.slots[i].call = nil
			c.err = &LostError{Sent: c.start < l.takenOut, Node: l.peer.Node, Err: l.err}
			all = append(all, c)
		}
	}
	if l.calls.timer != nil {
		l.calls.timer.Stop()
	}
	return all
}
