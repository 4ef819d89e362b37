package sabir

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/sabir-go/sabir/internal/names"
)

// Emit sends an event to each group of handlers once: of the services in a group that take it, in the whole cluster, one
// gets it, in turn, on this node if there is one here. A service's handlers are in the group of its name unless they set
// another. Any payload that could be the input of an action will do.
//
// When Emit returns nil, every handler that was to get the event has run, or has the event in its queue, on other nodes
// too. It returns an error when the name is not valid, when the context has ended, when the node does not run, when a handler
// cannot read the payload into its type (ErrBadInput, which names both), when a queue stays full or a node was lost; the other
// groups have got it all the same. A node that has just left in order takes no events, which is no error. What
// handlers return is logged where they run, not returned. The first time that no handler of a name can read its payload is a warning in the
// emitter's log too; that there is no handler is usual. [Groups] sends it to some groups only.
func Emit[T any](ctx context.Context, from Caller, name string, payload T, options ...EmitOption) error {
	p, err := planOf(ctx, from, name)
	if len(options) > 0 && err == nil {
		ctx, p, err = from.callingNode().choose(ctx, name, p, options)
	}
	if err != nil {
		return err
	}
	unread := 0
	for i := range p.groups {
		failed := deliver(ctx, p.groups[i].pick(), payload)
		if failed == errGroupGone {
			failed = emitCopy(ctx, from, name, p.groups[i].name, payload)
		}
		unread += unreadBy(failed)
		if failed != nil && err == nil {
			err = failed // the other groups still get it
		}
	}
	if len(p.remoteGroups) > 0 {
		elsewhere := sendCopy(ctx, p.remoteGroups, payload)
		unread += unreadBy(elsewhere)
		err = errors.Join(err, elsewhere)
	}
	if unread > 0 && unread == p.working() {
		from.callingNode().warnUnread(ctx, name, reflect.TypeFor[T](), err)
	}
	return err
}

// emitCopy must not be inlined, nor must sendCopy: the payload is moved to the heap there, and only for events that go elsewhere.
//
//go:noinline
func emitCopy[T any](ctx context.Context, from Caller, name, group string, payload T) error {
	return emitAgain(ctx, from, name, group, &payload)
}

//go:noinline
func sendCopy[T any](ctx context.Context, to []*remoteAction, payload T) error {
	return sendEvent(ctx, to, &payload)
}

// emitAgain sends an event to another member of a group, here or on another node, when the chosen one has just gone. payload points to the
// payload.
func emitAgain(ctx context.Context, from Caller, name, group string, payload any) error {
	p, err := planOf(ctx, from, name)
	if err != nil {
		return err
	}
	for i := range p.groups {
		if p.groups[i].name == group {
			at := p.groups[i].pick()
			err := at.receiver.receiveAny(ctx, at, payload)
			if err == errGroupGone {
				err = emitAgain(ctx, from, name, group, payload)
			}
			return err
		}
	}
	for _, to := range p.remoteGroups {
		if to.group == group {
			return sendEvent(ctx, []*remoteAction{to}, payload)
		}
	}
	return nil // it was the last of the group
}

// Broadcast sends an event to every service that takes it, on every node, not to one of each group only. For the rest
// see [Emit].
func Broadcast[T any](ctx context.Context, from Caller, name string, payload T) error {
	p, err := planOf(ctx, from, name)
	if err != nil {
		return err
	}
	err = broadcastHere(ctx, p, payload)
	if len(p.remoteNodes) == 0 {
		return err
	}
	return errors.Join(err, sendCopy(ctx, p.remoteNodes, payload))
}

// BroadcastLocal is Broadcast to the services of this node only.
func BroadcastLocal[T any](ctx context.Context, from Caller, name string, payload T) error {
	p, err := planOf(ctx, from, name)
	if err != nil {
		return err
	}
	return broadcastHere(ctx, p, payload)
}

func broadcastHere[T any](ctx context.Context, p *eventPlan, payload T) (err error) {
	for _, at := range p.everyone() {
		if failed := deliver(ctx, at, payload); failed != nil && failed != errGroupGone && err == nil {
			err = failed
		}
	}
	return err
}

// planOf finds the handlers and nodes for an event.
func planOf(ctx context.Context, from Caller, name string) (*eventPlan, error) {
	n := from.callingNode()
	if n == nil {
		return nil, errNoNode(from, name)
	}
	p, err := n.events.plan(name)
	if err == nil && len(p.groups) == 0 { // where there are handlers here, each looks at the context, and the node runs
		err = n.cannotEmit(ctx, name)
	}
	return p, err
}

// cannotEmit is the error of an event that no node can be asked to take, though no handler of this node takes it; nil for none.
func (n *Node) cannotEmit(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return newOperation(n, "", name).contextError(err)
	}
	if state := n.stateNow(); state == stateCreated || state == stateStopped {
		return &Error{Code: CodeFailedPrecondition, Name: nameNodeState, Node: n.id,
			Message: "cannot emit " + name + ": node " + n.id + " is " + state.String() + ", not " + stateRunning.String()}
	}
	return nil
}

func deliver[T any](ctx context.Context, at *delivery, payload T) error {
	if h, ok := at.receiver.(*eventHandler[T]); ok {
		return h.receive(ctx, at, payload)
	}
	return deliverConverted(ctx, at, payload)
}

// deliverConverted must not be inlined, for the reason that callConverted must not.
//
//go:noinline
func deliverConverted[T any](ctx context.Context, at *delivery, payload T) error {
	return at.receiver.receiveAny(ctx, at, &payload)
}

// delivery is one handler for the events of one name. It holds what is the same for all of them.
type delivery struct {
	op       *operation
	receiver receiver
}

// newDelivery makes a delivery and its operation, in one allocation.
func newDelivery(n *Node, service, event string, to receiver) *delivery {
	made := &struct {
		delivery
		op operation
	}{}
	made.op.init(n, service, event)
	made.op.event = true
	made.delivery = delivery{&made.op, to}
	return &made.delivery
}

// eventGroup is the deliveries of which an emitted event takes one.
type eventGroup struct {
	name    string
	members []*delivery
	alone   [1]*delivery // room for the members, where there is one
	turn    atomic.Uint32
	watches bool // all of them are of best effort
}

func (g *eventGroup) pick() *delivery {
	if len(g.members) == 1 {
		return g.members[0]
	}
	return g.members[int(g.turn.Add(1))%len(g.members)]
}

func badEventName(name string) error {
	if bad := names.Fault(name); bad != "" {
		return &Error{Code: CodeInvalidArgument, Name: nameBadName, Message: fmt.Sprintf("the event name %.100q %s", name, bad)}
	}
	return nil
}
