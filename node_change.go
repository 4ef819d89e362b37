package sabir

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Add starts services and groups on a running node. Calls to them work when Add returns. It waits for other additions and removals, and for the
// services that they depend on. The context bounds the waiting; if the node is stopped meanwhile, Add fails with NodeState.
func (n *Node) Add(ctx context.Context, services ...Servable) error {
	return n.change(ctx, "add services to", true, func(ctx context.Context) error {
		list, once := withoutOnce(flatten(services))
		if err := n.startServices(ctx, list); err != nil {
			return err
		}
		return n.runOnce(once)
	})
}

// Remove stops services and groups of a running node: new calls get ErrActionNotFound, those in flight finish before the
// stop hooks run. The context bounds the waiting for them.
func (n *Node) Remove(ctx context.Context, services ...Servable) error {
	list, once := withoutOnce(flatten(services))
	return errors.Join(n.runNoMore(ctx, once), n.remove(ctx, list))
}

func (n *Node) remove(ctx context.Context, list []*Service) error {
	return n.change(ctx, "remove services from", false, func(ctx context.Context) error {
		for _, s := range list {
			if s == nil {
				return s.check()
			}
			if !slices.Contains(n.running, s) {
				return notRunning(n, s)
			}
			if within(ctx, s.fullName()) {
				return n.selfWaitError("remove service " + s.fullName())
			}
		}
		var errs []error
		for _, s := range slices.Backward(slices.Clone(n.running)) {
			if slices.Contains(list, s) {
				errs = append(errs, n.stopService(ctx, s))
			}
		}
		return errors.Join(errs...)
	})
}

func notRunning(n *Node, s *Service) *Error {
	return &Error{Code: CodeFailedPrecondition, Name: nameNodeState, Node: n.id, Message: "service " + s.fullName() + " is not running on " + n.id}
}

// change adds or removes services while nothing else does. What starts services ends when the node stops.
func (n *Node) change(ctx context.Context, what string, starts bool, do func(context.Context) error) error {
	if n.callingNode() == nil {
		return errNotMade()
	}
	if ctx.Value(lifecycleKey{}) == n {
		return &Error{Code: CodeFailedPrecondition, Name: nameNodeState, Node: n.id,
			Message: "a start or stop hook cannot " + what + " the node that runs it; do it from a goroutine of its own"}
	}
	if n.stateNow() > stateRunning {
		return n.wrongState(what) // at once, as a stop may take long
	}
	if err := n.lifecycle.lock(ctx); err != nil {
		return fmt.Errorf("cannot %s node %s while others are being added or removed: %w", what, n.id, err)
	}
	defer n.lifecycle.unlock()
	held, end := context.WithCancelCause(ctx)
	defer n.lifecycle.goesOn(end, starts)() // before the state is looked at: a stop sets that first, and then ends what goes on
	if n.stateNow() != stateRunning {
		end(nil)
		return n.wrongState(what)
	}
	err := do(inLifecycle(held, n))
	if err != nil && context.Cause(held) == errNodeStops {
		err = n.wrongState(what)
	}
	if err != nil || !starts { // what start hooks began may use their context further, as that of Start
		end(nil)
	}
	return err
}

// errNodeStops is the cause of the end of what goes on while a node is stopped.
var errNodeStops = errors.New("the node stops")

// lifecycleLock lets one start, stop, addition or removal of a node go on at a time. Who waits for it heeds a context, which who waits for a
// mutex cannot: an addition may take long, and a stop must not wait for that.
type lifecycleLock struct {
	slot chan struct{} // has a value while something goes on

	mu      sync.Mutex
	changes map[*change]struct{} // additions and removals that go on, also those that have left the lock to others while they wait
}

// change is an addition or a removal.
type change struct {
	end    context.CancelCauseFunc
	starts bool
}

func newLifecycleLock() lifecycleLock {
	return lifecycleLock{slot: make(chan struct{}, 1), changes: make(map[*change]struct{})}
}

// lock waits until nothing goes on, or ctx ends.
func (l *lifecycleLock) lock(ctx context.Context) error {
	select {
	case l.slot <- struct{}{}:
		return nil
	default: // first, as ctx may have ended
	}
	select {
	case l.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mustLock waits for as long as others take, for code that cannot leave before it has cleaned up.
func (l *lifecycleLock) mustLock() { l.slot <- struct{}{} }

func (l *lifecycleLock) unlock() { <-l.slot }

// goesOn notes what ends a change that goes on, until over is called.
func (l *lifecycleLock) goesOn(end context.CancelCauseFunc, starts bool) (over func()) {
	c := &change{end, starts}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes[c] = struct{}{}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.changes, c)
	}
}

// lockToStop ends what starts services, waits for the end of what stops some until ctx ends, and then ends that too. It returns soon after,
// since nothing that goes on waits longer than its context, hooks neither: see runHook.
func (l *lifecycleLock) lockToStop(ctx context.Context) {
	l.endChanges(true)
	if l.lock(ctx) != nil {
		l.endChanges(false)
		l.mustLock()
	}
}

func (l *lifecycleLock) endChanges(onlyStarts bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.changes {
		if c.starts || !onlyStarts {
			c.end(errNodeStops)
		}
	}
}
