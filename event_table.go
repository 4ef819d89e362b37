package sabir

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/recent"
)

// eventTable finds the handlers and nodes for an event. The plan for a name is made when the first event of that name is emitted and
// then remembered, so that later ones read a map; where many are remembered already, when the name comes again. A change of who listens
// forgets the plans of those names that it is about.
type eventTable struct {
	node  *Node
	plans *recent.Cache[string, *eventPlan] // of the names that are emitted here, and of those that other nodes send
	came  recent.Repeats                    // the names without a plan that came, once there are many plans

	mu        sync.RWMutex // plans are added under it, so that none is remembered that was made before a change
	here      names.Patterns[*subscribed]
	receivers []*subscribed // all in here, in the order they came
	elsewhere names.Patterns[remoteSubscription]
	listeners map[string]listener // by node: all in elsewhere
	view      *membership.View    // that elsewhere is made of
	last      int                 // order of the last receiver

	warned warnedEvents
}

// subscribed is a running handler and the service it belongs to.
type subscribed struct {
	service  *Service
	receiver receiver
	order    int // in which handlers of this node came
}

// eventPlan is the handlers and nodes that the events of one name go to.
type eventPlan struct {
	groups       []eventGroup    // with members on this node
	remoteGroups []*remoteAction // to each group that has members on other nodes only: one of them
	remoteNodes  []*remoteAction // to each other node that takes it
	alone        [1]eventGroup   // room for groups, where there is one
	all          atomic.Pointer[[]*delivery]
}

// everyone is the deliveries of an event that is broadcast, to all members of all groups on this node. They are made at the first.
func (p *eventPlan) everyone() []*delivery {
	if known := p.all.Load(); known != nil {
		return *known
	}
	var all []*delivery
	for i := range p.groups {
		for _, at := range p.groups[i].members {
			to := newDelivery(at.op.node, at.op.service, at.op.name, at.receiver)
			to.op.broadcast = true
			all = append(all, to)
		}
	}
	if !p.all.CompareAndSwap(nil, &all) {
		return *p.all.Load()
	}
	return all
}

// maxEventPlans bounds the names that are remembered, of which each takes about 700 bytes where one handler listens. For an event of any other
// name a plan is made anew, which takes some ten times as long.
const maxEventPlans = 16_384

func newEventTable(n *Node) *eventTable {
	return &eventTable{node: n, plans: recent.New[string, *eventPlan](maxEventPlans), listeners: make(map[string]listener)}
}

func (t *eventTable) plan(name string) (*eventPlan, error) {
	if p, ok := t.plans.Get(name); ok {
		return p, nil
	}
	if err := badEventName(name); err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	p := t.match(name)
	if t.plans.HalfFull() && !t.came.Again(name) {
		return p, nil // remembering a name that never comes again costs more than matching it
	}
	return t.plans.Add(name, p), nil
}

// match finds, for each group and service, the most specific handler that takes the name.
func (t *eventTable) match(name string) *eventPlan {
	p := &eventPlan{}
	p.groups = p.alone[:0]
	place := make(map[string]int) // of a group in the plan
	var space [8]*subscribed
	for _, s := range t.mostSpecific(space[:0], name) {
		sub := s.receiver.subscription()
		i, found := place[sub.Group]
		if !found {
			i = len(p.groups)
			place[sub.Group] = i
			p.groups = append(p.groups, eventGroup{name: sub.Group, watches: true})
			p.groups[i].members = p.groups[i].alone[:0]
			p.groups[i].turn.Store(rand.Uint32()) // a plan that is not remembered must not always begin with the same one
		}
		p.groups[i].watches = p.groups[i].watches && sub.watches
		to := newDelivery(t.node, sub.Service, name, s.receiver)
		p.groups[i].members = append(p.groups[i].members, to)
	}
	t.matchRemote(name, p)
	return p
}

// byOrder sorts handlers in the order in which they came.
type byOrder []*subscribed

func (b byOrder) Len() int           { return len(b) }
func (b byOrder) Less(i, j int) bool { return b[i].order < b[j].order }
func (b byOrder) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

// mostSpecific appends the handlers of this node that get the events of the name to an empty list, in the order in which they came.
func (t *eventTable) mostSpecific(taking []*subscribed, name string) []*subscribed {
	taking = t.here.AppendMatches(taking, name)
	if len(taking) < 2 {
		return taking
	}
	sort.Sort(byOrder(taking)) // slices.SortFunc takes 6 KB of the program for pointers, and sort.Slice longer
	type member struct {
		group   string
		service *Service
	}
	place := make(map[member]int, len(taking)) // in best
	best := taking[:0]
	for _, s := range taking {
		sub := s.receiver.subscription()
		m := member{sub.Group, s.service}
		i, found := place[m]
		switch {
		case !found:
			place[m] = len(best)
			best = append(best, s)
		case names.MoreSpecific(sub.Pattern, best[i].receiver.subscription().Pattern):
			best[i] = s
		}
	}
	return best
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
		list = append(list, subscribed{service: s, receiver: r})
	}
	return list, nil
}

func (n *Node) subscribe(more []subscribed) {
	for _, s := range more {
		s.receiver.begin()
	}
	n.events.add(more)
}

func (t *eventTable) add(more []subscribed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var changed names.Patterns[*subscribed]
	for _, s := range more {
		t.last++
		s.order = t.last
		pattern := s.receiver.subscription().Pattern
		t.here.Add(pattern, &s)
		t.receivers = append(t.receivers, &s)
		changed.Add(pattern, nil)
	}
	t.forget(&changed)
}

// remove takes the handlers of a service out and returns them.
func (t *eventTable) remove(s *Service) (gone []*subscribed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var changed names.Patterns[*subscribed]
	t.receivers = slices.DeleteFunc(t.receivers, func(r *subscribed) bool {
		if r.service != s {
			return false
		}
		pattern := r.receiver.subscription().Pattern
		t.here.Remove(pattern, r)
		changed.Add(pattern, nil)
		gone = append(gone, r)
		return true
	})
	t.forget(&changed)
	return gone
}

// forget forgets the plans of the names that any of the patterns takes. Their values are of no use: they have the type of those of here, since
// one type more takes 5 KB of the program.
func (t *eventTable) forget(changed *names.Patterns[*subscribed]) {
	var space [8]*subscribed
	t.plans.DeleteFunc(func(name string, _ *eventPlan) bool { return len(changed.AppendMatches(space[:0], name)) > 0 })
}

// forgetPaths makes the plans forget the call paths of their handlers, see Node.forgetPaths.
func (t *eventTable) forgetPaths() {
	for _, p := range t.plans.All {
		for i := range p.groups {
			for _, d := range p.groups[i].members {
				d.op.nested.Store(nil)
			}
		}
		if broadcast := p.all.Load(); broadcast != nil {
			for _, d := range *broadcast {
				d.op.nested.Store(nil)
			}
		}
		for _, a := range slices.Concat(p.remoteGroups, p.remoteNodes) {
			a.op.nested.Store(nil)
		}
	}
}

// unsubscribe lets no new events to the service and waits until its queues are empty.
func (n *Node) unsubscribe(ctx context.Context, s *Service) error {
	var errs []error
	for _, r := range n.events.remove(s) {
		errs = append(errs, r.receiver.finish(ctx))
	}
	return errors.Join(errs...)
}
