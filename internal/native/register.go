package native

import (
	"fmt"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// registered is a type that an interface may hold.
type registered struct {
	name string
	typ  reflect.Type
	plan *plan
	hash Hash
}

// registry is replaced whole when a type is added, so that reading takes no lock.
type registry struct {
	byName map[string]*registered
	byType map[reflect.Type]*registered
}

var (
	registering sync.Mutex
	known       atomic.Pointer[registry]
	standard    sync.Once // and not init, which would link all of the codec into programs that never use it
)

// registeredTypes returns the types that interfaces may hold now.
func registeredTypes() *registry {
	standard.Do(registerStandard)
	return known.Load()
}

// Register allows values of sample's type in interfaces, under a name that writer and reader share. Nothing but what was
// registered is ever built from a name on the wire. The value of sample does not matter; a pointer registers the pointer
// type, which is another type than what it points to.
//
// Registered from the start are bool, string, all sizes of int, uint and float under their Go names, []byte as "bytes",
// time.Time as "time", time.Duration as "duration", []any as "list" and map[string]any as "object".
//
// Register panics if the name or the type is taken by another, if the name is empty or has more than 255 bytes, and if the type
// cannot be encoded. Call it from init or main.
func Register(name string, sample any) {
	standard.Do(registerStandard)
	register(name, sample)
}

func register(name string, sample any) {
	typ := reflect.TypeOf(sample)
	if typ == nil || name == "" || len(name) > maxNameBytes {
		panic(fmt.Sprintf("native: Register(%q, %v): want a name of 1 to %d bytes and a value", name, typ, maxNameBytes))
	}
	p, err := planOf(typ)
	if err != nil {
		panic(err.Error())
	}
	registering.Lock()
	defer registering.Unlock()
	old := known.Load()
	if r, ok := old.byName[name]; ok && r.typ != typ {
		panic(fmt.Sprintf("native: Register: the name %q is taken by %s, so %s needs another", name, r.typ, typ))
	}
	if r, ok := old.byType[typ]; ok && r.name != name {
		panic(fmt.Sprintf("native: Register: %s is registered already, as %q", typ, r.name))
	}
	r := &registered{name: name, typ: typ, plan: p, hash: p.schema().hash}
	next := &registry{byName: maps.Clone(old.byName), byType: maps.Clone(old.byType)}
	next.byName[name], next.byType[typ] = r, r
	known.Store(next)
}

func registerStandard() {
	known.Store(&registry{byName: make(map[string]*registered), byType: make(map[reflect.Type]*registered)})
	for name, sample := range map[string]any{
		"bool": false, "string": "", "int": 0, "int8": int8(0), "int16": int16(0), "int32": int32(0), "int64": int64(0),
		"uint": uint(0), "uint8": uint8(0), "uint16": uint16(0), "uint32": uint32(0), "uint64": uint64(0),
		"float32": float32(0), "float64": float64(0), "bytes": []byte(nil), "time": time.Time{},
		"duration": time.Duration(0), "list": []any(nil), "object": map[string]any(nil),
	} {
		register(name, sample)
	}
}
