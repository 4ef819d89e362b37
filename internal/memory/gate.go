package memory

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

const (
	// openWithin is the time that a stream waits to be opened.
	openWithin = 2 * standstill
	// openEvery is the pause after which the first of those that wait looks again.
	openEvery = 5 * time.Millisecond
	// beginWithin is the time after which what a stream holds is counted, also where nobody has taken its first value.
	beginWithin = 250 * time.Millisecond
	// beginTurns is the number of timers, one after the other, that make up beginWithin. Where processors are short each comes late, as the
	// handlers do: with one timer, streams that had had no turn yet taught that streams of their action hold nothing, and too many were opened.
	beginTurns = 10
)

// Open waits until streams hold no more than their share, of the account and of the node, and reports whether that is so: a stream may
// be opened then. It waits as long as ctx allows, and for 2 seconds at most.
func (a *Account) Open(ctx context.Context) bool {
	_, ok := a.OpenExpecting(ctx, &Expected{}, 0)
	return ok
}

// OpenExpecting is Open for a stream that counts from now on as if it held what is expected of it. Without that, streams that are opened
// together would all begin before any is counted. unknown is what is expected as long as nothing is known.
func (a *Account) OpenExpecting(ctx context.Context, e *Expected, unknown int) (*Opening, bool) {
	if a == nil {
		return nil, true
	}
	b := a.budget
	bytes := func() int64 { return min(e.bytes(unknown), a.limit/StreamShare/4, b.limits.Node/StreamShare/4) }
	if n := bytes(); a.gate.free() && b.gate.free() && a.excess()+n <= 0 && b.excess()+n <= 0 {
		return a.opening(e, n), true
	}
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	if a.gate.pass(ctx, bytes, a.excess, b.startRelieving, func(int64) {}) {
		var o *Opening
		if b.gate.pass(ctx, bytes, b.excess, b.startRelieving, func(n int64) { o = a.opening(e, n) }) {
			return o, true
		}
	}
	b.refused.Add(1)
	return nil, false
}

// gate lets those through that wait, one after the other.
type gate struct {
	turn  chan struct{} // taken by the one that is next
	wants atomic.Int64  // bytes that it waits for
}

func newGate() gate { return gate{turn: make(chan struct{}, 1)} }

func (g *gate) free() bool { return len(g.turn) == 0 }

// pass waits until there is no excess with the bytes that are wanted, and calls through before the next may pass. Meanwhile those bytes
// are a part of the excess, so that streams that stand still make space.
func (g *gate) pass(ctx context.Context, bytes, excess func() int64, relieve func(), through func(int64)) bool {
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() {
		g.wants.Store(0)
		<-g.turn
	}()
	for {
		n := bytes()
		g.wants.Store(n)
		if excess() <= 0 {
			through(n)
			return true
		}
		relieve()
		select {
		case <-time.After(openEvery):
		case <-ctx.Done():
			return false
		}
	}
}

// Expected estimates the bytes that a stream of an action holds once it has begun. The zero Expected knows nothing yet.
type Expected struct{ known atomic.Int64 } // and 1 more

func (e *Expected) bytes(unknown int) int64 {
	if known := e.known.Load() - 1; known >= 0 {
		return known
	}
	return int64(unknown)
}

// saw notes what a stream holds that has begun. What is expected falls more slowly than it rises.
func (e *Expected) saw(n int64) {
	e.known.Store(max(n, 3*(e.known.Load()-1)/4) + 1)
}

// Opening is a stream that has just been opened, until its first value is taken. It is nil where nothing is expected.
type Opening struct {
	account  *Account
	expected *Expected
	bytes    int64
	holds    atomic.Int64
	over     atomic.Bool
	timer    *time.Timer
	turns    int // of the timer
}

func (a *Account) opening(e *Expected, bytes int64) *Opening {
	if bytes < step {
		return nil
	}
	a.count(bytes)
	o := &Opening{account: a, expected: e, bytes: bytes}
	o.timer = time.AfterFunc(math.MaxInt64, o.turn) // turn uses the timer, so it starts when that is set
	o.timer.Reset(beginWithin / beginTurns)
	return o
}

// Holds notes that the stream has begun to hold about n bytes.
func (o *Opening) Holds(n int) {
	if o != nil {
		o.holds.Store(int64(n))
	}
}

// Begun records that all that the stream holds is counted. Only the first call counts; it comes by itself after [beginWithin].
func (o *Opening) Begun() {
	if o != nil {
		o.timer.Stop()
		o.begun()
	}
}

// turn is called by the timer.
func (o *Opening) turn() {
	if o.turns++; o.turns == beginTurns {
		o.begun()
	} else if !o.over.Load() {
		o.timer.Reset(beginWithin / beginTurns)
	}
}

func (o *Opening) begun() {
	if o.end() {
		o.expected.saw(o.holds.Load())
	}
}

// Failed records that the stream did not begin.
func (o *Opening) Failed() {
	if o != nil {
		o.timer.Stop()
		o.end()
	}
}

// end reports whether the opening was not over yet.
func (o *Opening) end() bool {
	if o.over.Swap(true) {
		return false
	}
	o.account.count(-o.bytes)
	return true
}
