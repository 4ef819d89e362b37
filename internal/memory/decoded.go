package memory

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"
)

// decodedFrom is the length in bytes of the documents whose values are counted. Bounds of the number of calls cover shorter ones.
const decodedFrom = 64 << 10

// decodedShare is the part of the node's limit that one value counts for at most, so that a large one is taken where little else waits.
const decodedShare = 4

// What JSON becomes where its type is not known. An object is a map with a group of eight entries, however few it has.
const (
	mapBytes     = 336
	listBytes    = 40
	elementBytes = 24
)

// Decode counts the memory that a JSON document takes when it is made into a value of type t, and reports whether there is space for it.
// Give what it returns back to [Budget.Own]. The document itself is counted by who has read it. A document of a few letters for each value,
// such as [{},{},…], takes up to a hundred times its length, so that bounds of lengths alone would not bound what strangers can ask for.
func (b *Budget) Decode(t reflect.Type, document []byte) (held int, ok bool) {
	if b == nil || t == nil || len(document) < decodedFrom {
		return 0, true
	}
	held = min(growthOf(t).of(document), int(b.limits.Node/decodedShare))
	return held, b.Own().Take(held)
}

// growth is the memory that parts of a document take at most, for one type.
type growth struct{ object, list, element, null int }

// of estimates by counting, which takes a few microseconds for each MB. Letters within texts count too.
func (g *growth) of(document []byte) int {
	count := func(part string, size int) int {
		if size == 0 {
			return 0
		}
		return bytes.Count(document, []byte(part)) * size
	}
	return count("{", g.object) + count("[", g.list) + count(",", g.element) + count("null", g.null)
}

var growths sync.Map // reflect.Type to *growth

func growthOf(t reflect.Type) *growth {
	if known, ok := growths.Load(t); ok {
		return known.(*growth)
	}
	g := &growth{}
	g.add(t, make(map[reflect.Type]bool))
	growths.Store(t, g)
	return g
}

var readsItself = reflect.TypeFor[json.Unmarshaler]()

func (g *growth) add(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] || reflect.PointerTo(t).Implements(readsItself) {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		g.object, g.list, g.element = max(g.object, mapBytes), max(g.list, listBytes), max(g.element, elementBytes)
	case reflect.Map:
		g.object = max(g.object, mapBytes)
		g.many(t.Elem())
		g.add(t.Elem(), seen)
	case reflect.Slice, reflect.Pointer:
		g.many(t.Elem())
		g.add(t.Elem(), seen)
	case reflect.Array:
		g.add(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			g.add(f.Type, seen)
		}
	}
}

// many counts a type of which a document may make many values.
func (g *growth) many(t reflect.Type) {
	size := int(t.Size())
	switch t.Kind() {
	case reflect.Struct:
		g.object, g.null = max(g.object, size), max(g.null, size)
	case reflect.Array:
		g.list, g.null = max(g.list, size), max(g.null, size)
	case reflect.Slice:
		g.list = max(g.list, size)
	}
}
