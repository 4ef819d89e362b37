package openapi

import (
	"slices"
	"strconv"
	"strings"
)

// paths is the operations by path and method. OpenAPI takes two paths that differ only in the names of their parameters for
// the same one, so the names of the first are used for all.
type paths struct {
	prefix string
	order  []string          // paths as they came
	items  map[string]object // methods -> operations
	shapes map[string]string // path without names -> path
}

func newPaths(prefix string) *paths {
	return &paths{prefix: strings.TrimSuffix(prefix, "/"), items: map[string]object{}, shapes: map[string]string{}}
}

// methods lists the methods that OpenAPI 3.1 knows, in the order in which a path shows them.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// place returns where a pattern goes: the path, and what its parameters are called there.
func (p *paths) place(pattern string) (path string, renamed map[string]string) {
	given, shape := template(p.prefix + pattern)
	path, known := p.shapes[shape]
	if !known {
		path = given
		p.shapes[shape] = path
	}
	renamed = map[string]string{}
	ours, theirs := parameterNames(given), parameterNames(path)
	for i, name := range ours {
		renamed[name] = theirs[i]
	}
	return path, renamed
}

// free reports whether the operation can be added.
func (p *paths) free(path, method string) bool {
	return slices.Contains(methods, method) && p.items[path].get(method) == nil
}

// add adds an operation whose place is free.
func (p *paths) add(path, method string, operation object) {
	if p.items[path] == nil {
		p.order = append(p.order, path)
	}
	p.items[path] = append(p.items[path], member{method, operation})
}

// object returns all paths by name, with their methods in OpenAPI's order.
func (p *paths) object() object {
	slices.Sort(p.order)
	all := object{}
	for _, path := range p.order {
		item := p.items[path]
		slices.SortFunc(item, func(x, y member) int { return slices.Index(methods, x.key) - slices.Index(methods, y.key) })
		all.add(path, item)
	}
	return all
}

// template is a pattern as OpenAPI writes it, and its shape: "/files/{path...}" is "/files/{path}" and "/files/{}".
func template(pattern string) (path, shape string) {
	var a, b strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "{")
		a.WriteString(before)
		b.WriteString(before)
		if !found {
			return a.String(), b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		a.WriteString("{" + strings.TrimSuffix(name, "...") + "}")
		b.WriteString("{}")
		pattern = after
	}
}

// parameterNames are the names in a path, in its order.
func parameterNames(path string) []string {
	var names []string
	for {
		_, rest, found := strings.Cut(path, "{")
		if !found {
			return names
		}
		name, after, _ := strings.Cut(rest, "}")
		names, path = append(names, name), after
	}
}

// operationIDs are the ids of an action's REST forms: the action's name, the method, and a number behind the second one on.
func operationID(action, method string, nth int) string {
	id := action + ".via" + strings.ToUpper(method[:1]) + method[1:]
	if nth > 1 {
		id += strconv.Itoa(nth)
	}
	return id
}
