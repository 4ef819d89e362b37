package sabir

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir/cluster"
)

// eventTable is the handlers of a node at one moment. Which of them an event goes to is worked out at its first
// emission and remembered, so later ones read a map.
type eventTable struct {
	node      *Node
	receivers []subscribed
	view      *cluster.View
	plans     atomic.Pointer[map[string]*eventPlan]
	lock      sync.Mutex
}

// subscribed is a running handler and the service it belongs to.
type subscribed struct {
	service  *Service
	receiver receiver
}

// eventPlan is where the events of one name go.
type eventPlan struct {
	groups []eventGroup // with members on this node
	away   []*away      // to each group that has members on other nodes only: one of them
	others []*away      // to each other node that takes it
}

// maxEventPlans bounds how many names are remembered; events of other names are matched at each emission.
const maxEventPlans = 4096

func newEventTable(n *Node, view *cluster.View, receivers ...subscribed) *eventTable {
	t := &eventTable{node: n, view: view, receivers: receivers}
	t.plans.Store(&map[string]*eventPlan{})
	return t
}

func (t *eventTable) plan(name string) (*eventPlan, error) {
	if p := (*t.plans.Load())[name]; p != nil {
		return p, nil
	}
	if err := badEventName(name); err != nil {
		return nil, err
	}
	p := t.match(name)
	t.lock.Lock()
	defer t.lock.Unlock()
	known := *t.plans.Load()
	if first := known[name]; first != nil {
		return first, nil
	}
	if len(known) < maxEventPlans {
		grown := maps.Clone(known)
		grown[name] = p
		t.plans.Store(&grown)
	}
	return p, nil
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
		sub := s.receiver.about()
		if !matches(sub.Pattern, name) {
			continue
		}
		m := member{sub.Group, s.service}
		old, found := best[m]
		if !found {
			order = append(order, m)
		}
		if !found || moreSpecific(sub.Pattern, old.receiver.about().Pattern) {
			best[m] = s
		}
	}
	byGroup := make(map[string][]*delivery)
	var names []string
	for _, m := range order {
		if byGroup[m.group] == nil {
			names = append(names, m.group)
		}
		step := newStep(t.node, best[m].receiver.about().Service, name)
		step.event = true
		byGroup[m.group] = append(byGroup[m.group], &delivery{step, best[m].receiver})
	}
	p := &eventPlan{groups: make([]eventGroup, len(names))}
	for i, group := range names {
		p.groups[i].name, p.groups[i].members = group, byGroup[group]
		p.groups[i].turn.Store(rand.Uint32()) // a plan that is not remembered must not always begin with the same one
	}
	t.matchAway(name, p)
	return p
}

func (n *Node) openEvents(s *Service) ([]subscribed, error) {
	list := make([]subscribed, 0, len(s.handlers))
	for _, def := range s.handlers {
		r, err := def.open(n, s)
		if err != nil {
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
