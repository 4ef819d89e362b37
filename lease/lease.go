package lease

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/grainstore"
)

// Lease is held from [Leases.Acquire] until it is lost or released. It is renewed meanwhile, by a goroutine of its own. All its methods may be
// used by many goroutines at once.
type Lease struct {
	leases *Leases
	name   string
	record record
	ctx    context.Context // ends with the lease
	end    context.CancelCauseFunc
	done   chan struct{} // closed when the goroutine that renews it has ended
	expiry *time.Timer   // ends the lease even while the store does not answer

	givenBack atomic.Bool // whether Release was called

	mu    sync.Mutex
	until time.Time // when it ends unless it is renewed
}

// Name is the lease's name.
func (h *Lease) Name() string { return h.name }

// Token is the fencing token: higher than that of each earlier holder of the lease. It stays the same while the lease is held.
func (h *Lease) Token() uint64 { return h.record.Token }

// Done is closed when the lease is lost or released.
func (h *Lease) Done() <-chan struct{} { return h.ctx.Done() }

// Valid reports whether the lease is held at this moment.
func (h *Lease) Valid() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ctx.Err() == nil && time.Now().Before(h.until)
}

// Context returns a context that ends with ctx and with the lease; context.Cause is then [ErrLost]. The lease is found in it by
// [FromContext]. Call cancel when it is not used any more.
func (h *Lease) Context(ctx context.Context) (held context.Context, cancel context.CancelFunc) {
	inner, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(h.ctx, func() { end(ErrLost) })
	return context.WithValue(inner, leaseKey{}, h), func() { stop(); end(context.Canceled) }
}

type leaseKey struct{}

// FromContext returns the lease that code runs under: a function of [Leases.Lead], or a handler or hook of a service made with [sabir.Once]. It is
// nil elsewhere.
func FromContext(ctx context.Context) *Lease {
	h, _ := ctx.Value(leaseKey{}).(*Lease)
	return h
}

// Release gives the lease back, so that another process can have it at once. What is done under it must have ended. The lease is not held
// after Release, whatever it returns: an error means that others wait until its time has passed. Releasing again does nothing.
func (h *Lease) Release(ctx context.Context) error {
	h.end(errReleased)
	<-h.done
	if h.givenBack.Swap(true) {
		return nil
	}
	return h.release(ctx)
}

func (h *Lease) release(ctx context.Context) error {
	revision, r, err := h.leases.load(ctx, h.name)
	if err != nil || r.Tenure != h.record.Tenure {
		return err
	}
	_, err = h.leases.save(ctx, h.name, record{Token: r.Token}, revision)
	if err == nil {
		_, log := h.leases.settings()
		log.Info("lease released", "lease", h.name, "token", h.record.Token)
	} else if errors.Is(err, store.ErrFenced) {
		return nil // another process has it already
	}
	return err
}

// observation remembers the revision of a lease that another process holds, and since when it has not changed.
type observation struct {
	seen     bool
	revision uint64
	since    time.Time // when this revision was read first, after the answer came
}

// Acquire waits until this process has the lease of a name, or until ctx ends, whose error it then returns. The value is anything that
// [Leases.Holder] shall tell others, up to 4 KiB. While the store cannot be reached it goes on trying.
func (l *Leases) Acquire(ctx context.Context, name, value string) (*Lease, error) {
	if err := l.check(name, value); err != nil {
		return nil, err
	}
	holder, _ := l.settings()
	mine := record{Tenure: newTenure(), Holder: holder, Value: value, TTL: l.ttl}
	var last observation
	for {
		h, wait, err := l.try(ctx, name, &mine, &last)
		if h != nil {
			return h, nil
		}
		if errors.Is(err, grainstore.ErrStoreClosed) || errors.Is(err, errBadLease) {
			return nil, err
		}
		if ended := backoff.Sleep(ctx, wait); ended != nil {
			return nil, errors.Join(ended, err)
		}
	}
}

// try makes one attempt, and returns how long to wait before the next.
func (l *Leases) try(ctx context.Context, name string, mine *record, last *observation) (_ *Lease, wait time.Duration, err error) {
	poll := l.ttl / 4
	asking, cancel := context.WithTimeout(ctx, l.ttl)
	defer cancel()
	revision, r, err := l.load(asking, name)
	if err != nil {
		return nil, poll, err
	}
	if !last.seen || last.revision != revision {
		*last = observation{true, revision, time.Now()}
	}
	if r.Tenure != "" {
		if left := time.Until(last.since.Add(r.TTL + r.TTL/8)); left > 0 {
			return nil, min(left, poll), nil
		}
	}
	begun := time.Now() // before the store is asked: others count from after it has answered
	mine.Token = r.Token + 1
	if revision, err = l.save(asking, name, *mine, revision); err != nil {
		if errors.Is(err, store.ErrFenced) {
			err = nil // another process was quicker
		}
		// An attempt with an unknown outcome may have been made. Others then wait for a tenure that nobody has, and this process
		// too: it cannot be sure of the time from which the tenure counts.
		mine.Tenure = newTenure()
		return nil, poll, err
	}
	return l.hold(name, *mine, revision, begun), 0, nil
}

// hold begins the tenure of a lease that was written at begun at the earliest.
func (l *Leases) hold(name string, r record, revision uint64, begun time.Time) *Lease {
	h := &Lease{leases: l, name: name, record: r, done: make(chan struct{}), until: begun.Add(l.ttl)}
	h.ctx, h.end = context.WithCancelCause(context.Background())
	h.expiry = time.AfterFunc(time.Until(h.until), func() { h.end(ErrLost) })
	_, log := l.settings()
	log.Info("lease acquired", "lease", name, "token", r.Token)
	go h.renew(revision)
	return h
}

// renew keeps the lease until it is lost or released.
func (h *Lease) renew(revision uint64) {
	defer close(h.done)
	defer h.expiry.Stop()
	wait := h.leases.ttl / 3
	for backoff.Sleep(h.ctx, wait) == nil {
		begun := time.Now()
		asking, cancel := context.WithDeadline(h.ctx, h.deadline())
		renewed, err := h.leases.save(asking, h.name, h.record, revision)
		if err != nil {
			// The store may have written this renewal, or one that seemed lost, or has settled another process's attempt: then the
			// revision has changed, and the tenure has not.
			var r record
			if revision, r, err = h.leases.load(asking, h.name); err == nil && r.Tenure != h.record.Tenure {
				h.end(ErrLost)
			}
			wait = h.leases.ttl / 16
		} else {
			revision, wait = renewed, h.leases.ttl/3
			h.extend(begun)
		}
		cancel()
	}
	if context.Cause(h.ctx) != errReleased {
		_, log := h.leases.settings()
		log.Warn("lease lost", "lease", h.name, "token", h.record.Token)
	}
}

// errReleased ends a lease that its holder gave back.
var errReleased = errors.New("lease: released")

func (h *Lease) deadline() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until
}

// extend counts the lease's time from a renewal that was asked for at begun. A lease that has ended meanwhile stays ended: its context does.
func (h *Lease) extend(begun time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.until = begun.Add(h.leases.ttl)
	h.expiry.Reset(time.Until(h.until))
}
