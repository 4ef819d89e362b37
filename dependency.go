package sabir

import (
	"reflect"

	"github.com/sabir-go/sabir/internal/option"
)

// Dependency is something that a service uses of another one: a [Contract] or a [StreamContract], or a service by its [ServiceName].
type Dependency interface{ dependency() dependency }

// ServiceName is the full name of a service, as a [Dependency]: "users", or "v2.users".
type ServiceName string

func (s ServiceName) dependency() dependency { return dependency{service: string(s)} }

// dependency names an action of another service, with the types that the caller has, or the service as a whole.
type dependency struct {
	service string
	action  string       // full name; "" for the service as a whole
	in, out reflect.Type // of the action, as the service has them
	stream  bool
}

func (c *Contract[In, Out]) dependency() dependency {
	return c.untyped().dependency(reflect.TypeFor[In](), reflect.TypeFor[Out](), false)
}

func (c *StreamContract[In, Out]) dependency() dependency {
	return c.untyped().dependency(reflect.TypeFor[In](), reflect.TypeFor[Out](), true)
}

func (c *contract) dependency(in, out reflect.Type, stream bool) dependency {
	if c == nil {
		return dependency{}
	}
	return dependency{serviceOf(c.name), c.name, in, out, stream}
}

// DependsOn says what this service uses of others:
//
//	orders := sabir.NewService("orders", sabir.DependsOn(users.Get, stock.Reserve, sabir.ServiceName("mail")))
//
// It starts after their services and stops before them. Where other nodes offer them, it starts when they are there; meanwhile the
// rest of the node has started and its gateways listen, see [Node.Ready] and [Limits]. Services that depend on each other in a
// circle do not start, which is an error, also over several nodes. A node with an Upstream (see WithUpstream) takes those it does not have to
// be there.
//
// Contracts are also compared with what each node offers under their names, now and whenever a node comes: an action that its service
// does not have, or types of which no value can be read as the other's, are a warning in the log, and an error of the start with
// [StrictDependencies]. [Node.Dependencies] and the command sabir check list them.
func DependsOn(on ...Dependency) ServiceOption {
	where := option.Caller()
	return serviceOption(func(s *Service) {
		for _, one := range on {
			var d dependency
			if one != nil {
				d = one.dependency()
			}
			if d.service == "" {
				s.problem(where, "service %s depends on something without a name: a contract that was not made by sabir.NewAction or sabir.NewStream, or an empty ServiceName", s.name)
				continue
			}
			s.needs = append(s.needs, d.service)
			if d.action != "" {
				s.contracts = append(s.contracts, d)
			}
		}
	})
}

// StrictDependencies makes it an error of the start when a service depends on an action that its service does not have, or with other
// types, see [DependsOn], instead of a warning in the log. Nodes that come later are only warned of.
func StrictDependencies() NodeOption {
	return nodeOptionOnce("StrictDependencies", option.Caller(), func(n *Node) { n.dependencies.strict = true })
}
