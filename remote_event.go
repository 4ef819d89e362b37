package sabir

import (
	"context"
	"errors"
	"slices"
	"sort"
	"sync"

	"github.com/sabir-go/sabir/internal/budget"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/wire"
)

// listener is another node as the table of events knows it.
type listener struct {
	provider
	catalog       *membership.Catalog
	subscriptions map[membership.Subscription]bool
}

// remoteSubscription is one handler of events on another node.
type remoteSubscription struct {
	provider
	membership.Subscription
}

// follow takes in what other nodes listen to now; view is nil where there are none. It costs what has changed.
func (t *eventTable) follow(view *membership.View) {
	if view == nil {
		view = &membership.View{}
	}
	others := t.node.otherNodes()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.view = view
	var changed names.Patterns[*subscribed]
	for id, old := range t.listeners {
		if _, there := others[id]; !there || view.Catalog(id) == nil {
			t.change(old, listener{}, &changed)
			delete(t.listeners, id)
		}
	}
	for _, id := range view.Nodes() {
		other, there := others[id]
		if !there {
			continue // it has just gone: the next view is without it
		}
		now, old := listener{provider: other, catalog: view.Catalog(id)}, t.listeners[id]
		if now.provider == old.provider && now.catalog == old.catalog {
			continue
		}
		now.subscriptions = make(map[membership.Subscription]bool)
		for i := range now.catalog.Services {
			for _, sub := range now.catalog.Services[i].Events {
				now.subscriptions[sub] = true
			}
		}
		t.change(old, now, &changed)
		t.listeners[id] = now
	}
	t.forget(&changed)
}

// change brings the patterns up to date with those of one node.
func (t *eventTable) change(old, now listener, changed *names.Patterns[*subscribed]) {
	same := old.provider == now.provider
	for sub := range old.subscriptions {
		if !same || !now.subscriptions[sub] {
			t.elsewhere.Remove(sub.Pattern, remoteSubscription{old.provider, sub})
			changed.Add(sub.Pattern, nil)
		}
	}
	for sub := range now.subscriptions {
		if !same || !old.subscriptions[sub] {
			t.elsewhere.Add(sub.Pattern, remoteSubscription{now.provider, sub})
			changed.Add(sub.Pattern, nil)
		}
	}
}

// matchRemote adds to a plan, which has the groups of this node, the other nodes that take the event.
//
// Events go as calls whose answer is nothing: so the emitter knows that they arrived, and cannot send more than the other
// side takes.
func (t *eventTable) matchRemote(name string, p *eventPlan) {
	taking := t.elsewhere.AppendMatches(nil, name)
	if len(taking) == 0 {
		return
	}
	sort.Slice(taking, func(i, j int) bool { // slices.SortFunc takes 20 KB of the program for each struct
		a, b := taking[i], taking[j]
		return a.id < b.id || a.id == b.id && a.Group < b.Group
	})
	byGroup := make(map[string][]provider)
	var groups []string
	byNode := make(map[string]*remoteAction)
	working := make(map[string]bool) // groups of which a member does not only watch
	for _, sub := range taking {
		if byNode[sub.id] == nil {
			a := t.node.newRemoteEvent(name, "")
			a.watches = true
			a.providers.Store(newProviders([]provider{sub.provider}, nil))
			byNode[sub.id] = a
			p.remoteNodes = append(p.remoteNodes, a)
		}
		if !sub.Watch {
			byNode[sub.id].watches, working[sub.Group] = false, true
		}
		if p.group(sub.Group) != nil {
			continue
		}
		members := byGroup[sub.Group]
		if members == nil {
			groups = append(groups, sub.Group)
		}
		if !slices.Contains(members, sub.provider) { // a node may have several services in one group
			byGroup[sub.Group] = append(members, sub.provider)
		}
	}
	for _, group := range groups {
		a := t.node.newRemoteEvent(name, group)
		a.watches = !working[group]
		a.providers.Store(newProviders(byGroup[group], nil))
		p.remoteGroups = append(p.remoteGroups, a)
	}
}

// group is the group of this node that has the name; nil for none.
func (p *eventPlan) group(name string) *eventGroup {
	for i := range p.groups {
		if p.groups[i].name == name {
			return &p.groups[i]
		}
	}
	return nil
}

// newRemoteEvent makes the endpoint of an event on other nodes: for one member of a group, or without a group for all
// handlers on a node.
func (n *Node) newRemoteEvent(event, group string) *remoteAction {
	a := &remoteAction{action: &Action{Name: event, Remote: true, node: n, budget: budget.New()}, op: newOperation(n, "", event), balancer: n.balancerFor(event),
		kind: wire.EventRoute, group: group}
	a.op.event, a.chain.run = true, a.send
	return a
}

// sendEvent sends an event to other nodes, all at once, and waits for the answers of those that do not only watch. payload points to the payload.
func sendEvent(ctx context.Context, to []*remoteAction, payload any) error {
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
func sendEventTo(ctx context.Context, to *remoteAction, payload any) error {
	err := to.callAny(ctx, payload, new(Empty), callOptions{}, to.chain)
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
