package sabir

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/sabir-go/sabir/internal/budget"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/wire"
)

// matchRemote adds to a plan, which has the groups of this node, the other nodes that take the event.
//
// Events go as calls whose answer is nothing: so the emitter knows that they arrived, and cannot send more than the other
// side takes.
func (t *eventTable) matchRemote(name string, p *eventPlan) {
	if t.view == nil {
		return
	}
	others := t.node.otherNodes()
	byGroup := make(map[string][]provider)
	var groups []string
	byNode := make(map[string]*remoteAction)
	working := make(map[string]bool) // groups of which a member does not only watch
	t.view.Subscriptions(func(node string, _ *membership.Service, sub membership.Subscription) bool {
		to, there := others[node]
		if !there || !names.Match(sub.Pattern, name) {
			return true
		}
		if byNode[node] == nil {
			a := t.node.newRemoteEvent(name, "")
			a.watches = true
			a.providers.Store(newProviders([]provider{to}, nil))
			byNode[node] = a
			p.remoteNodes = append(p.remoteNodes, a)
		}
		if !sub.Watch {
			byNode[node].watches, working[sub.Group] = false, true
		}
		if p.hasGroup(sub.Group) {
			return true
		}
		members := byGroup[sub.Group]
		if members == nil {
			groups = append(groups, sub.Group)
		}
		if !slices.ContainsFunc(members, func(p provider) bool { return p.same(&to) }) {
			byGroup[sub.Group] = append(members, to)
		}
		return true
	})
	for _, group := range groups {
		a := t.node.newRemoteEvent(name, group)
		a.watches = !working[group]
		a.providers.Store(newProviders(byGroup[group], nil))
		p.remoteGroups = append(p.remoteGroups, a)
	}
}

func (p *eventPlan) hasGroup(name string) bool {
	for i := range p.groups {
		if p.groups[i].name == name {
			return true
		}
	}
	return false
}

// newRemoteEvent makes the endpoint of an event on other nodes: for one member of a group, or without a group for all
// handlers on a node.
func (n *Node) newRemoteEvent(event, group string) *remoteAction {
	a := &remoteAction{action: &Action{Name: event, Remote: true, node: n, budget: budget.New()}, op: newOperation(n, "", event), balancer: n.balancerFor(event),
		kind: wire.EventRoute, group: group}
	a.op.event, a.chain = true, a.send
	return a
}

// sendEvent sends an event to other nodes, all at once, and waits for the answers of those that do not only watch.
func sendEvent[T any](ctx context.Context, to []*remoteAction, payload T) error {
	if slices.ContainsFunc(to, (*remoteAction).onlyWatches) {
		to = sendToWatchers(ctx, to, payload)
	}
	if len(to) == 0 {
		return nil
	}
	if len(to) == 1 {
		return sendEventTo(ctx, to[0], payload)
	}
	errs := make([]error, len(to))
	var wg sync.WaitGroup
	for i, a := range to {
		wg.Go(func() {
			send := func(ctx context.Context) error { return sendEventTo(ctx, a, payload) }
			isolateGoroutine(a.action.Name, ctx, send, func(err error) {
				a.op.node.logPanic(ctx, err)
				errs[i] = err
			})
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// sendEventTo sends an event to one node, or to one of a group.
func sendEventTo[T any](ctx context.Context, to *remoteAction, payload T) error {
	_, err := callRemote[Empty](ctx, to, payload, callOptions{})
	if err != nil && to.allLeft(err) {
		return nil // the last of the group have just left, unknown to this node: no handler takes the event, as is permitted
	}
	return err
}

// allLeft reports whether an event did not arrive because all nodes that were to get it have left in order, or their
// handlers have.
func (a *remoteAction) allLeft(err error) bool {
	to := a.providers.Load().nodes
	if lost, ok := errors.AsType[*wire.LostError](err); ok {
		return !lost.Sent && !slices.ContainsFunc(to, func(p provider) bool { return p.peer == nil || !p.peer.HasLeft() })
	}
	return a.notTaken(err) && len(to) <= 1+maxReroutes
}

// notTaken reports whether the error means that the action, or the handlers of the group, had just gone from the node.
func (a *remoteAction) notTaken(err error) bool {
	failure, ok := err.(*Error)
	switch {
	case !ok || !failure.Retryable: // a handler has run
		return false
	case a.kind == wire.EventRoute:
		return failure.Name == nameGroupGone
	}
	return failure.Name == nameActionNotFound || failure.Name == nameServiceUnavailable
}

// otherProviders bounds the further nodes that are tried, one after the other, where the action has just gone from one.
func (a *remoteAction) otherProviders() int { return min(maxReroutes, len(a.providers.Load().nodes)-1) }
