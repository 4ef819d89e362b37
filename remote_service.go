package sabir

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/introspect"
)

// remoteService is one version of a service as other nodes offer it. It never changes: the next table has the same one where its nodes,
// and what they tell of it, are the same. So a change of one service costs as much as that has, however many there are.
//
// Its actions are made when they are first looked up: a node of a large cluster calls few of all that it knows, and what is made for calls
// takes five times the memory of the description.
type remoteService struct {
	version
	node      *Node
	name      string                    // without the version
	offers    []membership.ServiceOffer // of all nodes, those too that calls cannot go to
	nodes     []provider                // those that calls can go to, as long as offers: of others it is zero
	own       *published                // this node's service of that name, which stands before it or shares its calls; nil for none
	here      *membership.Candidate     // this node, where it shares calls
	described []*membership.Service     // the different descriptions by its nodes, in their order
	index     map[string]offeredAction  // by their names within the service; nil for a service of few
	lost      time.Time                 // when its nodes went; zero while they are there, see lost_service.go

	making sync.Mutex            // guards alone, and that an action is made once
	alone  map[string]*providers // by node: what the actions that it alone offers have in common
	made   sync.Map              // string to *remoteAction: by their names within the service
}

// offeredAction is the description of an action by the first node that has it.
type offeredAction struct {
	short   string // its name within the service
	service *membership.Service
	action  *membership.Action
}

// maxUnindexed is the number of actions among which one is found about as quickly without an index.
const maxUnindexed = 64

// is reports whether a service with these offers and nodes is this one.
func (s *remoteService) is(offers []membership.ServiceOffer, nodes []provider, own *published, here *membership.Candidate) bool {
	return s != nil && s.own == own && s.here == here && len(s.offers) == len(offers) && (len(offers) == 0 || &s.offers[0] == &offers[0]) &&
		slices.EqualFunc(s.nodes, nodes, func(a, b provider) bool { return a.same(&b) && a.candidate == b.candidate })
}

// addRemoteActions adds the services of other nodes to a table that has this node's own.
func (n *Node) addRemoteActions(t *routingTable, defaults map[string]version, old *routingTable, others map[string]provider) {
	if t.view == nil {
		return
	}
	for full, offers := range t.view.Offers() {
		nodes, some := offering(offers, others)
		if !some || strings.HasPrefix(offers[0].Service.Name, "$") { // every node has its own
			continue
		}
		own, known := t.byFull[full], old.remote[full]
		var here *membership.Candidate
		if own != nil && n.shares {
			here = n.ownCandidate()
		}
		if !known.is(offers, nodes, own, here) {
			known = n.newRemoteService(t, full, offers, nodes, old)
			known.here = here
		}
		t.remote[full], t.services[full] = known, true
		chooseDefault(defaults, known.name, known.version)
	}
}

// offering is the nodes of the offers that calls can go to, each at the place of its offer, and whether there are some. One that has just
// gone is not among them, since the next view is without it, and no client-only one, whose services are there for their events.
func offering(offers []membership.ServiceOffer, others map[string]provider) (nodes []provider, some bool) {
	nodes = make([]provider, len(offers))
	for i, o := range offers {
		if p, there := others[o.Node]; there && !o.Service.Unlisted {
			nodes[i], some = p, true
		}
	}
	return nodes, some
}

// newRemoteService makes the service. Those of its actions that were made before stay the same ones where they are described as before.
func (n *Node) newRemoteService(t *routingTable, full string, offers []membership.ServiceOffer, nodes []provider, old *routingTable) *remoteService {
	s := &remoteService{version: version{full: full}, node: n, offers: offers, nodes: nodes, own: t.byFull[full], described: differentOf(offers, nodes), alone: make(map[string]*providers)}
	s.name, s.number = s.described[0].Name, s.described[0].Version
	for _, d := range s.described {
		s.preferred = s.preferred || d.Preferred
	}
	s.makeIndex()
	before := old.absent[full]
	if known := old.remote[full]; known != nil {
		before = append([]*remoteService{known}, before...)
	}
	for _, known := range before {
		known.made.Range(func(short, known any) bool {
			if o := s.find(short.(string)); o.action != nil {
				s.make(o, known.(*remoteAction))
			}
			return true
		})
	}
	return s
}

func (s *remoteService) makeIndex() {
	if s.size() <= maxUnindexed {
		return
	}
	s.index = make(map[string]offeredAction, s.size())
	for _, o := range s.all() {
		s.index[o.short] = o
	}
}

// all lists the descriptions of the actions that calls of this node can reach.
func (s *remoteService) all() (list []offeredAction) {
	seen := make(map[string]bool)
	for _, d := range s.described {
		for i := range d.Actions {
			short, ok := s.shortName(&d.Actions[i])
			if !ok || seen[short] {
				continue
			}
			if len(s.described) > 1 {
				seen[short] = true
			}
			list = append(list, offeredAction{short, d, &d.Actions[i]})
		}
	}
	return list
}

// shortName is the name of an action within the service; false for one that calls of this node do not reach here: this node's own goes before
// it, or the name is not what a node of this kind sends.
func (s *remoteService) shortName(offered *membership.Action) (string, bool) {
	short, ok := strings.CutPrefix(offered.Name, s.full+".")
	if !ok || names.Fault(offered.Name) != "" {
		return "", false
	}
	own := s.ownAction(offered.Name)
	return short, own == nil || s.node.shares && !own.info().Stream
}

// ownAction is the action of this node's service of that name; nil for none.
func (s *remoteService) ownAction(name string) local {
	if s.own == nil {
		return nil
	}
	for _, e := range s.own.endpoints {
		if e.info().Name == name {
			return e
		}
	}
	return nil
}

// find is the description of an action, given its name within the service; zero for none.
func (s *remoteService) find(short string) offeredAction {
	if s.index != nil {
		return s.index[short]
	}
	for _, d := range s.described {
		for i := range d.Actions {
			if name := d.Actions[i].Name; len(name) == len(s.full)+1+len(short) && strings.HasSuffix(name, short) {
				if _, ok := s.shortName(&d.Actions[i]); ok {
					return offeredAction{short, d, &d.Actions[i]}
				}
			}
		}
	}
	return offeredAction{}
}

// has reports whether calls of this node can reach an action of that name within the service.
func (s *remoteService) has(short string) bool {
	_, made := s.made.Load(short)
	return made || s.find(short).action != nil
}

// action is the action of that name within the service; nil for none.
func (s *remoteService) action(short string) *remoteAction {
	if a, ok := s.made.Load(short); ok {
		return a.(*remoteAction)
	}
	o := s.find(short)
	if o.action == nil {
		return nil
	}
	return s.make(o, nil)
}

// make makes an action, or goes on with the known one where it is described as before.
func (s *remoteService) make(o offeredAction, known *remoteAction) *remoteAction {
	s.making.Lock()
	defer s.making.Unlock()
	if a, ok := s.made.Load(o.short); ok {
		return a.(*remoteAction)
	}
	a := s.node.remoteActionFor(o.service, o.action, known)
	if s.lost.IsZero() {
		a.offeredBy(s.offering(o.action.Name), s.ownAction(o.action.Name), s.alone)
	} else {
		a.lose(s)
	}
	s.made.Store(o.short, a)
	return a
}

// differentOf is the different descriptions of a service by the nodes that calls can go to, in the order of these.
func differentOf(offers []membership.ServiceOffer, nodes []provider) (list []*membership.Service) {
	known := make(map[*membership.Service]bool)
	for i, o := range offers {
		if nodes[i].candidate != nil && !known[o.Service] {
			known[o.Service] = true
			list = append(list, o.Service)
		}
	}
	return list
}

// offering is the nodes that offer an action of the service.
func (s *remoteService) offering(action string) []provider {
	offers := make(map[*membership.Service]bool, len(s.described))
	for _, d := range s.described {
		offers[d] = d.Offers(action)
	}
	nodes := make([]provider, 0, len(s.nodes)+1)
	for i := range s.nodes {
		if s.nodes[i].candidate != nil && offers[s.offers[i].Service] {
			nodes = append(nodes, s.nodes[i])
		}
	}
	return nodes
}

// remoteActionFor is the action that is known where it is described as before, and else a new one.
func (n *Node) remoteActionFor(s *membership.Service, offered *membership.Action, known *remoteAction) *remoteAction {
	if known != nil && known.describes(s, offered) {
		return known
	}
	form := offered.Form()
	visibility := form.Visibility
	full := s.FullName()
	a := n.newRemoteAction(&Action{Name: offered.Name, Service: full, Short: strings.TrimPrefix(offered.Name, full+"."),
		Version: s.Version, Description: offered.Description,
		NodeOnly: visibility == "private", ClusterOnly: visibility != "private" && visibility != "public", Inline: offered.Inline, Stream: offered.Stream, Shape: introspect.Shape(form.Shape),
		Idempotent: offered.Idempotent, Codecs: form.Codecs, Routes: parseRoutes(form.Routes), Statuses: statusesOf(form.Statuses), Remote: true, remoteIn: offered.In, remoteOut: offered.Out})
	a.in, a.out, a.routes, a.visibility, a.preferred = offered.In, offered.Out, string(form.Routes), form.Visibility, s.Preferred
	return a
}

// offeredBy has the calls of the action go to these nodes, and to this one where it has the action too and shares its calls. What one node
// alone offers has the same providers, which alone keeps by node.
func (a *remoteAction) offeredBy(nodes []provider, own local, alone map[string]*providers) {
	if own != nil {
		nodes = append(nodes, provider{id: a.op.node.id, candidate: a.op.node.ownCandidate()})
	}
	before := a.providers.Load()
	if before.are(nodes, own) {
		return
	}
	a.follow(nodes, before)
	if len(nodes) != 1 || own != nil {
		a.providers.Store(newProviders(nodes, own))
		return
	}
	one := alone[nodes[0].id]
	if one == nil {
		one = newProviders(nodes, nil)
		alone[nodes[0].id] = one
	}
	a.providers.Store(one)
}

// offering is the service of other nodes that has the action of that full name, and the action's name within it; nil for none. The name of an action
// may have dots, as that of a service has, so the service with the longest name counts.
func (t *routingTable) offering(name string) (s *remoteService, short string) {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] != '.' {
			continue
		}
		if s := t.remote[name[:i]]; s != nil && s.has(name[i+1:]) {
			return s, name[i+1:]
		}
	}
	return nil, ""
}

// offeringDefault is offering for a name without a version, of a service that has versions.
func (t *routingTable) offeringDefault(name string) (s *remoteService, short string) {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] != '.' {
			continue
		}
		if s := t.remote[t.defaults[name[:i]]]; s != nil && s.has(name[i+1:]) {
			return s, name[i+1:]
		}
	}
	return nil, ""
}

// fullRemote is the action of other nodes of that full name; nil for none. It finds the same one as offering.
func (t *routingTable) fullRemote(name string) *remoteAction {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] != '.' {
			continue
		}
		if s := t.remote[name[:i]]; s != nil {
			if a := s.action(name[i+1:]); a != nil {
				return a
			}
		}
	}
	return nil
}

// findRemote is the action of other nodes that a name with or without a version reaches; nil for none.
func (t *routingTable) findRemote(name string) *remoteAction {
	if a := t.fullRemote(name); a != nil {
		return a
	}
	if s, short := t.offeringDefault(name); s != nil {
		return s.action(short)
	}
	return nil
}

// find is the endpoint that a name reaches; nil for none.
func (t *routingTable) find(name string) endpoint {
	if e := t.actions[name]; e != nil {
		return e
	}
	if a := t.findRemote(name); a != nil {
		return a
	}
	if a := t.findAbsent(name); a != nil {
		return a
	}
	return nil
}

// madeActions is the actions of other nodes that were looked up, absent ones too.
func (t *routingTable) madeActions() (list []*remoteAction) {
	add := func(s *remoteService) {
		s.made.Range(func(_, a any) bool {
			list = append(list, a.(*remoteAction))
			return true
		})
	}
	for _, s := range t.remote {
		add(s)
	}
	for _, lost := range t.absent {
		for _, s := range lost {
			add(s)
		}
	}
	return list
}

// names lists all names that reach an endpoint which is offered.
func (t *routingTable) names() (list []string) {
	for name := range t.actions {
		list = append(list, name)
	}
	for full, s := range t.remote {
		for _, o := range s.all() {
			name := full + "." + o.short
			if other, _ := t.offering(name); other == s && t.actions[name] == nil {
				list = append(list, name)
			}
		}
	}
	for service, full := range t.defaults {
		s := t.remote[full]
		if s == nil {
			continue
		}
		for _, o := range s.all() {
			name := service + "." + o.short
			if other, _ := t.offering(name); other != nil || t.actions[name] != nil {
				continue
			}
			if other, _ := t.offeringDefault(name); other == s {
				list = append(list, name)
			}
		}
	}
	return list
}

// all yields all names that reach an endpoint which is offered, with it. It makes the actions of other nodes that were not looked up yet.
func (t *routingTable) all(yield func(string, endpoint) bool) {
	for _, name := range t.names() {
		if !yield(name, t.find(name)) {
			return
		}
	}
}
