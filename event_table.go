package sabir

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/recent"
)

// eventTable is the handlers of a node at one moment. The plan for a name is made when the first event of that name is
// emitted and then remembered, so that later ones read a map.
type eventTable struct {
	node      *Node
	receivers []subscribed
	view      *membership.View
	plans     *recent.Cache[string, *eventPlan] // of the names that are emitted here, and of those that other nodes send
}

// subscribed is a running handler and the service it belongs to.
type subscribed struct {
	service  *Service
	receiver receiver
}

// eventPlan is the handlers and nodes that the events of one name go to.
type eventPlan struct {
	groups       []eventGroup    // with members on this node
	remoteGroups []*remoteAction // to each group that has members on other nodes only: one of them
	remoteNodes  []*remoteAction // to each other node that takes it
}

// maxEventPlans bounds the names that are remembered. For an event of any other name a plan is made anew.
const maxEventPlans = 4096

func newEventTable(n *Node, view *membership.View, receivers ...subscribed) *eventTable {
	return &eventTable{node: n, view: view, receivers: receivers, plans: recent.New[string, *eventPlan](maxEventPlans)}
}

func (t *eventTable) plan(name string) (*eventPlan, error) {
	if p, ok := t.plans.Get(name); ok {
		return p, nil
	}
	if err := badEventName(name); err != nil {
		return nil, err
	}
	return t.plans.Add(name, t.match(name)), nil
}

// match finds, for each group and service, the most specific handler that takes the name.
func (t *eventTable) match(name string) *eventPlan {
	type member struct {
		group   string
		service *Service
	}
	best := make(map[member]subscribed)
	var order []member
	for _, s := range t.receivers {
		sub := s.receiver.subscription()
		if !names.Match(sub.Pattern, name) {
			continue
		}
		m := member{sub.Group, s.service}
		old, found := best[m]
		if !found {
			order = append(order, m)
		}
		if !found || names.MoreSpecific(sub.Pattern, old.receiver.subscription().Pattern) {
			best[m] = s
		}
	}
	byGroup := make(map[string][]*delivery)
	var names []string
	for _, m := range order {
		if byGroup[m.group] == nil {
			names = append(names, m.group)
		}
		op := newOperation(t.node, best[m].receiver.subscription().Service, name)
		op.event, op.caller = true, eventCallerName(name, op.service)
		byGroup[m.group] = append(byGroup[m.group], &delivery{op, best[m].receiver})
	}
	p := &eventPlan{groups: make([]eventGroup, len(names))}
	for i, group := range names {
		p.groups[i].name, p.groups[i].members = group, byGroup[group]
		p.groups[i].turn.Store(rand.Uint32()) // a plan that is not remembered must not always begin with the same one
	}
	t.matchRemote(name, p)
	return p
}

func (n *Node) openEvents(s *Service) ([]subscribed, error) {
	list := make([]subscribed, 0, len(s.handlers))
	for _, def := range s.handlers {
		var r receiver
		open := func(context.Context) (err error) {
			r, err = def.open(n, s)
			return err
		}
		if err := n.isolated("the handler of "+def.pattern+" in "+s.fullName(), background, open); err != nil {
			return nil, err
		}
		list = append(list, subscribed{s, r})
	}
	return list, nil
}

func (n *Node) subscribe(more []subscribed) {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	for _, s := range more {
		s.receiver.begin()
	}
	now := n.events.Load()
	n.events.Store(newEventTable(n, now.view, append(slices.Clone(now.receivers), more...)...))
}

// unsubscribe lets no new events to the service and waits until its queues are empty.
func (n *Node) unsubscribe(ctx context.Context, s *Service) error {
	n.tableLock.Lock()
	var stay, leave []subscribed
	now := n.events.Load()
	for _, r := range now.receivers {
		if r.service == s {
			leave = append(leave, r)
		} else {
			stay = append(stay, r)
		}
	}
	n.events.Store(newEventTable(n, now.view, stay...))
	n.tableLock.Unlock()
	var errs []error
	for _, r := range leave {
		errs = append(errs, r.receiver.finish(ctx))
	}
	return errors.Join(errs...)
}
