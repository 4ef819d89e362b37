package policy

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/sabir-go/sabir"
)

// BreakerOption is an option of [Breaker].
type BreakerOption func(*breaker)

type breaker struct {
	settings
	ratio    float64
	minCalls int
	window   int
	delay    time.Duration
	trials   int
	failure  func(*sabir.Error) bool
	states   *BreakerStates
}

// FailureRatio sets the share of calls that must fail to open the breaker: above 0, up to 1. Default: 0.5.
func FailureRatio(ratio float64) BreakerOption {
	return func(c *breaker) {
		c.want(ratio > 0 && ratio <= 1, "FailureRatio(%v): want more than 0, at most 1", ratio)
		c.ratio = ratio
	}
}

// MinCalls sets how many calls it takes to judge, so that one failure in the first two calls opens nothing: 1 to half
// the window. Default: 20.
func MinCalls(n int) BreakerOption {
	return func(c *breaker) {
		c.want(n >= 1, "MinCalls(%d): want at least 1", n)
		c.minCalls = n
	}
}

// Window sets how many calls back the breaker looks, 2 to 1,000,000. Default: 100. It is moved on half of it at a time,
// so the ratio is that of the last n/2 to n calls.
func Window(n int) BreakerOption {
	return func(c *breaker) {
		c.want(n >= 2 && n <= 1_000_000, "Window(%d): want 2 to 1,000,000", n)
		c.window = n
	}
}

// OpenFor sets how long an open breaker rejects calls before it lets a trial through. Default: 5 s.
func OpenFor(d time.Duration) BreakerOption {
	return func(c *breaker) {
		c.want(d > 0, "OpenFor(%v): want a positive time", d)
		c.delay = d
	}
}

// Trials sets how many trial calls must succeed to close the breaker again, which is also how many run at once.
// Default: 1.
func Trials(n int) BreakerOption {
	return func(c *breaker) {
		c.want(n >= 1, "Trials(%d): want at least 1", n)
		c.trials = n
	}
}

// FailureIf sets which errors count as failures, instead of the default of [Breaker]. It is called by many goroutines at once.
func FailureIf(failure func(*sabir.Error) bool) BreakerOption {
	return func(c *breaker) {
		c.want(failure != nil, "FailureIf was given nil")
		c.failure = failure
	}
}

// ReportTo lets states report the state of the breaker of each action.
func ReportTo(states *BreakerStates) BreakerOption {
	return func(c *breaker) { c.states = states }
}

// Breaker stops calling an action that keeps failing, so that its callers get an error at once and it gets time to recover.
// Each action has a breaker of its own.
//
// Closed, the breaker lets all calls through and counts. When at least MinCalls were counted in the Window and
// FailureRatio of them failed, it opens: for the time of OpenFor every call is answered with sabir.ErrBreakerOpen (code
// Unavailable, retryable, with [RetryAfter] as data). Then it is half-open: as many calls as Trials sets go through; when
// all of them succeed it closes and counts anew, when one fails it opens again. Trials that have not come back after
// another OpenFor are abandoned, and others are let through.
//
// Failures are errors of the codes Unknown, Internal, Unavailable, DeadlineExceeded and DataLoss: what the service, or
// something it needs, did wrong. Errors that a caller brought upon itself, such as InvalidArgument and NotFound, show that the
// service works and count as successes. Neither are Canceled, the caller's doing, and ResourceExhausted: a bulkhead or
// rate limit further in already rejects calls, and rejecting all of them as well would make it worse.
//
// A handler that hangs reports no error, so put a [Timeout] inside the breaker, after it in the list.
//
// The signals are sabir.BreakerOpened, BreakerHalfOpen and BreakerClosed. A call through a closed breaker costs two
// atomic operations and reads no clock.
func Breaker(options ...BreakerOption) sabir.Middleware {
	c := &breaker{settings: settings{name: "Breaker"}, ratio: 0.5, minCalls: 20, window: 100, delay: 5 * time.Second, trials: 1, failure: isFailure}
	for _, o := range options {
		o(c)
	}
	c.want(c.minCalls <= c.window/2, "MinCalls(%d) is more than half of Window(%d)", c.minCalls, c.window)
	return c.middleware(func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		b := &circuit{breaker: c, action: a, block: uint64(c.window/2) * oneCall}
		c.states.add(a.Name, b)
		return func(ctx context.Context, r *sabir.Request) error {
			if BreakerState(b.state.Load()) != Closed {
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
	})
}

func isFailure(e *sabir.Error) bool {
	switch e.Code {
	case sabir.CodeUnknown, sabir.CodeInternal, sabir.CodeUnavailable, sabir.CodeDeadlineExceeded, sabir.CodeDataLoss:
		return true
	}
	return false
}

// BreakerState is the state of a circuit breaker.
type BreakerState int32

// The states of a breaker.
const (
	Closed   BreakerState = iota // calls go through
	HalfOpen                     // a few trials go through
	Open                         // no call goes through, until the time of OpenFor has passed and the next call comes
)

// String is "closed", "half-open" or "open".
func (s BreakerState) String() string {
	return [...]string{"closed", "half-open", "open"}[s]
}

// BreakerStates reports the states of breakers; see [ReportTo]. The zero value is ready. It may be used by many goroutines
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

// Of is the state of an action's breaker; false when there is none.
func (s *BreakerStates) Of(action string) (BreakerState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.circuits[action].Value()
	if c == nil {
		return Closed, false
	}
	return BreakerState(c.state.Load()), true
}

// All is the state of each action's breaker, by the action's full name.
func (s *BreakerStates) All() map[string]BreakerState {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]BreakerState, len(s.circuits))
	for action, held := range s.circuits {
		if c := held.Value(); c != nil {
			all[action] = BreakerState(c.state.Load())
		}
	}
	return all
}

// circuit is the breaker of one action. The window is two blocks of calls: the current one is counted up, and becomes
// the previous one when it is full. A block is one number, calls in the upper half and failures in the lower, so that a
// success is counted with one addition.
type circuit struct {
	*breaker
	action   *sabir.Action
	block    uint64 // the size of a block, in oneCall
	state    atomic.Int32
	current  atomic.Uint64
	previous atomic.Uint64

	mu        sync.Mutex // held to change the state
	until     time.Time  // open: of the first trial; half-open: when the trials under way are abandoned
	round     int        // which trials count
	free      int        // trials that may still begin
	successes int        // trials that succeeded
}

const (
	oneFailure = uint64(1)
	oneCall    = uint64(1) << 32
)

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
	if !c.failure(e) {
		if !isNeither(e) {
			c.succeeded()
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if BreakerState(c.state.Load()) != Closed {
		return // begun before the breaker opened
	}
	sum := c.current.Add(oneCall+oneFailure) + c.previous.Load()
	calls, failures := sum/oneCall, sum%oneCall
	if calls >= uint64(c.minCalls) && float64(failures) >= c.ratio*float64(calls) {
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
	c.until = time.Now().Add(c.delay)
	c.change(Open, sabir.BreakerOpened)
}

func (c *circuit) change(to BreakerState, kind sabir.SignalKind) {
	c.state.Store(int32(to))
	c.action.Signal(kind)
}

// try is the way of a call that finds the breaker not closed.
func (c *circuit) try(ctx context.Context, r *sabir.Request, next sabir.Handler) error {
	round, refused := c.admit()
	if refused != nil {
		return refused
	}
	returned := false
	defer func() {
		if !returned { // a middleware further in panicked, or what FailureIf was given did
			c.settle(round, true, false)
		}
	}()
	failed, neither := false, false
	err := next(ctx, r)
	if err != nil {
		e := sabir.AsError(err)
		failed = c.failure(e)
		neither = !failed && isNeither(e)
	}
	returned = true
	c.settle(round, failed, neither)
	return err
}

// admit lets a call through as one of the round's trials, or refuses it.
func (c *circuit) admit() (round int, refused error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if BreakerState(c.state.Load()) == Closed {
		return -1, nil // closed by another meanwhile; it counts for no round
	}
	wait := time.Until(c.until)
	switch half := BreakerState(c.state.Load()) == HalfOpen; {
	case half && c.free > 0:
	case wait > 0:
		return 0, &sabir.Error{Code: sabir.CodeUnavailable, Name: sabir.ErrBreakerOpen.Name, Retryable: true, Data: retryAfter(wait), Node: c.action.Node,
			Message: fmt.Sprintf("%s failed too often; its circuit breaker lets a trial through in %v", c.action.Name, wait.Round(time.Millisecond))}
	default:
		c.round, c.free, c.successes = c.round+1, c.trials, 0
		c.until = time.Now().Add(c.delay)
		if !half {
			c.change(HalfOpen, sabir.BreakerHalfOpen)
		}
	}
	c.free--
	return c.round, nil
}

// settle takes the outcome of a trial.
func (c *circuit) settle(round int, failed, neither bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if BreakerState(c.state.Load()) != HalfOpen || round != c.round {
		return
	}
	switch {
	case failed:
		c.open()
	case neither:
		c.free++
	default:
		if c.successes++; c.successes == c.trials {
			c.current.Store(0)
			c.previous.Store(0)
			c.change(Closed, sabir.BreakerClosed)
		}
	}
}
