package seal

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// Refusals counts what was dropped because no holder of a cluster key had made it, and logs that once a second at most. All
// methods may be called from any number of goroutines at once, and on nil.
type Refusals struct {
	log    *slog.Logger
	count  atomic.Uint64
	logged atomic.Int64 // when, in nanoseconds
}

// NewRefusals makes Refusals that log there.
func NewRefusals(log *slog.Logger) *Refusals { return &Refusals{log: log} }

// Note counts one. where names what it came over, from whom it claimed to be.
func (r *Refusals) Note(where, from string) {
	if r == nil {
		return
	}
	count, now := r.count.Add(1), time.Now().UnixNano()
	last := r.logged.Load()
	if last != 0 && now-last < int64(time.Second) || !r.logged.CompareAndSwap(last, now) {
		return
	}
	r.log.Warn("refused: no holder of the cluster key made it, or it was changed or repeated on the way", "over", where, "from", from, "refused", count)
}

// Count is how many were noted.
func (r *Refusals) Count() uint64 {
	if r == nil {
		return 0
	}
	return r.count.Load()
}
