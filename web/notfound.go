package web

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
)

// nothing answers for a path or a method that nothing is for.
func (v *visit) nothing() {
	methods := v.tables.get().allowed(v.Path)
	if v.own[v.Path] != nil {
		methods = append(methods, http.MethodGet)
	}
	if methods == nil {
		v.fail(v.notFound(v.Path))
		return
	}
	if slices.Contains(methods, http.MethodGet) && !slices.Contains(methods, http.MethodHead) {
		methods = append(methods, http.MethodHead)
	}
	methods = append(methods, http.MethodOptions)
	slices.Sort(methods)
	allow := strings.Join(slices.Compact(methods), ", ")
	v.Answer.Set("Allow", allow)
	switch {
	case v.Method == http.MethodOptions:
		v.Status, v.Out = http.StatusNoContent, v.Out[:0]
		return
	case v.Method == http.MethodPost && v.tables.get().folders[path.Dir(v.Path)]: // a call, at an address that a pattern takes too
		v.fail(v.notFound(v.Path))
		return
	}
	v.fail(sabir.Errorf(sabir.Unimplemented, sabir.ErrMethod.Name, "the method is %.20q; this address takes %s", v.Method, allow))
}

// maxGuess bounds the names for which similar ones are looked up: comparing takes the square of their length. So that
// wrong names cannot keep the node busy, only one is looked up at a time, and the others get no advice.
const maxGuess = 100

// notFound is the same for an action that is not public as for one that does not exist.
func (f *face) notFound(path string) *sabir.Error {
	e := &sabir.Error{Code: sabir.NotFound, Name: sabir.ErrActionNotFound.Name, Node: f.node.ID(), Message: fmt.Sprintf("no action has the address %.200q", path)}
	if f.node.State() != sabir.Running {
		e.Message += " (the node is " + f.node.State().String() + ")"
	}
	d := f.doorOf(path)
	name := strings.ReplaceAll(strings.Trim(strings.TrimPrefix(path, d.prefix), "/"), "/", ".")
	if name == "" || len(name) > maxGuess || !f.guessing.CompareAndSwap(false, true) {
		return e
	}
	defer f.guessing.Store(false)
	near := f.node.Nearest(name, func(a *sabir.Action) bool { return a.Visibility == sabir.Public })
	if near == nil {
		return e
	}
	var paths []string
	for _, n := range near {
		if a := f.node.Action(n); a != nil {
			for _, d := range f.doorsOf(a) {
				paths = append(paths, d.prefix+actionPath(n))
			}
		}
	}
	if paths == nil {
		return e
	}
	e.Message += "; did you mean " + strings.Join(paths, ", ") + "?"
	e.Data = map[string]any{"nearest": near}
	return e
}
