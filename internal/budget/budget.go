// Package budget bounds the further attempts of an action's calls: retries, and the copies of policy.Hedge. Each call earns a share
// of an attempt, so that attempts never multiply an overload, whatever each call would be allowed by itself.
//
//	b := budget.New()
//	b.Deposit(1)                                          // for each call
//	if b.Withdraw(budget.Share, budget.PerSecond) { … }   // for each attempt after its first
//
// The defaults are Finagle's (com.twitter.finagle.service.RetryBudget): 20 % of the calls of the last ten seconds, and 10 a second
// besides, so that a caller with few calls can retry. Finagle reads a clock for each deposit; here a deposit is one addition, and
// the calls between two withdrawals count as if they had come evenly.
package budget

import (
	"sync"
	"sync/atomic"
	"time"
)

// The defaults: further attempts for each call, and a second besides.
const (
	Share     = 0.2
	PerSecond = 10
)

// window is the number of seconds whose calls and withdrawals count.
const window = 10

// Budget counts the calls of an action and their further attempts. Its methods may be called by many goroutines at once.
type Budget struct {
	calls atomic.Uint64

	mu     sync.Mutex // guards the rest
	start  time.Time
	last   int64  // the second of the last look, from start
	seen   uint64 // calls at the last look
	counts [window]struct{ calls, spent uint64 }
}

// New makes a budget.
func New() *Budget { return &Budget{start: time.Now()} }

// Deposit counts calls.
func (b *Budget) Deposit(calls int) { b.calls.Add(uint64(calls)) }

// Withdraw takes one further attempt, and reports whether there was one: whether the attempts of the window, this one included, are
// at most the share of its calls and perSecond for each of its seconds.
func (b *Budget) Withdraw(share float64, perSecond int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look()
	var calls, spent uint64
	for _, c := range b.counts {
		calls += c.calls
		spent += c.spent
	}
	if float64(spent+1) > share*float64(calls)+float64(perSecond*window) {
		return false
	}
	b.counts[b.last%window].spent++
	return true
}

// Spend takes one further attempt, whether there was one or not: for those that cannot be refused and are bounded otherwise.
func (b *Budget) Spend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look()
	b.counts[b.last%window].spent++
}

// look shares the calls since the last look among the seconds since then. It runs under mu.
func (b *Budget) look() {
	now := int64(time.Since(b.start) / time.Second)
	calls := b.calls.Load()
	fresh := calls - b.seen
	each := fresh / uint64(now-b.last+1)
	b.seen += each * uint64(now-b.last+1) // the remainder counts at the next look
	if now-b.last < window {
		b.counts[b.last%window].calls += each
	}
	for second := max(b.last+1, now-window+1); second <= now; second++ {
		c := &b.counts[second%window]
		c.calls, c.spent = each, 0
	}
	b.last = now
}
