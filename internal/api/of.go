package api

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/description"
	"github.com/sabir-go/sabir/internal/protoname"
	"github.com/sabir-go/sabir/internal/schema"
)

// Sources has further information that Of includes. Each field may be nil.
type Sources struct {
	// Place sets where an action is found and which callers are allowed: it changes Path, Routes, Auth and Scopes, which are
	// filled in with POST /service/action and the action's own routes. It returns false for an action that is not offered.
	// Without it, public actions are offered.
	Place func(a *sabir.Action, d *Action) bool
	// Lookup is another node's description of its action, whose Go types are not here: the answer of its $node.api. Where it is
	// nil, or where it returns false, such an action takes and gives anything.
	Lookup func(a *sabir.Action) (description.Document, bool)
	// Scopes is the key under which actions note their roles, a []string: principal.ScopesKey. Without it they have none.
	Scopes any
}

// Of describes the actions: it adds them, by name, and their types to what frame has already. Types that are the same are
// there once, whichever nodes they come from.
//
// A type that cannot be described, and an example that has no JSON, are reported in the error; the description is of use all the
// same: such an action takes or gives anything, and such an example is left out.
func Of(frame API, actions []*sabir.Action, from Sources) (API, error) {
	m := maker{from: from, set: new(schema.Set)}
	list := m.actions(actions)
	if m.problems != nil { // parts of types that failed are in the set
		m = maker{from: from, set: new(schema.Set), failed: m.failed, problems: m.problems}
		list = m.actions(actions)
	}
	types := newMerger(frame.Types)
	types.add(m.set.Defs)
	for _, side := range []schema.Side{schema.Output, schema.Input} { // outputs have the plain names
		for i := range list {
			if a := &list[i]; a.types != nil {
				types.action(&a.Action, a.types, side)
			}
		}
	}
	frame.Types = types.types
	frame.Actions = slices.Clone(frame.Actions)
	for _, a := range list {
		frame.Actions = append(frame.Actions, a.Action)
	}
	byName := func(i, j int) bool { return frame.Actions[i].Name < frame.Actions[j].Name }
	if !sort.SliceIsSorted(frame.Actions, byName) { // they mostly are, and are large to move
		sort.SliceStable(frame.Actions, byName) // slices.SortStableFunc takes 10 KB of each program for this type
	}
	return frame, errors.Join(m.problems...)
}

// described is an action with the types of another node that it refers to; nil for those of this one.
type described struct {
	Action
	types map[string]*schema.Schema
}

type maker struct {
	from     Sources
	set      *schema.Set
	failed   map[use]bool
	problems []error
}

// use is a type as an input or an output.
type use struct {
	typ  reflect.Type
	side schema.Side
}

func (m *maker) actions(actions []*sabir.Action) (list []described) {
	for _, a := range actions {
		d := described{Action: Action{Name: a.Name, Service: a.Service, Description: a.Description, Path: Path(a.Name), Routes: slices.Clone(a.Routes),
			Stream: a.Stream, Shape: a.Shape, Statuses: a.Statuses, Idempotent: a.Idempotent, Deprecated: a.Deprecated != "", Instead: a.Deprecated}}
		elsewhere := a.In == nil && a.Out == nil
		if elsewhere {
			m.remote(a, &d)
		} else if m.from.Scopes != nil {
			d.Scopes, _ = a.Annotation(m.from.Scopes).([]string)
		}
		offered := a.Public()
		if m.from.Place != nil {
			offered = m.from.Place(a, &d.Action)
		}
		if !offered {
			continue // its types are not in the description either
		}
		if !elsewhere {
			m.local(a, &d.Action)
		}
		list = append(list, d)
	}
	return list
}

// Path returns where an action is called with POST, before any prefix: "/v2/users/get" for v2.users.get.
func Path(action string) string { return "/" + strings.ReplaceAll(action, ".", "/") }

// local describes an action of this node.
func (m *maker) local(a *sabir.Action, d *Action) {
	d.In, d.Out = m.schema(a, a.In, schema.Input), m.schema(a, a.Out, schema.Output)
	pkg, _ := a.Annotation(protoname.PackageNote).(string)
	d.RPC = protoname.MethodOf(a.Service, a.Short, a.Version, pkg).Path()
	d.NoEffects = a.Annotation(protoname.ReadsNote) != nil
	if keep, ok := a.Annotation(gateway.CacheNote).(time.Duration); ok {
		d.CacheFor = keep.Seconds()
	}
	for _, e := range a.Errors {
		declared := Error{Name: e.Name, Code: e.Code.String(), Status: e.HTTPStatus(), Description: e.Message}
		if e.Data != nil {
			declared.Data = m.schema(a, reflect.TypeOf(e.Data), schema.Output)
		}
		d.Errors = append(d.Errors, declared)
	}
	for i, e := range a.Examples {
		if shown, ok := m.example(a, i, e, d.In != nil, d.Out != nil); ok {
			d.Examples = append(d.Examples, shown)
		}
	}
}

func (m *maker) schema(a *sabir.Action, t reflect.Type, side schema.Side) *schema.Schema {
	u := use{t, side}
	if m.failed[u] {
		return &schema.Schema{}
	}
	s, err := m.set.OfCall(t, side)
	if err == nil {
		return s
	}
	if m.failed == nil {
		m.failed = make(map[use]bool)
	}
	m.failed[u] = true
	m.problems = append(m.problems, fmt.Errorf("action %s: the %v cannot be described: %w", a.Name, side, err))
	return &schema.Schema{}
}

// example writes an example's input and output as JSON, where the action has them.
func (m *maker) example(a *sabir.Action, i int, e struct{ In, Out any }, in, out bool) (shown Example, ok bool) {
	var err error
	if in {
		if shown.In, err = json.Codec.Append(nil, e.In); err != nil {
			m.problem("action %s: the input of example %d: %w", a.Name, i+1, err)
			return shown, false
		}
	}
	if out {
		if shown.Out, err = json.Codec.Append(nil, e.Out); err != nil {
			m.problem("action %s: the output of example %d: %w", a.Name, i+1, err)
			return shown, false
		}
	}
	return shown, true
}

// problem keeps a problem once.
func (m *maker) problem(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if !slices.ContainsFunc(m.problems, func(known error) bool { return known.Error() == err.Error() }) {
		m.problems = append(m.problems, err)
	}
}

// remote describes an action of another node.
func (m *maker) remote(a *sabir.Action, d *described) {
	d.In, d.Out = &schema.Schema{}, &schema.Schema{}
	if m.from.Lookup == nil {
		return
	}
	reported, ok := m.from.Lookup(a)
	if !ok {
		return
	}
	d.In, d.Out, d.CacheFor, d.Deprecated, d.Instead = reported.In, reported.Out, reported.CacheFor, reported.Deprecated != "", reported.Deprecated
	d.Statuses = reported.Statuses
	if m.from.Scopes != nil {
		d.Scopes = reported.Notes[fmt.Sprint(m.from.Scopes)]
	}
	for _, e := range reported.Errors {
		var code sabir.Code
		if code.UnmarshalText([]byte(e.Code)) != nil {
			code = sabir.CodeUnknown // one that this program does not know has its status
		}
		declared := Error{Name: e.Name, Code: e.Code, Status: (&sabir.Error{Code: code, Name: e.Name}).HTTPStatus(), Description: e.Message}
		if e.Data > 0 && e.Data <= len(reported.More) {
			declared.Data = reported.More[e.Data-1]
		}
		d.Errors = append(d.Errors, declared)
	}
	for _, e := range reported.Examples {
		d.Examples = append(d.Examples, Example{In: e.In, Out: e.Out})
	}
	if d.types = reported.Defs; d.types == nil {
		d.types = map[string]*schema.Schema{}
	}
}
