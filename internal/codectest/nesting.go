package codectest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Types of which a value may contain itself, in each of the ways that Go has.
type (
	ring struct { // by a pointer
		Next *ring `json:"next"`
	}
	ringOfLists    []ringOfLists
	ringOfMaps     map[string]ringOfMaps
	ringOfPointers *ringOfPointers
	ringByList     struct {
		In []*ringByList `json:"in"`
	}
	ringByMap struct {
		In map[string]*ringByMap `json:"in"`
	}
	ringByArray struct {
		In [1]*ringByArray `json:"in"`
	}
	ringByPointers struct {
		In **ringByPointers `json:"in"`
	}
	ringByAny struct {
		In any `json:"in"`
	}
	ringByKey struct {
		In map[int]ringByKey `json:"in"`
	}
	ringOmitted struct {
		Next *ringOmitted `json:"next,omitempty"`
	}
	ringEmbedded struct {
		*Embeddable
	}
	// Embeddable is exported because codecs leave out what is embedded and is not.
	Embeddable struct {
		Next *ringEmbedded `json:"next"`
	}
	ringOfTwo   struct{ Other *ringOfOther }
	ringOfOther struct{ One []ringOfTwo }
)

// endless returns values that contain themselves, by how they do.
func endless() map[string]any {
	pointer := &ring{}
	pointer.Next = pointer
	lists := make(ringOfLists, 1)
	lists[0] = lists
	maps := ringOfMaps{}
	maps["in"] = maps
	var pointers ringOfPointers
	pointers = &pointers
	list := &ringByList{make([]*ringByList, 1)}
	list.In[0] = list
	dictionary := &ringByMap{map[string]*ringByMap{}}
	dictionary.In["in"] = dictionary
	array := &ringByArray{}
	array.In[0] = array
	twice := &ringByPointers{}
	twice.In = &twice
	anything := &ringByAny{}
	anything.In = anything
	key := ringByKey{map[int]ringByKey{}}
	key.In[1] = key
	omitted := &ringOmitted{}
	omitted.Next = omitted
	embedded := &ringEmbedded{&Embeddable{}}
	embedded.Next = embedded
	two := &ringOfTwo{&ringOfOther{make([]ringOfTwo, 1)}}
	two.Other.One[0] = *two
	self := map[string]any{}
	self["self"] = self
	anys := make([]any, 1)
	anys[0] = anys
	mixed := []any{map[string]any{}}
	mixed[0].(map[string]any)["in"] = mixed
	var box any
	box = &box
	return map[string]any{
		"a struct by a pointer": pointer, "a list of itself": lists, "a map of itself": maps, "a pointer to itself": pointers,
		"a struct by a list": list, "a struct by a map": dictionary, "a struct by an array": array, "a struct by a pointer to a pointer": twice,
		"a struct by an interface": anything, "a struct by a map of structs": key, "a struct by a field that may be left out": omitted,
		"a struct by what it embeds": embedded, "two structs": two, "a map of any": self, "a list of any": anys, "lists and maps of any": mixed,
		"an interface by a pointer": box, "a map of any in a struct": holder{"x", self},
	}
}

// tooDeep is deeper than any codec goes. A codec that recursed this far would come back, and be found out.
const tooDeep = 100_000

// deep returns values that end, far beyond the bounds of all codecs.
func deep() map[string]any {
	var (
		pointer    *ring
		lists      ringOfLists
		maps       ringOfMaps
		list       *ringByList
		dictionary *ringByMap
		array      *ringByArray
		anything   any
		key        ringByKey
		anys       any = "end"
		objects    any = "end"
		boxes      any = "end"
		arrays     any = "end"
	)
	for range tooDeep {
		pointer = &ring{pointer}
		lists = ringOfLists{lists}
		maps = ringOfMaps{"in": maps}
		list = &ringByList{[]*ringByList{list}}
		dictionary = &ringByMap{map[string]*ringByMap{"in": dictionary}}
		array = &ringByArray{[1]*ringByArray{array}}
		anything = ringByAny{anything}
		key = ringByKey{map[int]ringByKey{1: key}}
		anys = []any{anys}
		objects = map[string]any{"in": objects}
		inner := boxes
		boxes = &inner
		arrays = [1]any{arrays}
	}
	return map[string]any{
		"structs by pointers": pointer, "lists": lists, "maps": maps, "structs by lists": list, "structs by maps": dictionary,
		"structs by arrays": array, "structs by interfaces": anything, "structs by maps of structs": key, "lists of any": anys,
		"maps of any": objects, "pointers in interfaces": boxes, "arrays of any": arrays, "lists of any in a struct": holder{"x", anys},
	}
}

// cycles wants an error for what a format without references cannot write, and nothing worse than an error in any.
func cycles(t *testing.T, s *suite) {
	for name, value := range endless() {
		out, err := s.contained(t, name, []byte("abc"), value)
		if err == nil && !s.Cycles {
			t.Errorf("%s inside itself was encoded in %d bytes", name, len(out))
			continue
		}
		s.mustBeRefused(t, name, out, err)
	}
}

// deepValues wants an error for values that nest deeper than a codec goes. Their depth, not a stack that overflows, must end it.
func deepValues(t *testing.T, s *suite) {
	for name, value := range deep() {
		out, err := s.contained(t, name, []byte("abc"), value)
		if err == nil {
			t.Errorf("%d %s inside each other were encoded in %d bytes", tooDeep, name, len(out))
			continue
		}
		s.mustBeRefused(t, fmt.Sprintf("%s %d deep", name, tooDeep), out, err)
	}
}

// endlessTargets reads into values that contain themselves already, and into new ones of their types. A codec may replace them or
// read into what is there.
func endlessTargets(t *testing.T, s *suite) {
	for _, shape := range s.shapes() {
		data := s.encode(t, shape.Value)
		if len(data) > longest {
			continue
		}
		for name, value := range endless() {
			target := value
			if reflect.TypeOf(value).Kind() != reflect.Pointer {
				to := reflect.New(reflect.TypeOf(value))
				to.Elem().Set(reflect.ValueOf(value))
				target = to.Interface()
			}
			for _, into := range []any{target, reflect.New(reflect.TypeOf(target).Elem()).Interface()} {
				err := s.decodeContained(t, shape.Name+" into "+name, data, into)
				s.mustNameCodec(t, shape.Name+" into "+name, err)
			}
		}
	}
}

func (s *suite) mustBeRefused(t *testing.T, what string, out []byte, err error) {
	t.Helper()
	if err == nil {
		return
	}
	s.mustNameCodec(t, what, err)
	if strings.Contains(err.Error(), "panicked") {
		t.Errorf("%s: %v", what, err)
	}
	if string(out) != "abc" {
		t.Errorf("%s: dst became %.100q", what, out)
	}
}
