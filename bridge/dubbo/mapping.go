package dubbo

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/introspect"
)

// mapping is an Interface as the bridge works with it.
type mapping struct {
	name, service  string
	version, group string
	protobuf       bool // its values are messages of Protocol Buffers
	methods        []*method
	exceptions     map[string]string // classes, by names of errors
	errors         map[string]string // names of errors, by classes
	offline        atomic.Bool       // an operator has said so: see Config.QoS
}

// method is one of an interface and the action that it is.
type method struct {
	of           *mapping
	name, action string   // of the action the full name
	types        []string // of the parameters; nil where they are not known
	stream       bool
	shape        introspect.Shape // of a stream
	callback     *Callback
}

// newMapping reads an interface, and returns with it what cannot work.
func newMapping(i *Interface) (*mapping, error) {
	m := &mapping{name: i.Name, service: i.Service, version: i.Version, group: i.Group, protobuf: i.Protobuf, exceptions: i.Throws, errors: make(map[string]string)}
	var problems []error
	problem := func(format string, arguments ...any) { problems = append(problems, fmt.Errorf(format, arguments...)) }
	if i.Name == "" {
		problem("an interface has no Name: want one such as com.shop.OrderService")
	}
	if fault := names.Fault(i.Service); fault != "" {
		problem("%s: the name of the service %q %s", i.Name, i.Service, fault)
	}
	for _, name := range slices.Sorted(maps.Keys(i.Throws)) {
		m.errors[i.Throws[name]] = name
	}
	for _, from := range i.Methods {
		one := &method{of: m, name: from.Name, action: i.Service + "." + cmp.Or(from.Action, from.Name), types: slices.Clone(from.Parameters), stream: from.Stream || from.ServerStream}
		if one.callback = from.Callback; one.callback != nil {
			one.stream, one.shape = true, introspect.ServerStream
			if err := one.callback.check(len(one.types)); err != nil {
				problem("%s: %s: %w", i.Name, one.name, err)
			}
		}
		if from.ServerStream {
			one.shape = introspect.ServerStream
		}
		if known, err := typesOf(descriptorOf(one.types)); err != nil || len(known) != len(one.types) {
			problem("%s: Parameters %q of %s: want types as Java's source has them, such as int, java.lang.String, long[]", i.Name, one.types, one.name)
		}
		if fault := names.Fault(one.action); fault != "" {
			problem("%s: the name of the action %s %s: give the method another Action", i.Name, one.action, fault)
		}
		for _, other := range m.methods {
			if other.name == one.name && (other.types == nil || one.types == nil || descriptorOf(other.types) == descriptorOf(one.types)) {
				problem("%s: the method %s is there twice: give each Parameters of its own", i.Name, one.name)
			}
		}
		m.methods = append(m.methods, one)
	}
	return m, errors.Join(problems...)
}

// schemes are the protocols by which providers of the interface are called, the one first that a port with both is called by. Only tri:// carries messages
// of Protocol Buffers and streams; providers of dubbo:// offer the other methods.
func (m *mapping) schemes() []string {
	isStream := func(one *method) bool { return !one.carriedBy(false) }
	isCall := func(one *method) bool { return one.carriedBy(false) }
	switch {
	case m.protobuf, !slices.ContainsFunc(m.methods, isCall):
		return []string{schemeTriple}
	case slices.ContainsFunc(m.methods, isStream):
		return []string{schemeTriple, schemeDubbo}
	}
	return []string{schemeDubbo, schemeTriple}
}

// serviceKey is the interface with its version and group, as Dubbo's tools have it: "eu/com.shop.OrderService:1.0.0".
func (m *mapping) serviceKey() string {
	text := m.name
	if m.group != "" {
		text = m.group + "/" + text
	}
	if m.version != "" {
		text += ":" + m.version
	}
	return text
}

// key holds what requests name an interface by.
type key struct{ name, version, group string }

func (m *mapping) key() key { return keyOf(m.name, m.version, m.group) }

// find finds an interface. A consumer that takes any version or group says "*" to a provider that has none.
func (t table) find(name, version, group string) *mapping {
	if version == "*" {
		version = ""
	}
	if group == "*" {
		group = ""
	}
	return t[keyOf(name, version, group)]
}

func keyOf(name, version, group string) key {
	if version == "0.0.0" {
		version = ""
	}
	return key{name, version, group}
}

// method finds the one that is called by a name with arguments of the types; nil for none.
func (m *mapping) method(name string, types []string) *method {
	var byName *method
	for _, one := range m.methods {
		if one.name != name {
			continue
		}
		if one.types == nil || same(one.types, types) {
			return one
		}
		if byName == nil && len(one.types) == len(types) && !named(types) {
			byName = one
		}
	}
	return byName
}

// carriedBy reports whether the protocol carries the method.
func (m *method) carriedBy(triple bool) bool {
	switch {
	case m.callback != nil:
		return !triple
	case m.stream:
		return triple
	}
	return true
}

// callbackOf is the method that a call is for where it has a callback, else nil.
func (m *mapping) callbackOf(inv *invocation) *method {
	if one := m.method(inv.method, inv.types); one != nil && one.callback != nil {
		return one
	}
	return nil
}

// declares reports whether a method of the name is declared with so many parameters.
func (m *mapping) declares(name string, count int) bool {
	return slices.ContainsFunc(m.methods, func(one *method) bool { return one.name == name && one.types != nil && len(one.types) == count })
}

// same reports whether the types are those of the parameters.
func same(parameters, types []string) bool {
	if len(parameters) != len(types) {
		return false
	}
	for i := range parameters {
		if parameters[i] != types[i] {
			return false
		}
	}
	return true
}

// named reports whether a caller named the types: a generic one need not.
func named(types []string) bool {
	for _, t := range types {
		if t != "" {
			return true
		}
	}
	return len(types) == 0
}
