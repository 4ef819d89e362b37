package sabir

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/budget"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/introspect"
)

// routingTable maps all names that can be called from a node at one moment. Its maps never change: they are replaced as a
// whole when services come and go, here or on other nodes, so a call reads them without a lock.
type routingTable struct {
	generation   uint64                    // counts the tables of the node: what was found in one holds for as long as it is the same
	actions      map[string]endpoint       // by every name that calls of this node can use, but for those of remote and absent; find knows all
	localActions map[string]local          // this node's own, by every name that calls of other nodes can use
	services     map[string]bool           // every name a service can be reached by
	byFull       map[string]*published     // this node's services
	remote       map[string]*remoteService // by full name: what other nodes offer
	defaults     map[string]string         // by name without version: the full name of the service that it stands for
	view         *membership.View

	absent         map[string][]*remoteService // by full name: what others offered lately, the newest loss first, see absent.go
	absentVersions map[string][]*remoteService // the same by names without a version, those of services that have one: the one they reach first
}

// published is a service that calls can reach, under its full name.
type published struct {
	service   *Service
	endpoints []local
	since     time.Time
	describe  func() membership.Service // for other nodes; always the same, so that what has changed is quickly found
}

func (n *Node) openActions(s *Service) ([]local, error) {
	full := s.fullName()
	list := make([]local, 0, len(s.definitions))
	for _, def := range s.definitions {
		formats, err := def.formats(n)
		if err != nil {
			return nil, err
		}
		a := &Action{Name: full + "." + def.short, Service: full, Short: def.short, Version: s.version, Node: n.id,
			Description: def.description, ClusterOnly: def.clusterOnly, NodeOnly: def.nodeOnly, Inline: def.inline, Stream: def.stream, Shape: def.shape, Idempotent: def.idempotent,
			Codecs: formats, node: n, signal: n.signal, budget: budget.New()}
		var e local
		open := func(context.Context) (err error) {
			e, err = def.open(a, n, s)
			return err
		}
		if err := n.isolated("action "+a.Name, background, open); err != nil {
			return nil, fmt.Errorf("action %s: %w", a.Name, err)
		}
		if err := a.refusal(); err != nil {
			return nil, fmt.Errorf("%s: %w", def.where, err)
		}
		other := n.waitingAction(a.Name)
		if known := n.table.Load().localActions[a.Name]; known != nil {
			other = known.info()
		}
		if other != nil && other.Name == a.Name {
			return nil, &Error{Code: CodeInvalidArgument, Name: nameBadService, Node: n.id,
				Message: fmt.Sprintf("%s: action %s exists already, in service %s", def.where, a.Name, other.Service)}
		}
		a.endpoint = e
		list = append(list, e)
	}
	return list, nil
}

// publish makes a service reachable. While the node starts that waits for publishWaiting: a new table for each of many
// services would take time that grows with the square of their number.
func (n *Node) publish(p *published) {
	p.since = time.Now()
	n.waiting = append(n.waiting, p)
	if s := p.service; n.stateNow() != stateStarting || len(s.handlers)+len(s.components) > 0 { // whose handlers may call its actions from now on
		n.publishWaiting()
	}
}

// publishWaiting lets calls reach the services that wait to be published.
func (n *Node) publishWaiting() {
	if len(n.waiting) == 0 {
		return
	}
	n.changeTable(func(all map[string]*published) {
		for _, p := range n.waiting {
			all[p.service.fullName()] = p
		}
	})
	n.waiting = nil
}

// waitingAction is an action of that name in a service that waits to be published; nil for none.
func (n *Node) waitingAction(name string) *Action {
	for _, p := range n.waiting {
		if !strings.HasPrefix(name, p.service.fullName()+".") {
			continue
		}
		for _, e := range p.endpoints {
			if a := e.info(); a.Name == name {
				return a
			}
		}
	}
	return nil
}

func (n *Node) withdraw(s *Service) {
	n.changeTable(func(all map[string]*published) { delete(all, s.fullName()) })
	n.forgetPaths()
}

// forgetPaths makes every operation forget its call paths, so that there is space for those of new callers.
func (n *Node) forgetPaths() {
	for _, p := range n.table.Load().byFull {
		for _, e := range p.endpoints {
			e.operation().nested.Store(nil)
		}
	}
	for _, a := range n.table.Load().madeActions() {
		a.op.nested.Store(nil)
	}
	for _, a := range n.remoteNames.All {
		a.op.nested.Store(nil)
	}
	n.events.forgetPaths()
}

// changeTable makes the next table after a change of this node's services, and sends the catalog to the other nodes.
func (n *Node) changeTable(change func(map[string]*published)) {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	old := n.table.Load()
	all := maps.Clone(old.byFull)
	if all == nil {
		all = make(map[string]*published)
	}
	change(all)
	n.setTable(n.newTable(all, old.view, old))
	n.announce()
}

// rebuild makes the next tables after a change of what the other nodes of the cluster offer.
func (n *Node) rebuild(cluster *membership.View) {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	n.clusterView = cluster
	n.learn(cluster)
	n.rebuildTables()
}

// rebuildTables makes the next tables after a change of what other nodes offer. The table of events must come first: a caller that
// finds a service in the other table may emit an event to it at once. The caller holds tableLock.
func (n *Node) rebuildTables() {
	view := n.foreign.addTo(n.clusterView)
	n.events.follow(view)
	old := n.table.Load()
	n.setTable(n.newTable(old.byFull, view, old))
	n.health.Add(1) // since an operator may have decided something: calls choose anew
}

// setTable replaces the table. The bound names must get their new endpoints first: a caller that finds a service in the
// table may use its bound name at once. The caller holds tableLock.
func (n *Node) setTable(next *routingTable) {
	for key, held := range n.bindings {
		if b := held(); b != nil {
			b.follow(next.find(key.action))
		}
	}
	n.table.Store(next)
	n.wakeWaiters()
}

// wakeWaiters has those look again who wait for a change of what can be called. The caller holds tableLock.
func (n *Node) wakeWaiters() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// version is one version of a service, on any node; names without a version choose between them.
type version struct {
	full      string
	number    int
	preferred bool
}

// newTable works out which names reach what. The caller holds tableLock.
func (n *Node) newTable(all map[string]*published, view *membership.View, old *routingTable) *routingTable {
	own := 0
	for _, p := range all {
		own += len(p.endpoints)
	}
	t := &routingTable{generation: old.generation + 1, actions: make(map[string]endpoint, own), localActions: make(map[string]local, own), services: make(map[string]bool, len(old.services)),
		byFull: all, remote: make(map[string]*remoteService, len(old.remote)), defaults: make(map[string]string), view: view}
	localDefaults := make(map[string]version) // by service name: what a name without version reaches on this node
	for full, p := range all {
		for _, e := range p.endpoints {
			name := e.info().Name
			t.actions[name], t.localActions[name] = e, e
		}
		t.services[full] = true
		chooseDefault(localDefaults, p.service.name, version{full: full, number: p.service.version, preferred: p.service.preferred})
	}
	defaults := maps.Clone(localDefaults) // and in the whole cluster
	others := n.otherNodes()
	n.addRemoteActions(t, defaults, old, others)
	for name, v := range localDefaults {
		if name == v.full {
			continue // there already
		}
		for _, e := range all[v.full].endpoints {
			full := e.info().Name
			if short := name + full[len(v.full):]; t.localActions[short] == nil {
				t.localActions[short] = t.localActions[full]
			}
		}
	}
	for full, p := range all {
		t.addShared(full, p)
	}
	for name, v := range defaults {
		t.services[name] = true
		if name == v.full {
			continue // there already
		}
		t.defaults[name] = v.full
		if p := all[v.full]; p != nil {
			for _, e := range p.endpoints {
				full := e.info().Name
				if short := name + full[len(v.full):]; t.find(short) == nil {
					t.actions[short] = t.actions[full]
				}
			}
		}
	}
	n.rememberAbsent(t, old, others)
	n.splitNames(t)
	return t
}

// addShared has the calls of a service of this node go to other nodes too, where they offer the same and calls are shared.
func (t *routingTable) addShared(full string, p *published) {
	s := t.remote[full]
	if s == nil {
		return
	}
	for _, e := range p.endpoints {
		name := e.info().Name
		if a := s.action(name[len(full)+1:]); a != nil {
			t.actions[name] = a
		}
	}
}

// chooseDefault lets v stand for the names of its service without a version, if it goes before the one that does so far.
func chooseDefault(defaults map[string]version, service string, v version) {
	if old, taken := defaults[service]; !taken || preferredOver(v, old) {
		defaults[service] = v
	}
}

// preferredOver reports whether names without a version reach a rather than b.
func preferredOver(a, b version) bool {
	switch {
	case a.number == b.number:
		return false
	case a.number == 0 || b.number == 0:
		return a.number == 0
	case a.preferred != b.preferred:
		return a.preferred
	}
	return a.number > b.number
}

// WaitFor waits until all the services can be called, by names with or without a version, or until the context ends or the node has stopped.
// Services of a remote given with WithUpstream count as there.
func (n *Node) WaitFor(ctx context.Context, services ...string) error {
	if n.callingNode() == nil {
		return errNotMade()
	}
	for {
		n.tableLock.Lock()
		changed, have := n.changed, n.table.Load().services
		n.tableLock.Unlock()
		missing := slices.DeleteFunc(slices.Clone(services), func(name string) bool { return have[name] || n.remote != nil })
		if len(missing) == 0 {
			return nil
		}
		if n.stateNow() == stateStopped { // nothing changes any more
			return n.stillMissing(missing, nil, "the node is stopped")
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return n.stillMissing(missing, ctx.Err(), ctx.Err().Error())
		}
	}
}

func (n *Node) stillMissing(missing []string, cause error, why string) error {
	return &Error{Code: CodeUnavailable, Name: nameServiceUnavailable, Node: n.id, Retryable: true, cause: cause,
		Message: "gave up waiting for " + strings.Join(missing, ", ") + ": " + why}
}

// Changed returns a channel that is closed at the next change of what can be called from this node, here or on others: for
// code that keeps something made of [Node.Actions].
func (n *Node) Changed() <-chan struct{} {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	return n.changed
}

// Services lists the services that can be called from this node, wherever they run, by name and node.
func (n *Node) Services() []introspect.Service {
	t := n.table.Load()
	list := make([]introspect.Service, 0, len(t.byFull))
	for full, p := range t.byFull {
		info := introspect.Service{Name: full, Version: p.service.version, Group: p.service.group, Description: p.service.description, Node: n.id, Needs: p.service.needs, Since: p.since}
		for _, e := range p.endpoints {
			info.Actions = append(info.Actions, e.info().Name)
		}
		for _, h := range p.service.handlers {
			info.Events = append(info.Events, h.pattern)
		}
		list = append(list, info)
	}
	if t.view != nil {
		for _, node := range t.view.Nodes() {
			for _, s := range t.view.Services(node) {
				list = append(list, remoteServiceInfo(node, s))
			}
		}
	}
	sort.Slice(list, func(i, j int) bool { // slices.SortFunc takes 20 KB of the program for each struct
		return cmp.Or(strings.Compare(list[i].Name, list[j].Name), strings.Compare(list[i].Node, list[j].Node)) < 0
	})
	return list
}

func remoteServiceInfo(node string, s membership.Service) introspect.Service {
	info := introspect.Service{Name: fullServiceName(s.Name, s.Version), Version: s.Version, Group: s.Group, Description: s.Description, Node: node,
		Needs: s.Needs}
	for _, a := range s.Actions {
		info.Actions = append(info.Actions, a.Name)
	}
	for _, e := range s.Events {
		info.Events = append(info.Events, e.Pattern)
	}
	return info
}

// Actions lists the actions that can be called from this node, by full name.
func (n *Node) Actions() []*Action {
	t := n.table.Load()
	var list []*Action
	for _, p := range t.byFull {
		for _, e := range p.endpoints {
			list = append(list, e.info())
		}
	}
	for full, s := range t.remote {
		for _, o := range s.all() {
			name := full + "." + o.short
			if other, _ := t.offering(name); other == s && t.localActions[name] == nil {
				list = append(list, s.action(o.short).action)
			}
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name }) // slices.SortFunc takes 6 KB of the program for pointers
	return list
}

// Action finds the action that a name reaches, with or without a version, here or on another node; nil if there is none, or none
// now, see [Node.Absent].
func (n *Node) Action(name string) *Action {
	t := n.table.Load()
	e := t.find(name)
	if e == nil || t.isAbsent(e) {
		return nil
	}
	return e.info()
}

// Nearest returns up to three names of actions that resemble a name which reaches none, the likeliest first, for error
// messages. It takes only actions that keep accepts: a gateway hides those that its callers may not know of.
func (n *Node) Nearest(name string, keep func(*Action) bool) []string {
	var list []string
	t := n.table.Load()
	for _, known := range append(t.names(), t.absentNames()...) {
		if e := t.find(known); keep(e.info()) {
			list = append(list, known)
		}
	}
	slices.Sort(list)
	return names.Nearest(name, list)
}

// namesForOthers lists the names by which other nodes reach the actions of this one, sorted.
func (n *Node) namesForOthers() (names []string) {
	here := n.table.Load().localActions
	for _, name := range slices.Sorted(maps.Keys(here)) {
		if !here[name].info().NodeOnly {
			names = append(names, name)
		}
	}
	return names
}

// actionNames lists every name that reaches an action, sorted.
func (n *Node) actionNames() (list []string) {
	t := n.table.Load()
	list = append(t.names(), t.absentNames()...)
	slices.Sort(list)
	return list
}
