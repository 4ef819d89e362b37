package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/grainstore"
)

const (
	withoutDeadline       = 15 * time.Second // for an operation whose context has none
	attemptLimit          = 5 * time.Second  // after it, one attempt is taken for lost and made again
	firstPause, lastPause = 5 * time.Millisecond, 250 * time.Millisecond
	// shortAttempt is the time below which an attempt says little: that too few replicas confirmed it, say, where they had no time to.
	shortAttempt = 500 * time.Millisecond
	maxUnsettled = 65_536
)

// keeper is a Store over a driver's backend: it sees to it that the outcome of writes is certain.
type keeper struct {
	backend  grainstore.Backend
	maxState int

	closing sync.Once
	closed  chan struct{}

	mu        sync.Mutex
	unsettled map[name]uint64 // the version that a write without an answer named
}

type name struct{ kind, key string }

func newKeeper(backend grainstore.Backend, maxState int) *keeper {
	return &keeper{backend: backend, maxState: maxState, closed: make(chan struct{}), unsettled: make(map[name]uint64)}
}

func (k *keeper) Load(ctx context.Context, kind, key string) (Entry, error) {
	o, err := k.begin(ctx, "loading", kind, key)
	if err != nil {
		return Entry{}, err
	}
	for {
		slot, err := o.read()
		if err == nil {
			var done bool
			if slot, done, err = k.settle(&o, slot); done {
				return entryOf(slot), nil
			}
		}
		if !errors.Is(err, ErrOutcomeUnknown) && !errors.Is(err, ErrFenced) {
			return Entry{}, o.fault(err)
		}
		o.explain(err)
		if !o.pause() { // Load itself has done nothing, whatever became of its answer
			return Entry{}, o.fault(o.unread())
		}
	}
}

// settle makes sure that a write with an unknown outcome is either in the slot or can no longer be done.
func (k *keeper) settle(o *operation, slot grainstore.Slot) (_ grainstore.Slot, done bool, err error) {
	base, is := k.pending(o.name)
	if !is {
		return slot, true, nil
	}
	if slot.Version == base {
		slot.Token, slot.Gone = grainstore.NewToken(), slot.Gone || slot.Version == 0
		if slot.Version, err = o.write(base, slot); err != nil {
			return slot, false, err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.unsettled[o.name] == base {
		delete(k.unsettled, o.name)
	}
	return slot, true, nil
}

func (k *keeper) pending(n name) (base uint64, is bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	base, is = k.unsettled[n]
	return base, is
}

// remember notes a write without an answer. Of two for one key only the later version can still be written over.
func (k *keeper) remember(n name, base uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, is := k.unsettled[n]
	if !is && len(k.unsettled) >= maxUnsettled {
		for other := range k.unsettled {
			delete(k.unsettled, other)
			break
		}
	}
	k.unsettled[n] = max(base, before)
}

func (k *keeper) Save(ctx context.Context, kind, key string, state []byte, revision uint64) (uint64, error) {
	if len(state) > k.maxState {
		return 0, fmt.Errorf("%w: saving the grain %s of %.*q: it has %d bytes; the limit is %d", grainstore.ErrStateTooLarge, shown(key), grainstore.MaxKind, kind, len(state), k.maxState)
	}
	o, err := k.begin(ctx, "saving", kind, key)
	if err != nil {
		return 0, err
	}
	base := revision
	if revision == 0 {
		// Where no state is saved there may be a slot that marks a deletion. The write has to name the version of that slot, else
		// a late copy of the write could bring back state that was deleted since.
		if base, err = o.vacant(); err != nil {
			return 0, o.fault(err)
		}
	}
	version, err := k.change(&o, base, grainstore.Slot{Token: grainstore.NewToken(), State: state})
	return version, o.fault(err)
}

func (k *keeper) Delete(ctx context.Context, kind, key string, revision uint64) error {
	o, err := k.begin(ctx, "deleting", kind, key)
	if err != nil {
		return err
	}
	if revision == 0 {
		_, err = o.vacant()
		return o.fault(err)
	}
	_, err = k.change(&o, revision, grainstore.Slot{Token: grainstore.NewToken(), Gone: true})
	return o.fault(err)
}

// change writes once, with as many attempts as it takes to know what became of it.
func (k *keeper) change(o *operation, base uint64, slot grainstore.Slot) (uint64, error) {
	if before, is := k.pending(o.name); is && before == base {
		return 0, fmt.Errorf("%w: that is so since an earlier write with revision %d", ErrOutcomeUnknown, base)
	}
	lost := false // an attempt that may still be done
	for {
		version, err := o.write(base, slot)
		if errors.Is(err, ErrFenced) {
			version, err = o.whose(base, slot.Token)
		}
		switch {
		case err == nil:
			return version, nil
		case errors.Is(err, ErrFenced) && lost:
			return 0, fmt.Errorf("%w; before that: %w", err, ErrOutcomeUnknown)
		case errors.Is(err, ErrFenced):
			return 0, err
		case errors.Is(err, ErrOutcomeUnknown):
			lost = true
			o.explain(err)
		case errors.Is(err, errAgain):
		case !lost:
			return 0, err
		case errors.Is(err, ErrStoreFull): // which may last
			k.remember(o.name, base)
			return 0, fmt.Errorf("%w; and then: %w", ErrOutcomeUnknown, err)
		}
		if o.pause() {
			continue
		}
		if !lost {
			return 0, fmt.Errorf("%w: %w", ErrStoreUnreachable, o.ended())
		}
		k.remember(o.name, base)
		if errors.Is(o.why, o.ended()) {
			return 0, o.why
		}
		return 0, fmt.Errorf("%w (%w)", o.why, o.ended())
	}
}

func (k *keeper) Check(ctx context.Context) error {
	if k.isClosed() {
		return grainstore.ErrStoreClosed
	}
	return k.backend.Check(ctx)
}

func (k *keeper) Close() (err error) {
	k.closing.Do(func() {
		close(k.closed)
		err = k.backend.Close()
	})
	return err
}

// operation is one call of a Store's method.
type operation struct {
	name
	keeper *keeper
	doing  string
	ctx    context.Context
	end    time.Time // when it is over, at the latest
	next   time.Duration
	given  time.Duration // for the last attempt
	why    error         // of the attempts that failed, the most useful error
}

// explain notes why an attempt failed. The last one has what is left of the time, and often fails for want of it: what an attempt before it
// said is more useful then, and so it is where this one ended in a timeout.
func (o *operation) explain(err error) {
	if o.why == nil || o.given >= shortAttempt && !errors.Is(err, context.DeadlineExceeded) {
		o.why = err
	}
}

// unread returns the error of a read that did not end in time.
func (o *operation) unread() error {
	return fmt.Errorf("%w: %w (%v)", ErrStoreUnreachable, o.ended(), o.why)
}

func (k *keeper) begin(ctx context.Context, doing, kind, key string) (operation, error) {
	o := operation{name: name{kind, key}, keeper: k, doing: doing, ctx: ctx, next: firstPause}
	if err := grainstore.CheckName(kind, key); err != nil {
		return o, err
	}
	if k.isClosed() {
		return o, o.fault(grainstore.ErrStoreClosed)
	}
	if ctx.Err() != nil {
		return o, o.fault(fmt.Errorf("%w: %w", ErrStoreUnreachable, ctx.Err()))
	}
	o.end = time.Now().Add(withoutDeadline)
	if end, ok := ctx.Deadline(); ok {
		o.end = end
	}
	return o, nil
}

func (k *keeper) isClosed() bool {
	select {
	case <-k.closed:
		return true
	default:
		return false
	}
}

// attempt is the context of one question to the backend.
func (o *operation) attempt() (context.Context, context.CancelFunc) {
	end := time.Now().Add(attemptLimit)
	if o.end.Before(end) {
		end = o.end
	}
	o.given = time.Until(end)
	return context.WithDeadline(o.ctx, end)
}

func (o *operation) read() (grainstore.Slot, error) {
	ctx, cancel := o.attempt()
	defer cancel()
	return o.keeper.backend.Read(ctx, o.kind, o.key)
}

func (o *operation) write(expect uint64, slot grainstore.Slot) (uint64, error) {
	ctx, cancel := o.attempt()
	defer cancel()
	return o.keeper.backend.Write(ctx, o.kind, o.key, expect, slot)
}

// vacant is the version of the slot where nothing is saved, ErrFenced where something is.
func (o *operation) vacant() (uint64, error) {
	for {
		slot, err := o.read()
		switch {
		case err == nil && entryOf(slot).Revision != 0:
			return 0, fmt.Errorf("%w: it is there already, with revision %d", ErrFenced, slot.Version)
		case err == nil:
			return slot.Version, nil
		case !errors.Is(err, ErrOutcomeUnknown):
			return 0, err
		}
		o.explain(err)
		if !o.pause() {
			return 0, o.unread()
		}
	}
}

// errAgain means that a write was refused for what others were about to write, and was not written.
var errAgain = errors.New("the store refused the write, and has the revision that it names")

// whose checks why a write was refused. It is done all the same if what is in the store is its own.
func (o *operation) whose(base uint64, token grainstore.Token) (uint64, error) {
	slot, err := o.read()
	switch {
	case errors.Is(err, ErrOutcomeUnknown), errors.Is(err, ErrStoreUnreachable):
		return 0, errAgain // to be asked again: that was only a question
	case err != nil:
		return 0, err
	case slot.Token == token:
		return slot.Version, nil
	case slot.Version == base:
		return 0, errAgain
	case entryOf(slot).Revision == 0:
		return 0, fmt.Errorf("%w: revision %d was expected, and nothing is saved", ErrFenced, base)
	}
	return 0, fmt.Errorf("%w: revision %d was expected, and it is %d", ErrFenced, base, slot.Version)
}

// pause waits a little before the next attempt; it is false when there is no time for one.
func (o *operation) pause() bool {
	wait := min(o.next, time.Until(o.end))
	o.next = min(2*o.next, lastPause)
	if wait <= 0 || o.ctx.Err() != nil || o.keeper.isClosed() {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return time.Now().Before(o.end)
	case <-o.ctx.Done():
	case <-o.keeper.closed:
	}
	return false
}

// ended returns the error of an operation that makes no further attempt.
func (o *operation) ended() error {
	switch {
	case o.keeper.isClosed():
		return grainstore.ErrStoreClosed
	case o.ctx.Err() != nil:
		return o.ctx.Err()
	}
	return context.DeadlineExceeded
}

// fault adds to err which operation failed, and on which grain.
func (o *operation) fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w (%s the grain %s of kind %s)", err, o.doing, shown(o.key), o.kind)
}

// shown is a key for messages, cut where it is long.
func shown(key string) string {
	if len(key) > 64 {
		return fmt.Sprintf("%.64q…", key)
	}
	return fmt.Sprintf("%q", key)
}
