package memory

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// The defaults of Limits.
const (
	DefaultNode       = 128 << 20
	DefaultConnection = 64 << 20
)

// StreamShare is the part of each limit that streams may hold, and QueueShare that of the node's that one queue may: an eighth.
const StreamShare, QueueShare = 8, 8

// Small is the size in bytes of the values that are not counted. Each place bounds their number.
const Small = 1 << 10

// Limits are the bytes of values that may wait. A zero field stands for the default.
type Limits struct {
	Node       int64 // in the whole node
	Connection int64 // for one link, or one connection of HTTP
}

// Budget counts the bytes that wait in a node. Its methods may be called by many goroutines at once.
type Budget struct {
	limits  Limits
	used    atomic.Int64 // streams included
	streams atomic.Int64
	ended   atomic.Int64
	refused atomic.Int64
	own     Account

	gate      gate
	relieving atomic.Bool

	mu      sync.Mutex
	windows map[*Window]struct{}
	looked  time.Time // at the windows, last
}

// New makes a budget.
func New(l Limits) *Budget {
	if l.Node == 0 {
		l.Node = DefaultNode
	}
	if l.Connection == 0 {
		l.Connection = min(DefaultConnection, l.Node)
	}
	b := &Budget{limits: l, windows: make(map[*Window]struct{}), gate: newGate()}
	b.own.budget, b.own.limit, b.own.gate = b, l.Node, newGate()
	return b
}

// Usage has the counts of a budget.
type Usage struct {
	Bytes   int64 // that wait now
	Streams int64 // of them in streams
	Limit   int64
	Ended   int64 // streams whose receivers took nothing, since the start
	Refused int64 // values and streams that were refused, since the start
}

// Usage returns the counts.
func (b *Budget) Usage() Usage {
	return Usage{Bytes: b.used.Load(), Streams: b.streams.Load(), Limit: b.limits.Node, Ended: b.ended.Load(), Refused: b.refused.Load()}
}

// Connection makes the account of a connection. It needs no end: what it holds is given back by those who took it.
func (b *Budget) Connection() *Account {
	if b == nil {
		return nil
	}
	return &Account{budget: b, limit: b.limits.Connection, gate: newGate()}
}

// Own is the account of what waits within the node and came over no connection.
func (b *Budget) Own() *Account {
	if b == nil {
		return nil
	}
	return &b.own
}

// Queue makes the account of a queue within the node. One whose handler stands still so leaves the others their space.
func (b *Budget) Queue() *Account {
	if b == nil {
		return nil
	}
	return &Account{budget: b, limit: b.limits.Node / QueueShare, gate: newGate()}
}

// accountStep is the change in bytes that an account reports to its budget, so that small values touch nothing that connections share.
// Each connection may hold that much uncounted, so a larger step would let many connections hold far more than the limit together.
const accountStep = 8 << 10

// Account counts the bytes that wait for one connection. Its methods may be called by many goroutines at once, and on nil, which
// has no bound.
type Account struct {
	budget   *Budget
	limit    int64
	used     atomic.Int64
	reported atomic.Int64 // of used, to the budget
	streams  atomic.Int64
	gate     gate
}

// Take counts a value of n bytes that is to wait, and reports whether there is space for it. Give it back with Give. A value that is
// larger than the limit of the account is taken where nothing else waits.
func (a *Account) Take(n int) bool { return a.Grow(0, n) }

// Try is Take for those who then wait, so that nothing is counted as refused yet.
func (a *Account) Try(n int) bool { return a == nil || counted(n) == 0 || a.grow(0, n) }

// Grow is Take for a value that is counted with from bytes already, and needs more as it comes. Where there is no space it goes on
// counting as before.
func (a *Account) Grow(from, to int) bool {
	if a == nil || counted(to) == 0 || a.grow(from, to) {
		return true
	}
	a.budget.refused.Add(1)
	return false
}

func (a *Account) grow(from, to int) bool {
	more := counted(to) - counted(from)
	used := a.add(more)
	if used <= a.limit && a.budget.used.Load() <= a.budget.limits.Node || used == counted(to) && a.budget.used.Load() <= max(used, a.budget.limits.Node) {
		return true
	}
	a.add(-more)
	return false
}

// takeEvery is the pause after which one who waits for space looks again.
const takeEvery = 5 * time.Millisecond

// TakeWithin is Take for those who can wait. It is false when the context has ended first.
func (a *Account) TakeWithin(ctx context.Context, n int) bool {
	if a.Try(n) {
		return true
	}
	again := time.NewTicker(takeEvery)
	defer again.Stop()
	for !a.grow(0, n) {
		select {
		case <-again.C:
		case <-ctx.Done():
			a.budget.refused.Add(1)
			return false
		}
	}
	return true
}

// Hold counts a value of n bytes that waits already. Give it back with Give.
func (a *Account) Hold(n int) {
	if a != nil && n >= Small {
		a.add(int64(n))
	}
}

// Give gives back what Take or Hold counted.
func (a *Account) Give(n int) {
	if a != nil && n >= Small {
		a.add(-int64(n))
	}
}

// counted returns n, and 0 for values below Small, which are too many to be worth counting.
func counted(n int) int64 {
	if n < Small {
		return 0
	}
	return int64(n)
}

// Full reports whether clearly more waits in the node than may, by an eighth: what could not be refused.
func (b *Budget) Full() bool {
	return b != nil && b.used.Load() > b.limits.Node+b.limits.Node/QueueShare
}

// Space returns how many bytes may still be asked for, by the account's limit and the node's. It is negative where more waits than may.
func (a *Account) Space() int64 {
	if a == nil {
		return math.MaxInt64
	}
	return min(a.limit-a.used.Load(), a.budget.limits.Node-a.budget.used.Load())
}

// Full reports whether as much waits as may. The place that asks should take on no work that makes more.
func (a *Account) Full() bool { return a != nil && a.used.Load() >= a.limit }

// Crowded reports whether streams hold more than half of their share. They should ask for less at once then.
func (a *Account) Crowded() bool {
	return a != nil && (a.streams.Load() > a.limit/StreamShare/2 || a.budget.streams.Load() > a.budget.limits.Node/StreamShare/2)
}

// excess is the number of bytes that streams hold above their share, with what the next one wants that waits to be opened. It may be negative.
func (a *Account) excess() int64 { return a.streams.Load() + a.gate.wants.Load() - a.limit/StreamShare }

func (b *Budget) excess() int64 {
	return b.streams.Load() + b.gate.wants.Load() - b.limits.Node/StreamShare
}

// over reports whether streams hold more than their share.
func (a *Account) over() bool { return a.excess() > 0 || a.budget.excess() > 0 }

// add adds to what waits, and returns the sum.
func (a *Account) add(change int64) int64 {
	sum := a.used.Add(change)
	for used := sum; ; used = a.used.Load() {
		reported := a.reported.Load()
		unknown := used - reported
		if unknown > -accountStep && unknown < accountStep && (used != 0 || reported == 0) {
			return sum
		}
		if a.reported.CompareAndSwap(reported, used) {
			a.budget.used.Add(unknown)
		}
	}
}

// count adds to what streams hold.
func (a *Account) count(change int64) {
	a.streams.Add(change)
	a.budget.streams.Add(change)
	a.add(change)
}
