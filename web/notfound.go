package web

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
)

// noTarget answers a request whose path, or whose method for the path, has no target.
func (rc *requestContext) noTarget() {
	methods := rc.tables.get().allowed(rc.Path, rc.isOperator(rc.Exchange))
	if rc.ownPages[rc.Path] != nil {
		methods = append(methods, http.MethodGet, http.MethodHead)
	}
	if rc.Path == eventsPath && len(rc.settings.events) > 0 {
		methods = append(methods, http.MethodGet)
	}
	if methods == nil {
		if err := rc.notYet(rc.Method, rc.Path); err != nil {
			rc.fail(err)
			return
		}
		rc.fail(rc.notFound(rc.Path))
		return
	}
	if slices.Contains(methods, rc.Method) { // its service came since it was looked up
		rc.fail(rc.unavailable(rc.Path))
		return
	}
	methods = append(methods, http.MethodOptions)
	slices.Sort(methods)
	allow := strings.Join(slices.Compact(methods), ", ")
	rc.Answer.Set("Allow", allow)
	switch {
	case rc.Method == http.MethodOptions:
		rc.Status, rc.Out = http.StatusNoContent, rc.Out[:0]
		return
	case rc.Method == http.MethodPost && rc.tables.get().folders[path.Dir(rc.Path)]: // a call, at an address that a pattern takes too
		rc.fail(rc.notFound(rc.Path))
		return
	}
	rc.fail(sabir.Errorf(sabir.CodeUnimplemented, errname.MethodNotAllowed, "the method is %.20q; this address takes %s", rc.Method, allow))
}

// maxSuggest bounds the names for which similar ones are looked up: comparing takes the square of their length. So that
// wrong names cannot keep the node busy, only one is looked up at a time, and the others get no advice.
const maxSuggest = 100

// notYet is the error for an address that may have a target in a moment: while the node starts or stops, and for a call of a service
// that the node expects and has not seen yet. It says nothing of the actions that there are. It is nil for any other address.
func (s *server) notYet(method, path string) error {
	if state := s.node.State(); state != "running" {
		e := s.unavailable(path)
		e.Message = fmt.Sprintf("no action has the address %.200q; the node is %s", path, state)
		return e
	}
	if name := s.nameOf(path); method != http.MethodPost || !s.settings.forwards(name) || !s.node.Awaits(name) {
		return nil
	}
	return s.unavailable(path)
}

// unavailable is the error for an address whose target is not there at the moment.
func (s *server) unavailable(path string) *sabir.Error {
	return &sabir.Error{Code: sabir.CodeUnavailable, Name: sabir.ErrServiceUnavailable.Name, Node: s.node.ID(), Retryable: true,
		Message: fmt.Sprintf("what has the address %.200q is not available now", path)}
}

// nameOf is the name of the action whose calls go to a path.
func (s *server) nameOf(path string) string {
	return strings.ReplaceAll(strings.Trim(strings.TrimPrefix(path, s.groupOf(path).prefix), "/"), "/", ".")
}

// notFound makes the same error for an action that is not public as for one that does not exist.
func (s *server) notFound(path string) *sabir.Error {
	e := &sabir.Error{Code: sabir.CodeNotFound, Name: sabir.ErrActionNotFound.Name, Node: s.node.ID(), Message: fmt.Sprintf("no action has the address %.200q", path)}
	name := s.nameOf(path)
	if name == "" || len(name) > maxSuggest || !s.suggesting.CompareAndSwap(false, true) {
		return e
	}
	defer s.suggesting.Store(false)
	near := s.node.Nearest(name, func(a *sabir.Action) bool { return s.offers(a) && !isOperatorAction(a) })
	if near == nil {
		return e
	}
	var paths []string
	for _, n := range near {
		if a := s.node.Action(n); a != nil {
			for _, d := range s.groupsOf(a) {
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
