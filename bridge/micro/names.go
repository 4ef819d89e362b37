package micro

import (
	"strings"

	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/protoname"
)

// endpointOf is the name of an action among the endpoints of its service, as protoc-gen-micro makes it of a .proto file: the action
// "orders.get" is Orders.Get, and "greeter.say.hello" of the service greeter is Say.Hello.
func endpointOf(service, short string) string {
	kind := service[strings.LastIndexByte(service, '.')+1:]
	if i := strings.LastIndexByte(short, '.'); i >= 0 {
		kind, short = short[:i], short[i+1:]
	}
	return protoname.Message(kind) + "." + protoname.Message(short)
}

// actionOf is the name of the action that an endpoint is here, the reverse of endpointOf. It is false for one that no action can be called.
func actionOf(service, endpoint string) (string, bool) {
	kind, method, ok := strings.Cut(endpoint, ".")
	if !ok || kind == "" || method == "" || strings.Contains(method, ".") {
		return "", false
	}
	name := service + "."
	if kind != protoname.Message(service[strings.LastIndexByte(service, '.')+1:]) {
		name += small(kind) + "."
	}
	name += small(method)
	return name, names.Fault(name) == "" && !strings.HasPrefix(name, "$")
}

// small is a name of Go in lower camel case: GetUser is getUser, ID is id.
func small(name string) string {
	first := protoname.Words(name)
	if len(first) == 0 {
		return name
	}
	return strings.ToLower(first[0]) + strings.TrimPrefix(name, first[0])
}
