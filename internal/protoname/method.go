package protoname

import (
	"fmt"
	"strings"
)

type note string

// PackageNote is the key under which an action notes its package, a string: see rpc.Package.
const PackageNote note = "rpc.package"

// ReadsNote is the key under which an action notes that it has no side effects: see rpc.NoSideEffects.
const ReadsNote note = "rpc.reads"

// Method is an action's name in Protocol Buffers.
type Method struct{ Package, Service, Name string }

// ServiceName is the full name of the service.
func (m Method) ServiceName() string { return m.Package + "." + m.Service }

// Path returns the path of the URL under which gRPC calls the method: "/shop.v1.Users/Get".
func (m Method) Path() string { return "/" + m.ServiceName() + "/" + m.Name }

// MethodOf returns the name of an action of a service, which begins with its version if it has one ("v2.users"). Without a package the
// service's own name is that, with the version behind it.
func MethodOf(service, short string, version int, pkg string) Method {
	if version > 0 {
		_, service, _ = strings.Cut(service, ".")
	}
	m := Method{Package: pkg, Name: Message(short)}
	if pkg != "" {
		m.Service = Message(service)
		return m
	}
	parts := strings.Split(service, ".")
	m.Service = Message(parts[len(parts)-1])
	for i := range parts {
		parts[i] = Field(parts[i])
	}
	if version > 0 {
		parts = append(parts, fmt.Sprintf("v%d", version))
	}
	m.Package = strings.Join(parts, ".")
	return m
}

// ParseMethod reads a path. It is false for one that no method has.
func ParseMethod(path string) (m Method, ok bool) {
	service, name, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	dot := strings.LastIndexByte(service, '.')
	if !ok || dot <= 0 || dot == len(service)-1 || name == "" || strings.Contains(name, "/") {
		return m, false
	}
	return Method{service[:dot], service[dot+1:], name}, true
}
