package api

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/schema"
)

// merger puts named types of several origins together. Types of one name with the same content become one; where they do not,
// the later one gets another name.
type merger struct {
	types map[string]*schema.Schema
	names map[string][]string       // by the content of a group of types that refer to each other: their names
	known map[*schema.Schema]string // types that were added, with their name
}

// newMerger begins with types whose names stay.
func newMerger(types map[string]*schema.Schema) *merger {
	m := &merger{types: make(map[string]*schema.Schema), names: make(map[string][]string), known: make(map[*schema.Schema]string)}
	m.add(types)
	return m
}

// add takes all types of one origin.
func (m *merger) add(types map[string]*schema.Schema) {
	w := walk{merger: m, types: types, place: make(map[string]int)}
	var names []string
	for name := range types {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w.visit(name)
	}
}

// action takes the types that an action's input, or its output and the data of its errors, refer to, and changes the
// action's references to their names as they are here.
func (m *merger) action(a *Action, types map[string]*schema.Schema, side schema.Side) {
	w := walk{merger: m, types: types, place: make(map[string]int)}
	if side == schema.Input {
		w.suffix = "Input"
	}
	translate := func(s *schema.Schema) *schema.Schema {
		if s == nil {
			return nil
		}
		for _, name := range refs(s) {
			w.visit(name)
		}
		return w.renamed(s, nil)
	}
	if side == schema.Input {
		a.In = translate(a.In)
		return
	}
	a.Out = translate(a.Out)
	a.Errors = slices.Clone(a.Errors)
	for i := range a.Errors {
		a.Errors[i].Data = translate(a.Errors[i].Data)
	}
}

// refs is the names that a schema refers to.
func refs(s *schema.Schema) (names []string) {
	for inner := range s.All() {
		if name := inner.RefName(); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// walk finds the groups of types that refer to each other, by Tarjan's algorithm (Depth-first search and linear graph
// algorithms, 1972): each group comes after those that it refers to, whose names are settled by then.
type walk struct {
	*merger
	types map[string]*schema.Schema // of the origin
	place map[string]int            // of names on their way, from 1 on, in the order in which they were met
	stack []string
	met   int

	suffix string // of types that are there already as outputs; "" for none
}

// visit settles the type and all types that it refers to. It returns the lowest place among those that are still open, as in
// Tarjan's algorithm for strongly connected components.
func (w *walk) visit(name string) (low int) {
	s := w.types[name]
	if s == nil || w.known[s] != "" {
		return 0
	}
	if at := w.place[name]; at != 0 {
		return at
	}
	w.met++
	at := w.met
	w.place[name], low = at, at
	start := len(w.stack)
	w.stack = append(w.stack, name)
	for _, ref := range refs(s) {
		if reached := w.visit(ref); reached != 0 {
			low = min(low, reached)
		}
	}
	if low == at {
		w.settle(slices.Clone(w.stack[start:]))
		w.stack = w.stack[:start]
		return 0
	}
	return low
}

// settle gives the types of a group their names: their own, or for inputs where those are taken by the same Go
// types, which then mostly are outputs, "UserInput".
func (w *walk) settle(group []string) {
	slices.Sort(group)
	called := make(map[string]string, len(group))
	for _, name := range group {
		called[name] = name
	}
	key := w.key(group, called)
	names, same := w.names[key]
	if !same && w.otherWay(group) {
		for _, name := range group {
			called[name] = name + w.suffix
		}
		key = w.key(group, called)
		names, same = w.names[key]
	}
	if !same {
		for _, name := range group {
			names = append(names, w.claim(called[name], w.types[name].GoType))
		}
		w.names[key] = names
	}
	for i, name := range group {
		w.known[w.types[name]] = names[i]
	}
	if !same {
		for i, name := range group {
			w.merger.types[names[i]] = w.renamed(w.types[name], nil)
		}
	}
}

// key is the content of the types of a group under these names.
func (w *walk) key(group []string, called map[string]string) string {
	var key strings.Builder
	for _, name := range group {
		text, err := json.Marshal(w.renamed(w.types[name], called))
		if err != nil {
			text = []byte(err.Error()) // a number that is none; it is refused again where the document is written
		}
		key.WriteString(called[name] + "=" + string(text) + "\n")
	}
	return key.String()
}

// otherWay reports whether the names of a group are taken by the same Go types.
func (w *walk) otherWay(group []string) bool {
	return w.suffix != "" && slices.ContainsFunc(group, func(name string) bool {
		there, goType := w.merger.types[name], w.types[name].GoType
		return there != nil && goType != "" && there.GoType == goType && !strings.HasSuffix(name, w.suffix)
	})
}

// claim finds a free name and takes it: its own, with the package's before it, or with a number after it.
func (m *merger) claim(name, goType string) string {
	free := name
	if _, taken := m.types[free]; taken {
		pkg := goType[:max(strings.LastIndexByte(strings.SplitN(goType, "[", 2)[0], '.'), 0)]
		pkg = pkg[strings.LastIndexByte(pkg, '/')+1:]
		if pkg != "" && !strings.ContainsFunc(pkg, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) {
			free = pkg + "." + name
		}
		name = free
		for n := 2; m.types[free] != nil; n++ {
			free = name + strconv.Itoa(n)
		}
	}
	m.types[free] = &schema.Schema{} // until it is there
	return free
}

// renamed is a copy of a schema that refers to types by their names here. Those in open, which have none yet, are called as
// it gives, and one that is not there at all may be anything.
func (w *walk) renamed(s *schema.Schema, open map[string]string) *schema.Schema {
	c := s.Clone()
	for inner := range c.All() {
		name := inner.RefName()
		if name == "" {
			continue
		}
		if called, ok := open[name]; ok {
			inner.Ref = schema.Ref(called)
			continue
		}
		if target := w.types[name]; target != nil && w.known[target] != "" {
			inner.Ref = schema.Ref(w.known[target])
		} else {
			inner.Ref = ""
		}
	}
	return c
}
