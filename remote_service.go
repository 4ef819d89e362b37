package sabir

import (
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/introspect"
)

// remoteService is one version of a service as other nodes offer it. It never changes: the next table has the same one where its nodes,
// and what they tell of it, are the same. So a change of one service costs as much as that has, however many there are.
type remoteService struct {
	version
	name    string                    // without the version
	offers  []membership.ServiceOffer // of all nodes, those too that calls cannot go to
	nodes   []provider                // those that calls can go to, as long as offers: of others it is zero
	own     *published                // this node's service of that name, which stands before it or shares its calls; nil for none
	here    *membership.Candidate     // this node, where it shares calls
	actions map[string]*remoteAction  // by their names within the service
}

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

// newRemoteService makes the service with its actions. Those that are described as before stay the same ones.
func (n *Node) newRemoteService(t *routingTable, full string, offers []membership.ServiceOffer, nodes []provider, old *routingTable) *remoteService {
	s := &remoteService{version: version{full: full}, offers: offers, nodes: nodes, own: t.byFull[full]}
	before := old.remote[full]
	described := differentOf(offers, nodes)
	s.name, s.number = described[0].Name, described[0].Version
	s.actions = make(map[string]*remoteAction, len(described[0].Actions))
	alone := make(map[string]*providers) // by node: what the actions that it alone offers have in common
	for _, d := range described {
		s.preferred = s.preferred || d.Preferred
		for i := range d.Actions {
			offered := &d.Actions[i]
			short, ok := strings.CutPrefix(offered.Name, full+".")
			if !ok || names.Fault(offered.Name) != "" || s.actions[short] != nil {
				continue // not what a node of this kind sends; or there already
			}
			own := t.localActions[offered.Name]
			if own != nil && own.info().Service != full {
				own = nil // of another service of this node: it goes before
			}
			if own != nil && (!n.shares || own.info().Stream) {
				continue
			}
			known := old.absent[offered.Name]
			if before != nil && before.actions[short] != nil {
				known = before.actions[short]
			}
			a := n.remoteActionFor(d, offered, known)
			a.offeredBy(s.offering(offered.Name, described), own, alone)
			s.actions[short] = a
		}
	}
	return s
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
func (s *remoteService) offering(action string, described []*membership.Service) []provider {
	offers := make(map[*membership.Service]bool, len(described))
	for _, d := range described {
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
	visibility := introspect.Visibility(offered.Visibility)
	full := s.FullName()
	a := n.newRemoteAction(&Action{Name: offered.Name, Service: full, Short: strings.TrimPrefix(offered.Name, full+"."),
		Version: s.Version, Description: offered.Description,
		NodeOnly: visibility == introspect.NodeOnly, ClusterOnly: visibility != introspect.NodeOnly && visibility != introspect.Public, Inline: offered.Inline, Stream: offered.Stream, Shape: introspect.Shape(offered.Shape),
		Idempotent: offered.Idempotent, Codecs: offered.Codecs, Routes: parseRoutes(offered.Routes), Statuses: statusesOf(offered.Statuses), Remote: true, remoteIn: offered.In, remoteOut: offered.Out})
	a.in, a.out, a.routes, a.visibility, a.preferred = offered.In, offered.Out, string(offered.Routes), offered.Visibility, s.Preferred
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

// fullRemote is the action of other nodes of that full name; nil for none. The name of an action may have dots, as that of a service has, so
// the service with the longest name counts.
func (t *routingTable) fullRemote(name string) *remoteAction {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] != '.' {
			continue
		}
		if s := t.remote[name[:i]]; s != nil {
			if a := s.actions[name[i+1:]]; a != nil {
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
	for i := len(name) - 1; i > 0; i-- {
		if name[i] != '.' {
			continue
		}
		if s := t.remote[t.defaults[name[:i]]]; s != nil {
			if a := s.actions[name[i+1:]]; a != nil {
				return a
			}
		}
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
	return nil
}

// remoteActions is the actions that other nodes offer, by full name.
func (t *routingTable) remoteActions(yield func(string, *remoteAction) bool) {
	for _, s := range t.remote {
		for _, a := range s.actions {
			if !yield(a.action.Name, a) {
				return
			}
		}
	}
}

// all is all names that reach an endpoint.
func (t *routingTable) all(yield func(string, endpoint) bool) {
	for name, e := range t.actions {
		if !yield(name, e) {
			return
		}
	}
	for name, a := range t.remoteActions {
		if t.actions[name] == nil && t.findRemote(name) == a && !yield(name, a) {
			return
		}
	}
	for service, full := range t.defaults {
		s := t.remote[full]
		if s == nil {
			continue
		}
		for short, a := range s.actions {
			if name := service + "." + short; t.actions[name] == nil && t.findRemote(name) == a && !yield(name, a) {
				return
			}
		}
	}
}
