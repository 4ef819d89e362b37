package channel

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/requestid"
)

// A message that kills the process is handed out again, and with it all that the process held: what other handlers were at
// and what none had begun. Brokers count all of them alike. So an attempt counts when its handler has failed, and what was
// lost with its process is only suspected. Lost once, it is handled among the others: processes end for many reasons, and
// after one end no consumer should slow down. Lost more often, it is handled alone, when no other handler of the node runs,
// and before its handler begins a mark is kept at the broker. A mark that the next attempt finds is the proof that the
// process ended with this message and no other: that attempt counts.
//
// So the usual way of a message asks the broker nothing more, and one that is suspected costs three questions.

// toleratedLosses is the number of times a message may be lost before it is suspected.
const toleratedLosses = 1

func suspected(d *engine.Delivery) bool { return d.Lost > toleratedLosses }

// beginExclusive waits until a suspected message may be handled with no other beside it, and records at the broker that it
// is begun. When it returns true, the caller holds the handlerLock exclusively and must unlock it.
func (r *runner) beginExclusive(d *engine.Delivery) (marks []string, begun bool) {
	handlerLock := &r.broker.handlerLock
	if !handlerLock.lockExclusive(r.receiving) {
		return nil, false
	}
	marks, err := r.mark(d)
	if err != nil {
		handlerLock.unlockExclusive()
		r.log.Warn("channel: a message that may have ended its processes waits: the broker could not keep that it is begun",
			"message", d.ID, "error", err)
		sleepWithin(r.receiving, time.Second)
		return nil, false
	}
	d.Attempt += max(0, len(marks)-1) // but for the new one, each was left by a process that ended
	return marks, true
}

// markAge is the time for which records count. A process that ended right after its message was done leaves one behind.
const markAge = 24 * time.Hour

func (r *runner) begunSpec() engine.Spec {
	return engine.Spec{Name: r.spec.Name + begunSuffix, DeadLetters: true}
}

// markOf is the name in a mark's metadata under which the message's ID stands.
const markOf = "message"

// mark records at the broker that the message is begun. It returns the keys of the message's records, with those of earlier
// attempts, and removes records that are too old to count.
func (r *runner) mark(d *engine.Delivery) (keys []string, err error) {
	ctx, cancel := context.WithTimeout(r.handling, brokerTimeout)
	defer cancel()
	spec, now := r.begunSpec(), time.Now()
	head := engine.Head{ID: requestid.New(), Time: now, Metadata: map[string]string{markOf: d.ID}, Dead: &engine.Dead{Channel: r.spec.Name,
		Group: r.Group, Sequence: d.Sequence, Attempts: d.Attempt, Time: now, Node: r.node.ID(), Reason: "begun alone"}}
	begun := &engine.Outgoing{Message: engine.Message{Head: head}}
	if err := r.broker.publish(ctx, spec, []*engine.Outgoing{begun}); err != nil {
		return nil, err
	}
	list, err := r.store.DeadLetters(ctx, spec.Name, maxDeadMessages)
	if err != nil {
		return nil, err
	}
	var old []string
	for _, l := range list {
		switch {
		case now.Sub(l.Time) > markAge:
			old = append(old, l.Key)
		case l.Dead != nil && l.Dead.Group == r.Group && l.Dead.Sequence == d.Sequence && l.Metadata[markOf] == d.ID:
			keys = append(keys, l.Key)
		}
	}
	if len(old) > 0 {
		_, err = r.store.Remove(ctx, spec.Name, old...)
	}
	return keys, err
}

// unmark removes records when the result of the attempt is known. Where that fails, one attempt too many counts if the
// message comes again within a day.
func (r *runner) unmark(keys []string) {
	if len(keys) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), brokerTimeout)
	defer cancel()
	if _, err := r.store.Remove(ctx, r.begunSpec().Name, keys...); err != nil {
		r.log.Debug("channel: marks of begun messages stay", "error", err)
	}
}

// handlerLock lets the handlers of a node's consumers run together, or one of them with no other beside it. Unlike a
// sync.RWMutex it waits with a context, and a waiting exclusive handler lets others in from time to time: a handler that
// runs may wait for one that has not begun.
type handlerLock struct {
	mu        sync.Mutex
	sharers   int
	exclusive bool
	changed   chan struct{} // closed and set to nil at each change; nil while no goroutine waits for one
	turn      chan struct{} // a buffer of 1: the goroutine that has or wants the exclusive lock
}

// lockShared waits while a handler runs exclusively; false where ctx ended first.
func (f *handlerLock) lockShared(ctx context.Context) bool {
	for {
		f.mu.Lock()
		if !f.exclusive {
			f.sharers++
			f.mu.Unlock()
			return true
		}
		changed := f.change()
		f.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

func (f *handlerLock) unlockShared() {
	f.mu.Lock()
	f.sharers--
	if f.sharers == 0 {
		f.notify()
	}
	f.mu.Unlock()
}

// firstExclusiveWait is the time for which lockExclusive at first keeps new handlers out while it waits for those that run.
const firstExclusiveWait = time.Second

var errStillShared = errors.New("others are still at work")

// lockExclusive waits until no handler runs, and keeps others out until unlockExclusive; false where ctx ended first. Where
// that takes long it lets others in between, since handlers that run may be waiting for them, and then tries again for twice
// as long. So its turn comes however long handlers take.
func (f *handlerLock) lockExclusive(ctx context.Context) bool {
	for limit := firstExclusiveWait; ; limit *= 2 {
		err := f.tryLockExclusive(ctx, limit)
		if err == nil {
			return true
		}
		if !errors.Is(err, errStillShared) || !sleepWithin(ctx, limit) {
			return false
		}
	}
}

func (f *handlerLock) tryLockExclusive(ctx context.Context, limit time.Duration) error {
	if err := f.waitTurn(ctx); err != nil {
		return err
	}
	late := time.NewTimer(limit)
	defer late.Stop()
	f.mu.Lock()
	f.exclusive = true
	for f.sharers > 0 {
		changed := f.change()
		f.mu.Unlock()
		var err error
		select {
		case <-changed:
		case <-late.C:
			err = errStillShared
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			f.unlockExclusive()
			return err
		}
		f.mu.Lock()
	}
	f.mu.Unlock()
	return nil
}

// waitTurn waits until no other holds, or waits for, the exclusive lock.
func (f *handlerLock) waitTurn(ctx context.Context) error {
	f.mu.Lock()
	if f.turn == nil {
		f.turn = make(chan struct{}, 1)
	}
	clearing := f.turn
	f.mu.Unlock()
	select {
	case clearing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unlockExclusive lets the others in again, and the next that waits for the exclusive lock.
func (f *handlerLock) unlockExclusive() {
	f.mu.Lock()
	f.exclusive = false
	f.notify()
	f.mu.Unlock()
	<-f.turn
}

func (f *handlerLock) change() chan struct{} {
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return f.changed
}

func (f *handlerLock) notify() {
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}
