package sabir

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// table is what a node offers at one moment: an immutable map, replaced as a whole when services come and go, so a call
// reads it without a lock.
type table struct {
	actions  map[string]endpoint
	services map[string]bool // every name a service can be reached by
	byFull   map[string]*published
}

// published is a service that calls can reach, under its full name.
type published struct {
	service   *Service
	endpoints []endpoint
	since     time.Time
}

func (n *Node) openActions(s *Service) ([]endpoint, error) {
	full := s.fullName()
	list := make([]endpoint, 0, len(s.definitions))
	for _, def := range s.definitions {
		a := &Action{Name: full + "." + def.short, Service: full, Short: def.short, Version: s.version, Node: n.id,
			Description: def.description, Visibility: def.visibility, Inline: def.inline, Stream: def.stream, node: n, signal: n.signal}
		e, err := def.open(a, n, s)
		if err != nil {
			return nil, fmt.Errorf("action %s: %w", a.Name, err)
		}
		if err := a.refusal(); err != nil {
			return nil, fmt.Errorf("%s: %w", def.where, err)
		}
		if other := n.table.Load().byName(a.Name); other != nil {
			return nil, &Error{Code: AlreadyExists, Name: nameService, Node: n.id,
				Message: fmt.Sprintf("%s: action %s exists already, in service %s", def.where, a.Name, other.info().Service)}
		}
		a.endpoint = e
		list = append(list, e)
	}
	return list, nil
}

// byName finds an action by its full name only.
func (t *table) byName(full string) endpoint {
	if e := t.actions[full]; e != nil && e.info().Name == full {
		return e
	}
	return nil
}

func (n *Node) publish(s *Service, endpoints []endpoint) {
	n.changeTable(func(all map[string]*published) {
		all[s.fullName()] = &published{s, endpoints, time.Now()}
	})
}

func (n *Node) withdraw(s *Service) {
	n.changeTable(func(all map[string]*published) { delete(all, s.fullName()) })
	n.forgetPaths()
}

// forgetPaths makes every action forget who called it, so that the places of callers that have gone are free again.
func (n *Node) forgetPaths() {
	for _, p := range n.table.Load().byFull {
		for _, e := range p.endpoints {
			e.hop().nested.Store(nil)
		}
	}
	n.remoteActions.Range(func(_, e any) bool {
		e.(endpoint).hop().nested.Store(nil)
		return true
	})
}

// changeTable builds the next table, hands bound names their new endpoints, and wakes whoever waits for services.
func (n *Node) changeTable(change func(map[string]*published)) {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	all := maps.Clone(n.table.Load().byFull)
	if all == nil {
		all = make(map[string]*published)
	}
	change(all)
	next := newTable(all)
	n.table.Store(next)
	for key, b := range n.bindings {
		b.follow(next.actions[key.action])
	}
	close(n.changed)
	n.changed = make(chan struct{})
}

// newTable works out which names reach what.
func newTable(all map[string]*published) *table {
	t := &table{actions: make(map[string]endpoint), services: make(map[string]bool), byFull: all}
	standsFor := make(map[string]*published) // the service that a name without version reaches
	for full, p := range all {
		t.services[full] = true
		t.services[p.service.name] = true
		for _, e := range p.endpoints {
			t.actions[e.info().Name] = e
		}
		if old := standsFor[p.service.name]; old == nil || goesBefore(p.service, old.service) {
			standsFor[p.service.name] = p
		}
	}
	for name, p := range standsFor {
		for _, e := range p.endpoints {
			if short := name + "." + e.info().Short; t.actions[short] == nil {
				t.actions[short] = e
			}
		}
	}
	return t
}

// goesBefore tells whether names without a version reach a rather than b.
func goesBefore(a, b *Service) bool {
	switch {
	case a.version == 0 || b.version == 0:
		return a.version == 0
	case a.preferred != b.preferred:
		return a.preferred
	}
	return a.version > b.version
}

// WaitFor waits until all the services can be called, by names with or without a version, or until the context ends.
// Services of a remote given with Via count as there.
func (n *Node) WaitFor(ctx context.Context, services ...string) error {
	for {
		n.tableLock.Lock()
		changed, have := n.changed, n.table.Load().services
		n.tableLock.Unlock()
		missing := slices.DeleteFunc(slices.Clone(services), func(name string) bool { return have[name] || n.remote != nil })
		if len(missing) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return &Error{Code: Unavailable, Name: nameUnavailable, Node: n.id, Retryable: true, cause: ctx.Err(),
				Message: "gave up waiting for " + strings.Join(missing, ", ") + ": " + ctx.Err().Error()}
		}
	}
}

// ServiceInfo describes a running service.
type ServiceInfo struct {
	Name        string    `json:"name"` // full name
	Version     int       `json:"version,omitempty"`
	Group       string    `json:"group,omitempty"`
	Description string    `json:"description,omitempty"`
	Node        string    `json:"node"`
	Needs       []string  `json:"needs"`
	Actions     []string  `json:"actions"` // full names
	Events      []string  `json:"events"`  // patterns
	Since       time.Time `json:"since"`
}

// Services lists the services that can be called on this node, by name.
func (n *Node) Services() []ServiceInfo {
	all := n.table.Load().byFull
	list := make([]ServiceInfo, 0, len(all))
	for _, full := range slices.Sorted(maps.Keys(all)) {
		p := all[full]
		info := ServiceInfo{Name: full, Version: p.service.version, Group: p.service.group, Description: p.service.description, Node: n.id, Needs: p.service.needs, Since: p.since}
		for _, e := range p.endpoints {
			info.Actions = append(info.Actions, e.info().Name)
		}
		for _, h := range p.service.handlers {
			info.Events = append(info.Events, h.pattern)
		}
		list = append(list, info)
	}
	return list
}

// Actions lists the actions that can be called on this node, by full name.
func (n *Node) Actions() []*Action {
	var list []*Action
	for _, p := range n.table.Load().byFull {
		for _, e := range p.endpoints {
			list = append(list, e.info())
		}
	}
	slices.SortFunc(list, func(a, b *Action) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Action finds the action that a name reaches, with or without a version; nil if there is none here.
func (n *Node) Action(name string) *Action {
	if e := n.table.Load().actions[name]; e != nil {
		return e.info()
	}
	return nil
}

// Nearest returns up to three of the names that reach an action which keep accepts, the likeliest first: what was
// probably meant by a name that reaches none. A gateway passes a keep that hides what its callers may not know of.
func (n *Node) Nearest(name string, keep func(*Action) bool) []string {
	actions := n.table.Load().actions
	var names []string
	for _, known := range slices.Sorted(maps.Keys(actions)) {
		if keep(actions[known].info()) {
			names = append(names, known)
		}
	}
	return nearest(name, names)
}

// actionNames lists every name that reaches an action, sorted.
func (n *Node) actionNames() []string {
	return slices.Sorted(maps.Keys(n.table.Load().actions))
}
