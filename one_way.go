package sabir

import (
	"context"
	"fmt"
	"time"
)

// maxOneWay bounds the one-way calls of a node that are under way, and oneWayWait the time for which Send waits at that bound.
const (
	maxOneWay  = 1024
	oneWayWait = 5 * time.Second
)

// Send calls the action one way: it returns as soon as the call is on its way, and nobody gets the answer. The call itself is like any
// other, here or on another node: policies, middlewares, validation, rules and the node's limits hold for it, and [WithTimeout] bounds it. It takes
// over the values of ctx, such as the request id, and neither its deadline nor its cancellation.
//
// An action gets what is sent at most once unless a policy tries again: nothing is kept where a node is lost, or stops before the call was
// made. [Node.Stop] waits for those that are under way. [Emit] reports whether handlers have run, and a channel of package channel keeps
// what must not be lost. Calls that follow one another may be handled in another order.
//
// The error is of what is known at once: a name that no node offers, a policy of [Contract.With] that cannot work, or a node that has 1,024 such calls under way
// ([ErrTooManyCalls], after a wait of 5 s, or until ctx ends). How the call itself fails is in this node's log, once. in must not be changed
// afterwards, since the call may still read what it points to.
func (c *Contract[In, Out]) Send(ctx context.Context, from Caller, in In, options ...CallOption) error {
	return c.untyped().send(ctx, from, &in, new(Out), gather(options))
}

// send makes a call on a goroutine of its own, once there is space for it.
func (c *contract) send(ctx context.Context, from Caller, in, out any, o callOptions) error {
	n, err := c.caller(from)
	if err != nil {
		return err
	}
	e, err := n.endpointFor(n.table.Load().find(c.name), c.name, &o)
	if err != nil {
		return err
	}
	if a, remote := e.(*remoteAction); remote {
		if _, err := c.through(a); err != nil {
			return err
		}
	}
	if err := n.takeOneWay(ctx, c.name); err != nil {
		return err
	}
	ctx = oneWayContext(ctx)
	call := func(ctx context.Context) error { return c.callAny(ctx, n, in, out, o) }
	go isolateGoroutine(c.name, ctx, call, func(err error) {
		<-n.oneWay
		if n.stateNow() == stateStopping && len(n.oneWay) == 0 {
			select {
			case n.oneWayOver <- struct{}{}:
			default:
			}
		}
		if err != nil {
			n.log.ErrorContext(ctx, "a one-way call failed", "node", n.id, "action", c.name, "request_id", requestIDOf(ctx), "error", AsError(err))
		}
	})
	return nil
}

// oneWayContext is the context of a one-way call: it has the values of ctx and the call that ctx belongs to, and does not end with that.
func oneWayContext(ctx context.Context) context.Context {
	if ctx == background {
		return ctx
	}
	ctx = context.WithoutCancel(ctx)
	if c := callOf(ctx); c != nil {
		return &callContext{Context: ctx, op: c.op, parent: c.parent, level: c.level, remote: c.remote}
	}
	return ctx
}

// takeOneWay waits for space for one more one-way call.
func (n *Node) takeOneWay(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return newOperation(n, "", name).contextError(err)
	}
	select {
	case n.oneWay <- struct{}{}:
		return nil
	default:
	}
	waiting := time.NewTimer(oneWayWait)
	defer waiting.Stop()
	select {
	case n.oneWay <- struct{}{}:
		return nil
	case <-ctx.Done():
	case <-waiting.C:
	}
	return &Error{Code: CodeResourceExhausted, Name: nameTooManyCalls, Node: n.id, Retryable: true,
		Message: "one-way calls of node " + n.id + ": " + itoa(maxOneWay) + " are under way, so the one of " + name + " was not made"}
}

// awaitOneWay waits for the one-way calls that are under way while the node stops, since nobody else does.
func (n *Node) awaitOneWay(ctx context.Context) error {
	for len(n.oneWay) > 0 {
		select {
		case <-n.oneWayOver:
		case <-ctx.Done():
			return fmt.Errorf("%d one-way calls were still under way: %w", len(n.oneWay), ctx.Err())
		}
	}
	return nil
}
