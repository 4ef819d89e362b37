package dubbo

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/introspect"
)

// Mapping is a row of the table of interfaces: see [Interface].
type Mapping struct {
	name, service  string
	version, group string
	protobuf       bool // its values are messages of Protocol Buffers
	methods        []*method
	exceptions     map[string]string // classes, by names of errors
	errors         map[string]string // names of errors, by classes
	problems       []error
	offline        atomic.Bool // an operator has said so: see QoS
}

// method is one of an interface and the action that it is.
type method struct {
	of           *Mapping
	name, action string   // of the action the full name
	types        []string // of the parameters; nil where they are not known
	stream       bool
	shape        introspect.Shape // of a stream
}

// InterfaceOption is an option of [Interface].
type InterfaceOption func(*Mapping)

// Interface maps an interface of Java to a service, by its full name: "orders", "v2.orders". Served without a [Method], each public action of the
// service is the method of its name. A [Reference] needs the methods named.
func Interface(name, service string, options ...InterfaceOption) *Mapping {
	m := &Mapping{name: name, service: service, exceptions: make(map[string]string), errors: make(map[string]string)}
	if name == "" {
		m.problem("dubbo.Interface: the interface has no name: want one such as com.shop.OrderService")
	}
	if fault := names.Fault(service); fault != "" {
		m.problem("dubbo.Interface(%q, %q): the name of the service %s", name, service, fault)
	}
	for _, o := range options {
		o(m)
	}
	return m
}

func (m *Mapping) problem(format string, arguments ...any) {
	m.problems = append(m.problems, fmt.Errorf(format, arguments...))
}

// schemes are the protocols by which providers of the interface are called, the one first that a port with both is called by. Only tri:// carries messages
// of Protocol Buffers and streams; providers of dubbo:// offer the other methods.
func (m *Mapping) schemes() []string {
	isStream := func(one *method) bool { return one.stream }
	isCall := func(one *method) bool { return !one.stream }
	switch {
	case m.protobuf, !slices.ContainsFunc(m.methods, isCall):
		return []string{schemeTriple}
	case slices.ContainsFunc(m.methods, isStream):
		return []string{schemeTriple, schemeDubbo}
	}
	return []string{schemeDubbo, schemeTriple}
}

// Version is the version of the interface. Default: none, which Dubbo writes as 0.0.0.
func Version(version string) InterfaceOption { return func(m *Mapping) { m.version = version } }

// Group is the group of the interface. Default: none.
func Group(group string) InterfaceOption { return func(m *Mapping) { m.group = group } }

// Protobuf states that the arguments and answers of the interface are messages of Protocol Buffers, as those are that Dubbo generates from a
// .proto file. Structs are written as package codec/protobuf describes. It is for tri:// only. Actions whose input and answer are generated messages
// need no such statement.
func Protobuf() InterfaceOption { return func(m *Mapping) { m.protobuf = true } }

// MethodOption is an option of [Method].
type MethodOption func(*method)

// Method names a method of the interface, which is the action of that name. With one Method or more, the interface has these only. A method
// that is named twice has two overloads, of which each needs [Parameters].
func Method(name string, options ...MethodOption) InterfaceOption {
	return func(m *Mapping) {
		one := &method{of: m, name: name, action: m.service + "." + name}
		for _, o := range options {
			o(one)
		}
		if fault := names.Fault(one.action); fault != "" {
			m.problem("dubbo.Method(%q): the name of the action %s %s: give it another by dubbo.Action", name, one.action, fault)
		}
		for _, other := range m.methods {
			if other.name == name && (other.types == nil || one.types == nil || descriptorOf(other.types) == descriptorOf(one.types)) {
				m.problem("dubbo.Method(%q) is there twice: give each a dubbo.Parameters of its own", name)
			}
		}
		m.methods = append(m.methods, one)
	}
}

// Action is the name of the action within its service. Default: that of the method.
func Action(short string) MethodOption {
	return func(m *method) { m.action = m.of.service + "." + short }
}

// Parameters are the Java types of the method's parameters: "int", "java.lang.String", "com.shop.Order", "long[]"; none for a method without
// parameters. Served, they choose among overloads. In a [Reference] they make the call one of that method. Without them it is a generic one
// ($invoke), for which the provider looks up the method by its name: that costs it more, and it can have no overloads.
func Parameters(types ...string) MethodOption {
	return func(m *method) {
		m.types = append([]string{}, types...)
		if known, err := typesOf(descriptorOf(types)); err != nil || len(known) != len(types) {
			m.of.problem("dubbo.Parameters(%q) of %s: want types as Java's source has them, such as int, java.lang.String, long[]", types, m.name)
		}
	}
}

// Stream makes a method of a [Reference] by tri:// a stream with any number of values both ways: StreamObserver<Out> name(StreamObserver<In>). Its
// [Parameters], which it needs only for providers that look at them, are the class of In. A served method is a stream if its action is one.
func Stream() MethodOption { return func(m *method) { m.stream = true } }

// ServerStream makes a method of a [Reference] by tri:// a stream of answers: void name(In, StreamObserver<Out>).
func ServerStream() MethodOption {
	return func(m *method) { m.stream, m.shape = true, introspect.ServerStream }
}

// Throws makes an error of that name an exception of the class on Java's side, which the interface declares, and an exception of the class an error
// of that name here. Java refuses classes of exceptions that it does not know.
func Throws(errorName, class string) InterfaceOption {
	return func(m *Mapping) { m.exceptions[errorName], m.errors[class] = class, errorName }
}

// serviceKey is the interface with its version and group, as Dubbo's tools have it: "eu/com.shop.OrderService:1.0.0".
func (m *Mapping) serviceKey() string {
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

func (m *Mapping) key() key { return keyOf(m.name, m.version, m.group) }

// find finds an interface. A consumer that takes any version or group says "*" to a provider that has none.
func (t table) find(name, version, group string) *Mapping {
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
func (m *Mapping) method(name string, types []string) *method {
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

// declares reports whether a method of the name is declared with so many parameters.
func (m *Mapping) declares(name string, count int) bool {
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
