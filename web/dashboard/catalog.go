package dashboard

import (
	"context"
	"slices"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
)

// catalog lists the services and actions of the cluster. It is sent when it has changed.
type catalog struct {
	Services []serviceEntry `json:"services"`
	Actions  []actionEntry  `json:"actions"`
	More     int            `json:"more,omitempty"` // actions that are left out
}

type serviceEntry struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Nodes       []string `json:"nodes"`
	Events      []string `json:"events,omitempty"` // patterns that it listens to
}

type actionEntry struct {
	Name        string   `json:"name"`
	Service     string   `json:"service"`
	Description string   `json:"description,omitempty"`
	Visibility  string   `json:"visibility"`
	Stream      bool     `json:"stream,omitempty"`
	In          string   `json:"in,omitempty"`  // Go type
	Out         string   `json:"out,omitempty"` // Go type
	Nodes       []string `json:"nodes"`
}

// newCatalog asks the node what it knows of the cluster.
func newCatalog(ctx context.Context, n *sabir.Node) (catalog, error) {
	c := catalog{Services: []serviceEntry{}, Actions: []actionEntry{}}
	offering := make(map[string][]string) // nodes by action
	for _, s := range n.Services() {
		if isOwn(s.Name) {
			continue
		}
		last := len(c.Services) - 1
		if last < 0 || c.Services[last].Name != s.Name {
			c.Services = append(c.Services, serviceEntry{Name: s.Name})
			last++
		}
		entry := &c.Services[last]
		entry.Nodes = append(entry.Nodes, s.Node)
		if entry.Description == "" {
			entry.Description = s.Description
		}
		for _, e := range s.Events {
			if !slices.Contains(entry.Events, e) {
				entry.Events = append(entry.Events, e)
			}
		}
		for _, a := range s.Actions {
			offering[a] = append(offering[a], s.Node)
		}
	}
	actions, err := sabir.Call[[]introspect.Action](ctx, n, "$node.actions", sabir.Empty{}, sabir.ToNode(n.ID()))
	if err != nil {
		return c, err
	}
	for _, a := range actions {
		nodes := offering[a.Name]
		if nodes == nil && a.Nodes != nil {
			nodes = a.Nodes
		}
		if len(c.Actions) == maxActions {
			c.More++
			continue
		}
		slices.Sort(nodes)
		c.Actions = append(c.Actions, actionEntry{a.Name, a.Service, a.Description, string(a.Visibility), a.Stream, a.In, a.Out, slices.Compact(nodes)})
	}
	return c, nil
}
