package sabir

import (
	"slices"
	"strings"

	"github.com/sabir-go/sabir/cluster"
)

// addAway adds what other nodes offer to a table that has this node's own: as actions of their own, or beside this
// node's where local calls are shared out too.
func (n *Node) addAway(t *table, stands map[string]version, known map[string]*away) {
	if t.view == nil {
		return
	}
	linked := n.linkedPeers()
	for _, node := range t.view.Nodes() {
		if linked[node] == nil {
			continue // it has just gone: the next view is without it
		}
		services := t.view.Services(node)
		for i := range services {
			s := &services[i]
			if strings.HasPrefix(s.Name, "$") {
				continue // every node has its own
			}
			v := version{full: fullServiceName(s.Name, s.Version), number: s.Version, preferred: s.Preferred}
			for _, offered := range s.Actions {
				if !strings.HasPrefix(offered.Name, v.full+".") || badName(offered.Name) != "" {
					continue // not what a node of this kind says
				}
				if t.away[offered.Name] == nil {
					n.addOffered(t, linked, s, &offered, known[offered.Name])
				}
				v.actions = append(v.actions, offered.Name)
			}
			t.services[v.full] = true
			choose(stands, s.Name, v)
		}
	}
}

// addOffered adds one action, which one of the linked nodes offers at least.
func (n *Node) addOffered(t *table, linked map[string]*peer, s *cluster.Service, offered *cluster.Action, known *away) {
	own := t.here[offered.Name]
	if own != nil && (!n.shares || own.info().Stream) {
		return
	}
	o := &offers{}
	for _, offer := range t.view.Action(offered.Name) {
		if p := linked[offer.Node]; p != nil {
			o.peers, o.candidates = append(o.peers, p), append(o.candidates, p.stats.Load())
		}
	}
	if own != nil {
		o.own = own
		o.peers, o.candidates = append(o.peers, nil), append(o.candidates, n.mesh.Load().self)
	}
	a := known
	if a == nil || !a.describes(s, offered) {
		visible := Public
		if visible.UnmarshalText([]byte(offered.Visibility)) != nil {
			visible = Cluster
		}
		a = n.newAway(&Action{Name: offered.Name, Service: fullServiceName(s.Name, s.Version), Short: strings.TrimPrefix(offered.Name, fullServiceName(s.Name, s.Version)+"."),
			Version: s.Version, Description: offered.Description, Visibility: visible, Inline: offered.Inline, Stream: offered.Stream,
			Idempotent: offered.Idempotent, Codecs: offered.Codecs, Routes: parseRoutes(offered.Routes), Remote: true})
		a.in, a.out, a.routes = offered.In, offered.Out, string(offered.Routes)
	}
	a.offers.Store(o)
	t.away[offered.Name], t.actions[offered.Name] = a, a
}

// describes tells whether what a node says of an action is what is known of it.
func (a *away) describes(s *cluster.Service, offered *cluster.Action) bool {
	return a.action.Version == s.Version && a.action.Description == offered.Description && a.action.Inline == offered.Inline &&
		a.action.Stream == offered.Stream && a.action.Idempotent == offered.Idempotent && slices.Equal(a.action.Codecs, offered.Codecs) && a.in == offered.In && a.out == offered.Out && a.routes == string(offered.Routes) &&
		(a.action.Visibility.String() == offered.Visibility || offered.Visibility == "" && a.action.Visibility == Public)
}

// linkedPeer is the node of that name if calls can go to it; else nil.
func (m *mesh) linkedPeer(node string) *peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.peers[node]; p != nil && p.takesCalls() {
		return p
	}
	return nil
}

// linkedPeers is the nodes that calls can go to, all as they are at one moment: none outside a cluster.
func (n *Node) linkedPeers() map[string]*peer {
	m := n.mesh.Load()
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	linked := make(map[string]*peer)
	for id, p := range m.peers {
		if p.takesCalls() {
			linked[id] = p
		}
	}
	return linked
}

// tellOthers tells the cluster that this node's services have changed.
func (n *Node) tellOthers() {
	if m := n.mesh.Load(); m != nil {
		wake(m.tell)
	}
}

// Balance chooses how calls are shared among the nodes that offer an action: "round-robin" (as without it), "random",
// "least" (the fewest calls in flight, of two picked by chance), "ewma" (the quickest lately, of two picked by chance) or
// "hash" (calls with the same [ByKey] go to the same node, and few move when nodes come and go). With a pattern, such as
// "sessions.*", it is for the actions whose full names the pattern takes; the last one given counts. Whichever it is,
// nodes of this node's [Zone] go first.
func Balance(balancer string, patterns ...string) NodeOption {
	return nodeOption(func(n *Node) { n.balances = append(n.balances, balance{balancer, patterns}) })
}

// balance is what Balance was given.
type balance struct {
	balancer string
	patterns []string
}

// SpreadLocal shares out calls among all nodes that offer an action, this one included. Without it an action that this
// node offers is called here, which costs no more than a function call.
func SpreadLocal() NodeOption { return nodeOption(func(n *Node) { n.shares = true }) }

// balancerFor makes the balancer of an action.
func (n *Node) balancerFor(action string) cluster.Balancer {
	make := cluster.RoundRobin
	for _, b := range n.balances {
		if named, ok := cluster.Named(b.balancer); ok && b.takes(action) {
			make = named
		}
	}
	m := n.mesh.Load()
	if m == nil || m.config.zone == "" && len(m.config.labels) == 0 {
		return make()
	}
	return cluster.Nearest(m.member(), make())
}

func (b balance) takes(action string) bool {
	for _, pattern := range b.patterns {
		if matches(pattern, action) {
			return true
		}
	}
	return len(b.patterns) == 0
}

// checkBalances finds names of balancers that do not exist.
func (n *Node) checkBalances() error {
	for _, b := range n.balances {
		if _, ok := cluster.Named(b.balancer); !ok {
			return &Error{Code: InvalidArgument, Name: nameJoin, Node: n.id,
				Message: "Balance knows no balancer " + b.balancer + ": there are " + strings.Join(cluster.Names(), ", ")}
		}
	}
	return nil
}
