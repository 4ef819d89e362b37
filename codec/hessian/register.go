package hessian

import (
	"fmt"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
)

// registry is replaced whole when a type is added, so that reading takes no lock.
type registry struct {
	byName map[string]*plan // classes only
	byType map[reflect.Type]string
}

var (
	registering sync.Mutex
	known       = newRegistry()
)

func newRegistry() *atomic.Pointer[registry] {
	p := new(atomic.Pointer[registry])
	p.Store(&registry{byName: make(map[string]*plan), byType: make(map[reflect.Type]string)})
	return p
}

// Register gives the Go type T its name in Java:
//
//	hessian.Register[User]("com.example.User")         // a struct: an object of that class
//	hessian.Register[Color]("com.example.Color")       // a named string type: an enum
//	hessian.Register[Tags]("java.util.HashSet")        // a named slice: a list of that type
//	hessian.Register[Vector]("[double")                // a named slice: a double[]
//	hessian.Register[Prices]("java.util.TreeMap")      // a named map: a map of that type
//
// From then on values of T are written with that name, and an any takes an object of that class as a *T, an enum as a T.
// The name of a list or map is only written, and several Go types may share one: what an any gets is a [List] or [Map],
// since no Go type fits all that is called java.util.HashSet.
//
// Register panics if T is of another kind, if T has a name already or one that a codec cannot write, or if the name of
// a class is taken: mistakes in the program that show at its start. Call it from init or main, before T is used.
func Register[T any](name string) {
	t := reflect.TypeFor[T]()
	p, err := planOf(t)
	if err != nil {
		panic(err.Error())
	}
	c := &class{name: name}
	key, ok := appendString(nil, name)
	if name == "" || len(name) > 1000 || !ok {
		panic(fmt.Sprintf("hessian: Register[%s](%q): want a name of 1 to 1000 bytes", t, name))
	}
	isClass := true
	switch {
	case p.op == opStruct:
		c.definition = appendInt(append([]byte{tagClass}, key...), int32(len(p.fields)))
		for i := range p.fields {
			c.definition = append(c.definition, p.fields[i].key...)
		}
	case p.op == opString && t != reflect.TypeFor[string]():
		c.definition = append(append([]byte{tagClass}, key...), tagInt1+1, 4, 'n', 'a', 'm', 'e')
	case t.Name() != "" && (p.op == opSlice || p.op == opMap || p.op == opAnySlice || p.op == opAnyMap):
		isClass = false
	default:
		panic(fmt.Sprintf("hessian: Register[%s]: want a struct, or a named type that is a string, a slice or a map", t))
	}
	registering.Lock()
	defer registering.Unlock()
	old := known.Load()
	if other, taken := old.byType[t]; taken {
		panic(fmt.Sprintf("hessian: Register: %s is registered already, as %q", t, other))
	}
	other, taken := old.byName[name]
	if taken {
		panic(fmt.Sprintf("hessian: Register: the name %q is taken by %s, so %s needs another", name, other.typ, t))
	}
	next := &registry{byName: maps.Clone(old.byName), byType: maps.Clone(old.byType)}
	next.byType[t] = name
	if isClass {
		next.byName[name] = p
	}
	p.class.Store(c)
	known.Store(next)
}

// registered returns the plan of the Go struct that an any takes for a class; nil for none.
func (d *Decoder) registered(name string) *plan {
	if d.unregistered {
		return nil
	}
	return registeredAs(name, opStruct)
}

// registeredAs returns the plan of the Go type for a class if it is one of ops, else nil.
func registeredAs(name string, ops ...opcode) *plan {
	p := known.Load().byName[name]
	for _, op := range ops {
		if p != nil && p.op == op {
			return p
		}
	}
	return nil
}
