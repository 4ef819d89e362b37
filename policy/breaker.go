package policy

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/signal"
)

// Breaker stops calling an action that keeps failing, so that its callers get an error at once and it gets time to recover.
// Each action has a breaker of its own, and an action of other nodes has one for each of them: while that of one node is open, calls go
// to the others, and callers get an error when those of all nodes are open. The zero value is ready for use.
//
// Closed, the breaker lets all calls through and counts. When at least MinCalls were counted in the Window and
// FailureRatio of them failed, it opens: for the time of OpenFor every call is answered with sabir.ErrBreakerOpen (code
// Unavailable, retryable, with [RetryAfter] as data). Then it is half-open: as many calls as Probes go through; when
// all of them succeed it closes and counts anew, when one fails it opens again. Probes that have not come back after
// another OpenFor are abandoned, and others are let through.
//
// Failures are errors of the codes Unknown, Internal, Unavailable, DeadlineExceeded and DataLoss: the service, or
// something it needs, failed. Errors that a caller brought upon itself, such as InvalidArgument and NotFound, show that the
// service works and count as successes. Canceled, the caller's doing, and ResourceExhausted count neither way: a bulkhead or
// rate limit further in already rejects calls, and rejecting all of them as well would make it worse. Neither does a call that went nowhere,
// since no node offers the action now: its callers get sabir.ErrServiceUnavailable, which says so.
//
// A handler that hangs reports no error, so put a [Timeout] inside the breaker, after it in the list.
//
// The signals are "breaker.opened", "breaker.half_open" and "breaker.closed", with the node where it is that of one. A call through a closed breaker costs two
// atomic operations and reads no clock.
type Breaker struct {
	// FailureRatio is the share of calls that must fail to open the breaker: above 0, up to 1. Default: 0.5.
	FailureRatio float64
	// MinCalls is the number of calls before the breaker judges at all, so that one failure in the first two calls opens
	// nothing: 1 to half the window. Default: 20, or half the window if that is less.
	MinCalls int
	// Window is the number of latest calls that the breaker counts, 2 to 1,000,000. Default: 100, or twice MinCalls if that
	// is more. The window advances by half its length at a time, so the ratio is that of the last n/2 to n calls.
	Window int
	// OpenFor is the time for which an open breaker rejects calls before it lets a probe through. Default: 5 s.
	OpenFor time.Duration
	// Probes is the number of calls that must succeed to close the breaker again. At most as many run at once while it is
	// half-open. Default: 1.
	Probes int
	// FailIf decides which errors count as failures, instead of the default above. Many goroutines call it at once.
	FailIf func(*sabir.Error) bool
	// States, if not nil, reports the state of each action's breaker.
	States *BreakerStates
}

// Middleware makes the middleware.
func (c Breaker) Middleware() sabir.Middleware {
	s := settings{name: "Breaker"}
	s.want(c.FailureRatio >= 0 && c.FailureRatio <= 1, "FailureRatio is %v: want more than 0, at most 1", c.FailureRatio)
	s.want(c.MinCalls >= 0, "MinCalls is %d: want at least 1", c.MinCalls)
	s.want(c.Window == 0 || c.Window >= 2 && c.Window <= 1_000_000, "Window is %d: want 2 to 1,000,000", c.Window)
	s.want(c.OpenFor >= 0, "OpenFor is %v: want a positive time", c.OpenFor)
	s.want(c.Probes >= 0, "Probes is %d: want at least 1", c.Probes)
	c.Window = cmp.Or(c.Window, max(100, 2*c.MinCalls))
	c.MinCalls = cmp.Or(c.MinCalls, min(20, c.Window/2))
	s.want(c.MinCalls <= c.Window/2, "MinCalls is %d, more than half of the Window, %d", c.MinCalls, c.Window)
	c.FailureRatio, c.OpenFor, c.Probes = cmp.Or(c.FailureRatio, 0.5), cmp.Or(c.OpenFor, 5*time.Second), cmp.Or(c.Probes, 1)
	if c.FailIf == nil {
		c.FailIf = isFailure
	}
	local := func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		b := c.newCircuit(a, "", nil)
		return func(ctx context.Context, r *sabir.Request) error {
			if breakerState(b.state.Load()) != closed {
				return b.try(ctx, r, next)
			}
			err := error(sabir.ErrPanic) // unless next returns
			defer func() {
				if err == nil {
					b.succeeded()
				} else {
					b.count(err)
				}
			}()
			err = next(ctx, r)
			return err
		}
	}
	remote := func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return newCircuits(&c, a, next).call
	}
	return sabir.Middleware{Name: s.name, Local: s.checked(local), Remote: s.checked(remote)}
}

func isFailure(e *sabir.Error) bool {
	switch e.Code {
	case sabir.CodeUnknown, sabir.CodeInternal, sabir.CodeUnavailable, sabir.CodeDeadlineExceeded, sabir.CodeDataLoss:
		return true
	}
	return false
}

// breakerState is the state of a circuit breaker.
type breakerState int32

const (
	closed   breakerState = iota // calls go through
	halfOpen                     // a few probes go through
	open                         // no call goes through, until the time of OpenFor has passed and the next call comes
)

// String returns the word that BreakerStates has for it.
func (s breakerState) String() string {
	return [...]string{"closed", "half-open", "open"}[s]
}

// BreakerStates reports the states of breakers; see Breaker.States. The zero value is ready. It may be used by many goroutines
// at once.
type BreakerStates struct {
	mu       sync.Mutex
	circuits map[string]weak.Pointer[circuit] // which go with their actions: those of other nodes are as many as their names
}

func (s *BreakerStates) add(action string, c *circuit) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.circuits == nil {
		s.circuits = make(map[string]weak.Pointer[circuit])
	}
	held := weak.Make(c)
	s.circuits[action] = held
	runtime.AddCleanup(c, func(action string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.circuits[action] == held { // else another took its place
			delete(s.circuits, action)
		}
	}, action)
}

// Of is the state of an action's breaker: "closed" while calls go through, "half-open" while a few probes do, "open" while none does, until the
// time of OpenFor has passed and the next call comes; known is false when there is none. That of one node's action has the name "users.get@node-1", and
// "users.get" is then that of calls which reached no node.
func (s *BreakerStates) Of(action string) (state string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.circuits[action].Value()
	if c == nil {
		return "", false
	}
	return breakerState(c.state.Load()).String(), true
}

// All is the state of each breaker, by the name that Of takes.
func (s *BreakerStates) All() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]string, len(s.circuits))
	for action, held := range s.circuits {
		if c := held.Value(); c != nil {
			all[action] = breakerState(c.state.Load()).String()
		}
	}
	return all
}

// circuit is the breaker of one action. The window is two blocks of calls: the current one is counted up, and becomes
// the previous one when it is full. A block is one number, calls in the upper half and failures in the lower, so that a
// success is counted with one addition.
type circuit struct {
	*Breaker
	action   *sabir.Action
	node     string        // "" for that of the whole action
	troubled *atomic.Int32 // counts those that are not closed; nil for the only one of an action
	block    uint64        // the size of a block, in oneCall
	state    atomic.Int32
	current  atomic.Uint64
	previous atomic.Uint64

	mu        sync.Mutex // held to change the state
	gone      bool       // its node has gone: it counts among the troubled no more
	until     time.Time  // open: of the first probe; half-open: when the probes under way are abandoned
	round     int        // which probes count
	free      int        // probes that may still begin
	successes int        // probes that succeeded
}

const (
	oneFailure = uint64(1)
	oneCall    = uint64(1) << 32
)

func (b *Breaker) newCircuit(a *sabir.Action, node string, troubled *atomic.Int32) *circuit {
	c := &circuit{Breaker: b, action: a, node: node, troubled: troubled, block: uint64(b.Window/2) * oneCall}
	name := a.Name
	if node != "" {
		name += "@" + node
	}
	b.States.add(name, c)
	return c
}

// succeeded counts a success while closed.
func (c *circuit) succeeded() {
	if c.current.Add(oneCall) >= c.block {
		c.mu.Lock()
		c.turn()
		c.mu.Unlock()
	}
}

// turn begins a new block if the current one is full. It runs under mu.
func (c *circuit) turn() {
	if c.current.Load() >= c.block {
		c.previous.Store(c.current.Swap(0))
	}
}

// count counts a call that ended with an error while closed, and opens the breaker if that was one too many.
func (c *circuit) count(err error) {
	e := sabir.AsError(err)
	if !c.FailIf(e) {
		if !isNeither(e) {
			c.succeeded()
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if breakerState(c.state.Load()) != closed {
		return // begun before the breaker opened
	}
	sum := c.current.Add(oneCall+oneFailure) + c.previous.Load()
	calls, failures := sum/oneCall, sum%oneCall
	if calls >= uint64(c.MinCalls) && float64(failures) >= c.FailureRatio*float64(calls) {
		c.open()
		return
	}
	c.turn()
}

// isNeither reports whether an error counts neither as a failure nor as a success.
func isNeither(e *sabir.Error) bool {
	return e.Code == sabir.CodeCanceled || e.Code == sabir.CodeResourceExhausted
}

// open, like all changes of the state, runs under mu, and signals there so that signals come in the order of the changes.
func (c *circuit) open() {
	c.until = time.Now().Add(c.OpenFor)
	c.change(open, signal.BreakerOpened)
}

func (c *circuit) change(to breakerState, kind string) {
	was := breakerState(c.state.Swap(int32(to)))
	if c.troubled != nil && !c.gone {
		switch {
		case was == closed && to != closed:
			c.troubled.Add(1)
		case was != closed && to == closed:
			c.troubled.Add(-1)
		}
	}
	c.action.SignalOf(kind, c.node)
}

// try is the way of a call that finds the breaker not closed.
func (c *circuit) try(ctx context.Context, r *sabir.Request, next sabir.Handler) error {
	round, refused := c.admit()
	if refused != nil {
		return refused
	}
	returned := false
	defer func() {
		if !returned { // a middleware further in panicked, or FailIf did
			c.settle(round, true, false)
		}
	}()
	failed, neither := false, false
	err := next(ctx, r)
	if err != nil {
		e := sabir.AsError(err)
		failed = c.FailIf(e)
		neither = !failed && isNeither(e)
	}
	returned = true
	c.settle(round, failed, neither)
	return err
}

// admit lets a call through as one of the round's probes, or refuses it.
func (c *circuit) admit() (round int, refused error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if breakerState(c.state.Load()) == closed {
		return -1, nil // closed by another meanwhile; it counts for no round
	}
	wait := time.Until(c.until)
	switch half := breakerState(c.state.Load()) == halfOpen; {
	case half && c.free > 0:
	case wait > 0:
		return 0, &sabir.Error{Code: sabir.CodeUnavailable, Name: sabir.ErrBreakerOpen.Name, Retryable: true, Data: retryAfter(wait), Node: c.action.Node,
			Message: fmt.Sprintf("%s failed too often%s; its circuit breaker lets a probe through in %v", c.action.Name, c.onNode(), wait.Round(time.Millisecond))}
	default:
		c.round, c.free, c.successes = c.round+1, c.Probes, 0
		c.until = time.Now().Add(c.OpenFor)
		if !half {
			c.change(halfOpen, signal.BreakerHalfOpen)
		}
	}
	c.free--
	return c.round, nil
}

func (c *circuit) onNode() string {
	if c.node == "" {
		return ""
	}
	return " on all nodes, the last one " + c.node
}

// settle takes the outcome of a probe.
func (c *circuit) settle(round int, failed, neither bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if breakerState(c.state.Load()) != halfOpen || round != c.round {
		return
	}
	switch {
	case failed:
		c.open()
	case neither:
		c.free++
	default:
		if c.successes++; c.successes == c.Probes {
			c.current.Store(0)
			c.previous.Store(0)
			c.change(closed, signal.BreakerClosed)
		}
	}
}
