package sabir

import (
	"cmp"
	"context"
	"errors"
	"sort"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/wire"
)

// An action is absent while no node offers it though one did lately: its node was lost, or has left. It stays in the routing table
// with no providers, so that its calls go through the middlewares of this node, and fail there with ErrServiceUnavailable: retries,
// breakers and metrics get to see them. A name that nobody has known is in no table, and is ErrActionNotFound.

const (
	// absentFor is the time for which the actions of a lost node are remembered.
	absentFor = 5 * time.Minute
	// maxAbsent bounds the names that are remembered: those of a node with the largest catalog there may be.
	maxAbsent = membership.MaxActions
)

// loss is the moment at which an action became absent.
type loss struct {
	node string
	at   time.Time
}

// WaitForNode lets the call wait for at most d, within its deadline, where no node offers the action now: for one that starts, or
// that comes back. It goes on as soon as a node offers the action, to that one. Where none came in time, the call fails with
// [ErrServiceUnavailable]. A call waits once, whatever retries are on the way. In a cluster an action that nobody has known is
// waited for too.
func WaitForNode(d time.Duration) CallOption {
	return func(o *callOptions) {
		o.once("WaitForNode", o.wait != 0)
		o.wait = max(d, 1)
	}
}

// rememberAbsent adds to a table, which replaces old, the actions that old had from nodes that have gone. What a node that is still
// there has withdrawn, by Node.Remove, is not remembered. It takes time for each service that is absent or has changed, not for
// each action: when many nodes go at once, each of the others does this for every one of them.
func (n *Node) rememberAbsent(t, old *routingTable, others map[string]provider) {
	if n.forgetting != nil {
		n.forgetting.Stop()
	}
	now := time.Now()
	t.absent, t.absentVersions = make(map[string][]*remoteService), make(map[string][]*remoteService)
	for full, lost := range old.absent {
		if still := t.stillAbsent(full, lost, now); len(still) > 0 {
			t.absent[full] = still
		}
	}
	if n.remote == nil {
		for full, s := range old.remote {
			if t.remote[full] == s {
				continue
			}
			if lost := n.lostOf(s, t, old.view, others, now); lost != nil {
				t.absent[full] = t.stillAbsent(full, append([]*remoteService{lost}, t.absent[full]...), now)
			}
		}
	}
	if len(t.absent) == 0 {
		return
	}
	t.boundAbsent()
	first := now
	for _, lost := range t.absent {
		for _, s := range lost {
			if s.lost.Before(first) {
				first = s.lost
			}
			if s.number > 0 {
				t.absentVersions[s.name] = append(t.absentVersions[s.name], s)
			}
		}
	}
	for _, versions := range t.absentVersions {
		sort.Slice(versions, func(i, j int) bool {
			return cmp.Or(cmp.Compare(versions[j].rank(), versions[i].rank()), versions[j].lost.Compare(versions[i].lost)) < 0
		})
	}
	n.forgetting = time.AfterFunc(absentFor-now.Sub(first), n.forgetAbsent)
}

// offers reports whether a node offers the action of that full name.
func (t *routingTable) offers(full string) bool {
	if t.localActions[full] != nil {
		return true
	}
	s, _ := t.offering(full)
	return s != nil
}

// forgetAbsent makes the table without what was absent for too long.
func (n *Node) forgetAbsent() {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	old := n.table.Load()
	n.setTable(n.newTable(old.byFull, old.view, old))
}

// stopForgetting ends the timer of forgetAbsent.
func (n *Node) stopForgetting() {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	if n.forgetting != nil {
		n.forgetting.Stop()
	}
}

// Absent lists the actions of other nodes that no node offers now, though one did in the last five minutes. Calls of them are
// [ErrServiceUnavailable], and [Node.Actions] is without them. It is for gateways, whose addresses for them stay. Those of
// the version that names without one reach come before those of others.
func (n *Node) Absent() []*Action {
	t := n.table.Load()
	var list []*remoteAction
	for full, lost := range t.absent {
		for i, s := range lost {
			for _, o := range s.all() {
				if !t.offers(full+"."+o.short) && !has(lost[:i], o.short) {
					list = append(list, s.action(o.short))
				}
			}
		}
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i], list[j]
		return cmp.Or(cmp.Compare(b.version().rank(), a.version().rank()), strings.Compare(a.action.Name, b.action.Name)) < 0
	})
	actions := make([]*Action, len(list))
	for i, a := range list {
		actions[i] = a.action
	}
	return actions
}

// Awaits reports whether the name, of an action or a service, is of a service that this node expects and does not see now: one that
// its services depend on, see [DependsOn], that it has bound actions of, see [Bind], or that waits on some node until it may start, for
// other services or, see [Once], for its lease. A gateway answers [ErrServiceUnavailable] to calls of it, since it may be there in a
// moment. A node outside a cluster awaits only what it may run itself.
func (n *Node) Awaits(name string) bool {
	if names.Fault(name) != "" {
		return false
	}
	waiting := n.waitingNames()
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	t := n.table.Load()
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '.' {
			continue
		}
		service := name[:i]
		if t.services[service] || t.hasAbsent(service) {
			continue
		}
		if waiting[service] != "" || n.hasOthers() && (n.boundServices[service] > 0 || n.depended(service)) {
			return true
		}
	}
	return false
}

// hasAbsent reports whether actions of the service are absent: it is known then, and other names of it are not its.
func (t *routingTable) hasAbsent(service string) bool {
	return len(t.absent[service]) > 0 || len(t.absentVersions[service]) > 0
}

// serviceOf is the service of an action's full name, as far as names show it.
func serviceOf(action string) string { return action[:max(0, strings.LastIndexByte(action, '.'))] }

// absence is the error of a call of the action while no node offers it.
func (a *remoteAction) absence(o *callOptions) *Error {
	n, name := a.op.node, a.action.Name
	e := &Error{Code: CodeUnavailable, Name: nameServiceUnavailable, Node: n.id, Retryable: true, Message: "no node offers " + name, cause: membership.ErrNotOffered}
	if lost := a.lost.Load(); lost != nil && n.table.Load().isAbsent(a) {
		e.Message += "; " + lost.node + " did until " + ago(time.Since(lost.at))
		return e
	}
	unknown := n.notFound("action", name)
	if a.kind == wire.EventRoute || unknown.Code != CodeNotFound || o.wait == 0 && !n.Awaits(name) {
		return unknown
	}
	// A node that is there may have offered it before, and have withdrawn it.
	e.Message += " now"
	if node := n.waitingNames()[serviceOf(name)]; node != "" {
		e.Message += ": " + serviceOf(name) + " waits on " + node + " until it may start"
	}
	if _, meant, similar := strings.Cut(unknown.Message, "; did you mean "); similar {
		e.Message, e.Data = e.Message+"; did you mean "+meant, unknown.Data
	}
	return e
}

// ago is a time that has passed, for people.
func ago(d time.Duration) string {
	switch {
	case d < time.Second:
		return itoa(int(d.Milliseconds())) + " ms ago"
	case d < 2*time.Minute:
		return itoa(int(d.Seconds())) + " s ago"
	}
	return itoa(int(d.Minutes())) + " min ago"
}

// await is called for a call that no node takes now, with the error that says so. It waits as long as the call may, and returns what
// takes it: an action of this node, or one of others, which need not be a.
func (a *remoteAction) await(ctx context.Context, o *callOptions, absent error) (endpoint, error) {
	n := a.op.node
	limit := cmp.Or(o.wait, n.waitForNode)
	if o.timeout > 0 {
		limit = min(limit, o.timeout)
	}
	var began time.Time
	var over <-chan time.Time
	for {
		changed := n.Changed()
		if e := a.offered(o); e != nil {
			if o.timeout > 0 && over != nil {
				o.timeout = max(o.timeout-time.Since(began), 1)
			}
			return e, nil
		}
		if n.stateNow() == stateStopped { // nobody comes any more
			return nil, absent
		}
		if over == nil {
			if limit <= 0 || AsError(absent).Code == CodeNotFound {
				return nil, absent
			}
			o.wait = -1 // once in a call
			began = time.Now()
			timer := time.NewTimer(limit)
			defer timer.Stop()
			over = timer.C
		}
		select {
		case <-changed:
			continue
		case <-over:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, a.op.contextError(context.Canceled)
			}
		}
		e := *AsError(absent)
		e.Message += "; waited for " + time.Since(began).Round(time.Millisecond).String()
		return nil, &e
	}
}

// offered returns the endpoint that calls of the name reach now; nil for none, and for an action that other callers may call than a, since gateways
// have decided by a.
func (a *remoteAction) offered(o *callOptions) endpoint {
	t := a.op.node.table.Load()
	if o.node != "" {
		if _, err := a.op.node.providerByName(a.action.Name, o.node); err != nil || t.view == nil || len(t.view.Services(o.node)) == 0 {
			return nil // linked, it may still be starting
		}
		return a
	}
	name := a.action.Name
	if o.split { // its version was lost, whose share goes to the rest
		name = a.action.unversioned()
	}
	e := usual(t.find(name))
	if other, isRemote := e.(*remoteAction); e == nil || isRemote && len(other.providers.Load().nodes) == 0 {
		return nil
	}
	if described := a.action.Service != ""; described && e.info().visibility() != a.action.visibility() {
		return nil
	}
	return e
}
