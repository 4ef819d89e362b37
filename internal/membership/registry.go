package membership

import (
	"maps"
	"slices"
	"sort"
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
	r.view.Store(view.With(c.Node, &c))
	return true
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
	actions  map[string][]Offer // by full name
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

// Action lists the nodes that offer an action, given its full name, by node; nil for none.
func (v *View) Action(full string) []Offer { return v.actions[full] }

// Actions lists the full names of all actions, sorted.
func (v *View) Actions() []string { return slices.Sorted(maps.Keys(v.actions)) }

// With is the view with one node's catalog changed; nil removes the node. Only the actions of services that
// came, changed or went are touched, so a change costs as much as they have, and a copy of the map of names.
func (v *View) With(node string, c *Catalog) *View {
	next := &View{catalogs: maps.Clone(v.catalogs), actions: maps.Clone(v.actions)}
	if next.catalogs == nil {
		next.catalogs, next.actions = make(map[string]*Catalog), make(map[string][]Offer)
	}
	stay := make(map[ServiceKey]*Service)
	if old := next.catalogs[node]; old != nil {
		if c != nil {
			stay = c.unchanged(old)
		}
		for i := range old.Services {
			s := &old.Services[i]
			if stay[s.key()] != nil {
				continue
			}
			for _, a := range s.Actions {
				next.withdraw(a.Name, node)
			}
		}
		delete(next.catalogs, node)
	}
	if c != nil {
		next.catalogs[node] = c
		for i := range c.Services {
			if stay[c.Services[i].key()] != nil {
				continue
			}
			s := c.Services[i] // a copy, so that one service that stays does not hold on to the lists of all that went
			for j := range s.Actions {
				next.offer(s.Actions[j].Name, Offer{node, &s, &s.Actions[j]})
			}
		}
	}
	next.nodes = slices.Sorted(maps.Keys(next.catalogs))
	return next
}

// WithMore is the view with further nodes, none of which it has. It takes hardly longer for a thousand than [View.With] for one.
func (v *View) WithMore(catalogs map[string]*Catalog) *View {
	next := &View{catalogs: maps.Clone(v.catalogs), actions: maps.Clone(v.actions)}
	if next.catalogs == nil {
		next.catalogs, next.actions = make(map[string]*Catalog), make(map[string][]Offer)
	}
	touched := make(map[string]bool)
	for node, c := range catalogs {
		next.catalogs[node] = c
		for i := range c.Services {
			s := c.Services[i]
			for j := range s.Actions {
				name := s.Actions[j].Name
				if !touched[name] {
					touched[name] = true
					next.actions[name] = slices.Clone(next.actions[name]) // the old view still has the old slice
				}
				next.actions[name] = append(next.actions[name], Offer{node, &s, &s.Actions[j]})
			}
		}
	}
	for name := range touched {
		offers := next.actions[name]
		sort.Slice(offers, func(i, j int) bool { return offers[i].Node < offers[j].Node }) // slices.SortFunc takes 20 KB of the program for each struct
	}
	next.nodes = slices.Sorted(maps.Keys(next.catalogs))
	return next
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

func (v *View) withdraw(action, node string) {
	left := make([]Offer, 0, len(v.actions[action]))
	for _, o := range v.actions[action] {
		if o.Node != node {
			left = append(left, o)
		}
	}
	if len(left) == 0 {
		delete(v.actions, action)
	} else {
		v.actions[action] = left
	}
}

func (v *View) offer(action string, o Offer) {
	old := v.actions[action]
	at, _ := slices.BinarySearchFunc(old, o.Node, func(other Offer, node string) int { return strings.Compare(other.Node, node) })
	grown := make([]Offer, 0, len(old)+1) // the old view still has the old slice
	v.actions[action] = append(append(append(grown, old[:at]...), o), old[at:]...)
}
