package membership

import (
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Registry holds the catalogs of the nodes of a cluster. Readers take a [View], which costs one atomic load; a change makes
// the next view. All methods may be called by many goroutines at once.
type Registry struct {
	lock sync.Mutex // one change at a time
	view atomic.Pointer[View]
}

// NewRegistry makes an empty registry.
func NewRegistry() *Registry {
	r := &Registry{}
	r.view.Store(&View{})
	return r
}

// View returns the present state of the registry.
func (r *Registry) View() *View { return r.view.Load() }

// Set replaces a node's catalog and reports whether it did. A catalog of the same instance that is not newer is ignored, so
// catalogs may arrive out of order; one of another instance never is. The registry keeps c: it must not be changed
// afterwards.
func (r *Registry) Set(c Catalog) (changed bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	view := r.view.Load()
	old := view.catalogs[c.Node]
	if old != nil && old.Instance == c.Instance && old.Version >= c.Version {
		return false
	}
	c.Services = view.sharing(c.Node, c.Services)
	r.view.Store(view.With(c.Node, &c))
	return true
}

// SetAll is Set for several nodes, and hardly takes longer for a thousand that were not known than Set for one.
func (r *Registry) SetAll(catalogs []Catalog) {
	view := r.view.Load()
	fresh := make(map[string]*Catalog)
	for i := range catalogs {
		if c := &catalogs[i]; view.catalogs[c.Node] == nil && fresh[c.Node] == nil {
			fresh[c.Node] = c
		}
	}
	r.addAll(fresh)
	for i := range catalogs {
		if fresh[catalogs[i].Node] != &catalogs[i] {
			r.Set(catalogs[i])
		}
	}
}

// addAll adds nodes that are not known, unless they have become known meanwhile.
func (r *Registry) addAll(fresh map[string]*Catalog) {
	if len(fresh) == 0 {
		return
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	view := r.view.Load()
	for node := range fresh {
		if view.catalogs[node] != nil {
			delete(fresh, node)
		}
	}
	r.view.Store(view.WithMore(fresh))
}

// Remove forgets a node, and reports whether it was there.
func (r *Registry) Remove(node string) (changed bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	view := r.view.Load()
	if view.catalogs[node] == nil {
		return false
	}
	r.view.Store(view.With(node, nil))
	return true
}

// View is the state of a registry at one moment. It never changes, so two equal pointers are the same state. The values that
// its methods return belong to the view and must not be changed.
type View struct {
	nodes    []string // sorted
	catalogs map[string]*Catalog
	services map[string][]ServiceOffer // by full name, then by node: a list is replaced when one of its nodes comes, changes or goes
}

// ServiceOffer is a service that a node offers. What is the same on many nodes is kept once: their offers have the same pointer.
type ServiceOffer struct {
	Node    string
	Service *Service
}

// Offer is an action that a node offers.
type Offer struct {
	Node    string
	Service *Service
	Action  *Action
}

// Nodes lists the nodes whose catalogs are known, sorted.
func (v *View) Nodes() []string { return v.nodes }

// Catalog returns the catalog of a node; nil for an unknown node.
func (v *View) Catalog(node string) *Catalog { return v.catalogs[node] }

// Services lists the services of a node.
func (v *View) Services(node string) []Service {
	if c := v.catalogs[node]; c != nil {
		return c.Services
	}
	return nil
}

// Waiting lists the services of a node that have not started.
func (v *View) Waiting(node string) []Waiting {
	if c := v.catalogs[node]; c != nil {
		return c.Waiting
	}
	return nil
}

// Offers has the nodes that offer each service, by the service's full name, and for each by node. A list whose services and nodes stay
// is the same one in the next view.
func (v *View) Offers() map[string][]ServiceOffer { return v.services }

// Action lists the nodes that offer an action, given its full name, by node; nil for none.
func (v *View) Action(full string) (offers []Offer) {
	for i := len(full) - 1; i >= 0; i-- {
		if full[i] != '.' {
			continue
		}
		for _, o := range v.services[full[:i]] {
			if a := o.Service.action(full); a != nil {
				offers = append(offers, Offer{o.Node, o.Service, a})
			}
		}
	}
	sort.SliceStable(offers, func(i, j int) bool { return offers[i].Node < offers[j].Node }) // slices.SortFunc takes 20 KB of the program for each struct
	return offers
}

// Actions lists the full names of all actions, sorted.
func (v *View) Actions() []string {
	found := make(map[string]bool)
	for full, offers := range v.services {
		for i, o := range offers {
			if i > 0 && o.Service == offers[i-1].Service {
				continue
			}
			for j := range o.Service.Actions {
				if name := o.Service.Actions[j].Name; strings.HasPrefix(name, full+".") {
					found[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// With is the view with one node's catalog changed; nil removes the node. A change costs as much as the services that came, changed or
// went, and a copy of the names of nodes and services.
func (v *View) With(node string, c *Catalog) *View {
	next := v.clone(1)
	stay := make(map[ServiceKey]*Service)
	if old := next.catalogs[node]; old != nil {
		if c != nil {
			stay = c.unchanged(old)
		}
		for i := range old.Services {
			if s := &old.Services[i]; stay[s.key()] == nil {
				next.withdraw(s.FullName(), node, s.key())
			}
		}
		delete(next.catalogs, node)
	}
	if c != nil {
		next.add(node, c, stay, make(map[string]bool))
	}
	next.nodes = slices.Sorted(maps.Keys(next.catalogs))
	return next
}

// WithMore is the view with further nodes, none of which it has. It takes hardly longer for a thousand than [View.With] for one.
func (v *View) WithMore(catalogs map[string]*Catalog) *View {
	next, fresh := v.clone(len(catalogs)), make(map[string]bool)
	for node, c := range catalogs {
		next.add(node, c, nil, fresh)
	}
	next.nodes = slices.Sorted(maps.Keys(next.catalogs))
	return next
}

// clone is a copy of the view, whose lists of offers are those of v.
func (v *View) clone(more int) *View {
	next := &View{catalogs: make(map[string]*Catalog, len(v.catalogs)+more), services: make(map[string][]ServiceOffer, len(v.services)+more)}
	maps.Copy(next.catalogs, v.catalogs)
	maps.Copy(next.services, v.services)
	return next
}

// add adds the services that a node offers, without those in stay, which it has offered before and which are as they were. It appends in place
// to the lists of the services in fresh: this view has made them, so no older view reads them.
func (v *View) add(node string, c *Catalog, stay map[ServiceKey]*Service, fresh map[string]bool) {
	v.catalogs[node] = c
	for i := range c.Services {
		s := &c.Services[i]
		if stay[s.key()] != nil {
			continue
		}
		full := s.FullName()
		offer := ServiceOffer{node, v.kept(node, s)}
		list := v.services[full]
		if !fresh[full] {
			fresh[full], list = true, append(make([]ServiceOffer, 0, len(list)+1), list...)
		}
		at := sort.Search(len(list), func(i int) bool { return list[i].Node > node })
		v.services[full] = slices.Insert(list, at, offer)
	}
}

// sharing is the services that a node offers, each sharing its lists with that of another node which is the same.
func (v *View) sharing(node string, services []Service) []Service {
	list := make([]Service, len(services))
	for i := range services {
		list[i] = *v.kept(node, &services[i])
	}
	return list
}

// maxCompared bounds the different descriptions of a service that one is compared with. There are two while a cluster is updated.
const maxCompared = 4

// kept is the description of a service that a view keeps: that which the node has offered before or that of another node where it is the
// same, or else a copy. A copy is as short as can be, and of this service alone, so that it does not hold on to what else came with it.
func (v *View) kept(node string, s *Service) *Service {
	offers := v.services[s.FullName()]
	at := sort.Search(len(offers), func(i int) bool { return offers[i].Node >= node })
	if at < len(offers) && offers[at].Node == node && offers[at].Service.same(s) {
		return offers[at].Service
	}
	var last *Service
	compared := 0
	for _, o := range offers {
		if o.Service == last {
			continue
		}
		if last = o.Service; last.same(s) {
			return last
		}
		if compared++; compared == maxCompared {
			break
		}
	}
	own := *s
	if spare := cap(own.Actions) - len(own.Actions); spare > len(own.Actions)/8 {
		own.trim()
	}
	return &own
}

// unchanged is the services of the catalog that are as they were in an older one.
func (c *Catalog) unchanged(old *Catalog) map[ServiceKey]*Service {
	services := old.byName()
	same := make(map[ServiceKey]*Service)
	for i := range c.Services {
		s := &c.Services[i]
		if known := services[s.key()]; known != nil && s.same(known) {
			same[s.key()] = s
		}
	}
	return same
}

func (v *View) withdraw(full, node string, key ServiceKey) {
	left := make([]ServiceOffer, 0, len(v.services[full]))
	for _, o := range v.services[full] {
		if o.Node != node || o.Service.key() != key {
			left = append(left, o)
		}
	}
	if len(left) == 0 {
		delete(v.services, full)
	} else {
		v.services[full] = left
	}
}

// FullName is the name of the service with its version: "v2.users".
func (s *Service) FullName() string {
	if s.Version == 0 {
		return s.Name
	}
	return "v" + strconv.Itoa(s.Version) + "." + s.Name
}

// Offers reports whether the service has the action of that full name.
func (s *Service) Offers(action string) bool { return s.action(action) != nil }

// action is the action of that full name; nil for none.
func (s *Service) action(full string) *Action {
	for i := range s.Actions {
		if s.Actions[i].Name == full {
			return &s.Actions[i]
		}
	}
	return nil
}
