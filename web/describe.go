package web

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/principal"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/description"
	"github.com/sabir-go/sabir/internal/isolate"
)

// describedTable caches the description of a table's actions. Nodes that could not be asked are asked again after describeRetry.
type describedTable struct {
	making sync.Mutex
	api    api.API
	until  time.Time // zero for not made yet
}

const (
	describeTimeout = 2 * time.Second  // for one action of another node
	describeRetry   = 10 * time.Second // where one could not be asked
	describeMaxAge  = 24 * time.Hour
)

// api describes the actions that can be called here now.
func (s *server) api() api.API {
	t := s.tables.get()
	d := &t.description
	d.making.Lock()
	defer d.making.Unlock()
	if time.Now().Before(d.until) {
		return d.api
	}
	complete := true
	found, err := api.Of(s.apiInfo(), s.node.Actions(), api.Sources{
		Scopes: principal.ScopesKey,
		Place:  s.locate,
		Lookup: func(a *sabir.Action) (description.Document, bool) {
			described, ok := s.fetchDescription(a)
			complete = complete && ok
			return described, ok
		},
	})
	if err != nil {
		attrs := []any{"node", s.node.ID(), "error", err}
		if detail, stack, ok := isolate.Panicked(err); ok { // of an example's own code
			attrs = append(attrs, "panic", detail, "stack", string(stack))
		}
		s.node.Log().Warn("not all of the actions can be described", attrs...)
	}
	d.api, d.until = found, time.Now().Add(describeMaxAge)
	if !complete {
		d.until = time.Now().Add(describeRetry)
	}
	return d.api
}

// apiInfo describes the server itself.
func (s *server) apiInfo() api.API {
	cfg := s.settings
	frame := api.API{Title: cfg.title, Version: cfg.version, Description: cfg.description, Batch: batchPath, Schemes: s.schemes(&cfg.root)}
	if frame.Title == "" {
		frame.Title, frame.Version = s.title(), api.NoVersion
	}
	if patterns := cfg.eventPatterns(noRole); patterns != nil {
		frame.Events = &api.Events{Path: eventsPath, Patterns: patterns}
	}
	for _, d := range cfg.groups {
		for name, scheme := range s.schemes(d) {
			if frame.Schemes == nil {
				frame.Schemes = make(map[string]api.Scheme)
			}
			frame.Schemes[name] = scheme
		}
	}
	return frame
}

// title names the document after the services that are offered, so that it is the same whichever node wrote it; after the node where there
// are none, or too many for a title.
func (s *server) title() string {
	var services []string
	for _, a := range s.node.Actions() {
		if s.offers(a) && !isOperatorAction(a) && !slices.Contains(services, a.Service) {
			services = append(services, a.Service)
		}
	}
	if len(services) == 0 || len(services) > 5 {
		return s.node.ID()
	}
	slices.Sort(services)
	return strings.Join(services, ", ")
}

// schemes returns the ways to authenticate in a group, by name.
func (s *server) schemes(d *routeGroup) map[string]api.Scheme {
	if len(d.authenticators) == 0 && s.config.Keys.None() {
		return nil
	}
	all := make(map[string]api.Scheme)
	for _, a := range d.authenticators {
		all[a.Name()] = a.Scheme()
	}
	if !s.config.Keys.None() {
		all["nodeKey"] = keyScheme
	}
	return all
}

// locate fills in where an action is found first, and how to authenticate there.
func (s *server) locate(a *sabir.Action, d *api.Action) bool {
	if !s.offers(a) || isOperatorAction(a) {
		return false
	}
	at := s.groupsOf(a)[0]
	d.Path = at.prefix + d.Path
	d.Routes = slices.Clone(d.Routes)
	for i := range d.Routes {
		d.Routes[i].Pattern = at.prefix + d.Routes[i].Pattern
	}
	if !at.anonymous || len(d.Scopes) > 0 {
		for name := range s.schemes(at) {
			d.Auth = append(d.Auth, name)
		}
		slices.Sort(d.Auth)
	}
	return true
}

// fetchDescription asks another node to describe its action.
func (s *server) fetchDescription(a *sabir.Action) (described description.Document, ok bool) {
	input, err := json.Codec.Append(nil, description.Request{Action: a.Name})
	if err != nil {
		return described, false
	}
	for _, offer := range s.node.Services() {
		if offer.Name != a.Service || offer.Node == s.node.ID() {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), describeTimeout)
		text, err := sabir.CallJSON(ctx, s.node, "$node.api", input, sabir.ToNode(offer.Node))
		cancel()
		var d description.Document
		if err == nil {
			err = json.Codec.Decode(text, &d)
		}
		if err != nil {
			s.node.Log().Debug("a node does not describe its action", "node", offer.Node, "action", a.Name, "error", err)
			continue
		}
		return d, true
	}
	return described, false
}
