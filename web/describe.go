package web

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/web/api"
	"github.com/sabir-go/sabir/web/auth"
)

// description is what was found out about what a table has. Nodes that could not be asked are asked again after a while.
type description struct {
	making sync.Mutex
	api    api.API
	until  time.Time // zero for not made yet
}

const (
	askLimit = 2 * time.Second  // for one action of another node
	askAgain = 10 * time.Second // where one could not be asked
	askNever = 24 * time.Hour
)

// api describes what can be called here now.
func (f *face) api() api.API {
	t := f.tables.get()
	d := &t.description
	d.making.Lock()
	defer d.making.Unlock()
	if time.Now().Before(d.until) {
		return d.api
	}
	complete := true
	found, err := api.Of(f.frame(), f.node.Actions(), api.Sources{
		Scopes: auth.ScopesKey,
		Place:  f.place,
		Lookup: func(a *sabir.Action) (sabir.ActionDescription, bool) {
			told, ok := f.askFor(a)
			complete = complete && ok
			return told, ok
		},
	})
	if err != nil {
		f.node.Log().Warn("not all of the actions can be described", "node", f.node.ID(), "error", err)
	}
	d.api, d.until = found, time.Now().Add(askNever)
	if !complete {
		d.until = time.Now().Add(askAgain)
	}
	return d.api
}

// frame is what the face itself says.
func (f *face) frame() api.API {
	s := f.settings
	frame := api.API{Title: s.title, Version: s.version, Description: s.description, Batch: batchPath, Schemes: f.schemes(&s.root)}
	if frame.Title == "" {
		frame.Title, frame.Version = f.node.ID(), "0"
	}
	if s.events != nil {
		frame.Events = &api.Events{Path: eventsPath, Patterns: s.events}
	}
	for _, d := range s.groups {
		for name, scheme := range f.schemes(d) {
			if frame.Schemes == nil {
				frame.Schemes = make(map[string]api.Scheme)
			}
			frame.Schemes[name] = scheme
		}
	}
	return frame
}

// schemes is the ways to say who calls at a door, by name.
func (f *face) schemes(d *door) map[string]api.Scheme {
	if len(d.authenticators) == 0 && f.config.Key == "" {
		return nil
	}
	all := make(map[string]api.Scheme)
	for _, a := range d.authenticators {
		all[a.Name()] = a.Scheme()
	}
	if f.config.Key != "" {
		all["nodeKey"] = keyScheme
	}
	return all
}

// place says at which door an action is found first, and who may call it.
func (f *face) place(a *sabir.Action, d *api.Action) bool {
	if a.Visibility != sabir.Public || ofTools(a) {
		return false
	}
	at := f.doorsOf(a)[0]
	d.Path = at.prefix + d.Path
	d.Routes = slices.Clone(d.Routes)
	for i := range d.Routes {
		d.Routes[i].Pattern = at.prefix + d.Routes[i].Pattern
	}
	if !at.anonymous || len(d.Scopes) > 0 {
		for name := range f.schemes(at) {
			d.Auth = append(d.Auth, name)
		}
		slices.Sort(d.Auth)
	}
	return true
}

// askFor asks a node that has the action.
func (f *face) askFor(a *sabir.Action) (told sabir.ActionDescription, ok bool) {
	input, err := json.Append(nil, sabir.DescribeRequest{Action: a.Name})
	if err != nil {
		return told, false
	}
	for _, s := range f.node.Services() {
		if s.Name != a.Service || s.Node == f.node.ID() {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), askLimit)
		text, err := sabir.CallJSON(ctx, f.node, "$node.api", input, sabir.ToNode(s.Node))
		cancel()
		var d sabir.ActionDescription
		if err == nil {
			err = json.Decode(text, &d)
		}
		if err != nil {
			f.node.Log().Debug("a node does not describe its action", "node", s.Node, "action", a.Name, "error", err)
			continue
		}
		return d, true
	}
	return told, false
}
