package micro

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/names"
)

// Option is an option of [Bridge].
type Option func(*config)

type config struct {
	listen     string
	advertise  string
	expose     []string
	endpoints  []endpoint
	statics    []static
	mdns       bool
	registries []Registry
	broker     Broker
	publish    []string
	version    string
	labels     map[string]string
	selected   []selected
	format     format
	insecure   bool // see Open
	problems   []error
}

// endpoint is an action under a name of go-micro that was given to it.
type endpoint struct{ service, name, action string }

// static is a service of go-micro whose addresses are known.
type static struct {
	service   string
	addresses []string
	endpoints []string
}

// selected says which nodes of a service calls go to.
type selected struct {
	service, version string
	labels           map[string]string
}

// Listen is the address where clients of go-micro reach the node, over its HTTP transport and its gRPC. An address without a host, ":8080", means this
// machine only; one that other machines can reach needs [Open]. Port 0 takes a free one. Default: the node calls services of go-micro, and is
// called by none.
func Listen(address string) Option { return func(c *config) { c.listen = address } }

// Open states that whoever reaches the address of [Listen] may call what is exposed: go-micro's clients prove nothing. Restrict who reaches it by
// the network.
func Open() Option { return func(c *config) { c.insecure = true } }

// Advertise is the address that the registry names to clients of go-micro, such as "10.0.0.7:8080", where it is not the one that the node
// listens on. Default: that of Listen; if it has no certain host, as "0.0.0.0:8080" has not, the machine's address towards its network.
func Advertise(address string) Option { return func(c *config) { c.advertise = address } }

// Expose names the actions that clients of go-micro may call, by patterns of names as sabir.On has them: "orders.*", "**". Only public
// actions of this node are exposed. The event handlers of a service get the events that go-micro publishes where an action
// of it is exposed, or the pattern would take one: "audit.*" exposes the handlers of the service audit. Default: nothing is exposed.
func Expose(patterns ...string) Option {
	return func(c *config) {
		for _, p := range patterns {
			c.problem("micro.Expose", names.CheckPattern(p))
		}
		c.expose = append(c.expose, patterns...)
	}
}

// Endpoint exposes an action under another name than its own: as an endpoint, such as "Say.Hello", of a service of go-micro, such as
// "go.micro.srv.greeter". Default: the action "orders.get" is the endpoint Orders.Get of the service orders, if it is exposed.
func Endpoint(service, name, action string) Option {
	return func(c *config) {
		c.problem("micro.Endpoint", names.Check(service), names.Check(action))
		if _, ok := actionOf(service, name); !ok {
			c.problem("micro.Endpoint", fmt.Errorf("the endpoint %q has not the form Type.Method", name))
		}
		c.endpoints = append(c.endpoints, endpoint{service, name, action})
	}
}

// MDNS finds services of go-micro by multicast DNS, its default registry, and announces there what is exposed. All that is found becomes
// callable. Whoever is in the same network can announce services: names that your own nodes offer stay theirs. Default: no registry.
func MDNS() Option { return func(c *config) { c.mdns = true } }

// WithRegistry uses one of go-micro's registries, as [MDNS] does: &etcd.Registry{…}, &consul.Registry{…} or &nats.Registry{…} of the packages
// below this one. It may be given several times. Default: none.
func WithRegistry(r Registry) Option {
	return func(c *config) {
		if r == nil {
			c.problem("micro.WithRegistry", errors.New("there is no registry in it"))
			return
		}
		c.registries = append(c.registries, r)
	}
}

// WithBroker exchanges events with go-micro through a broker: &nats.Broker{…} of the package nats below this one. Default: go-micro's HTTP
// broker, which needs a registry, and [Listen] for events from go-micro.
func WithBroker(b Broker) Option {
	return func(c *config) {
		if b == nil || c.broker != nil {
			c.problem("micro.WithBroker", errors.New("a bridge has one broker"))
			return
		}
		c.broker = b
	}
}

// Publish names the events of this node that go-micro's subscribers get, by patterns as sabir.On has them. The name of an event is its topic there.
// Whoever can reach the broker or the registry can subscribe. Default: none.
func Publish(patterns ...string) Option {
	return func(c *config) {
		for _, p := range patterns {
			c.problem("micro.Publish", names.CheckPattern(p))
		}
		c.publish = append(c.publish, patterns...)
	}
}

// Version is the version of this node's services in the registry, for go-micro's clients that select by it. Default: "latest", as go-micro's.
func Version(version string) Option { return func(c *config) { c.version = version } }

// Label adds to the metadata that the registry has of this node, for go-micro's clients that select by it. Default: what go-micro's own servers say.
func Label(key, value string) Option {
	return func(c *config) {
		if key == "" || key == "server" || key == "protocol" || len(key)+len(value) > maxLabel {
			c.problem("micro.Label", fmt.Errorf("the label %.100q is one of the bridge's own, or is larger than %d bytes", key, maxLabel))
		}
		c.labels = with(c.labels, key, value)
	}
}

// maxLabel bounds a label in bytes: mDNS has all of them in one packet.
const maxLabel = 256

// Select has calls of a service of go-micro go to those nodes only that have the version, "" for any, and all the labels in their metadata.
// Default: to all nodes.
func Select(service, version string, labels map[string]string) Option {
	return func(c *config) {
		c.problem("micro.Select", names.Check(service))
		c.selected = append(c.selected, selected{service, version, maps.Clone(labels)})
	}
}

// Static makes a service of go-micro callable that is at these addresses, without a registry. Its endpoints have to be named, as the
// handlers have them: "Greeter.Hello" is the action "greeter.hello" here. An address with "grpc://" before it is that of a server of
// go-micro's gRPC. It may be given once for each service. Default: none.
func Static(service string, addresses []string, endpoints ...string) Option {
	return func(c *config) {
		c.problem("micro.Static", names.Check(service))
		for _, a := range addresses {
			if _, _, err := net.SplitHostPort(strings.TrimPrefix(a, grpcScheme)); err != nil {
				c.problem("micro.Static", err)
			}
		}
		for _, e := range endpoints {
			if _, ok := actionOf(service, e); !ok {
				c.problem("micro.Static", fmt.Errorf("the endpoint %q has not the form Type.Method", e))
			}
		}
		c.statics = append(c.statics, static{service, addresses, endpoints})
	}
}

// Format is the codec of calls to services of go-micro: those of packages codec/json and codec/protobuf, or [Bytes]. A handler of go-micro
// takes Protocol Buffers only where its types are generated messages, JSON always. Calls from go-micro may have any of the three. Default:
// JSON.
func Format(c codec.Codec) Option {
	return func(to *config) {
		for _, f := range formats {
			if f.codec.Name() == c.Name() {
				to.format = f
				return
			}
		}
		to.problem("micro.Format", fmt.Errorf("go-micro has no codec %s: take json, protobuf or micro.Bytes", c.Name()))
	}
}

func (c *config) problem(where string, errs ...error) {
	for _, err := range errs {
		if err != nil {
			c.problems = append(c.problems, fmt.Errorf("%s: %w", where, err))
		}
	}
}

// Bridge makes the node a service of go-micro too, and services of go-micro callable.
func Bridge(options ...Option) sabir.NodeOption {
	c := config{format: formats[0], version: "latest"}
	for _, o := range options {
		o(&c)
	}
	b := newBridge(c)
	return sabir.Options(sabir.WithExtension(b), sabir.WithGateway(func(*sabir.Node) (gateway.Gateway, error) { return served{b}, nil }))
}

// served is the bridge as a gateway: it lets calls in when the node's services run, and no more before they stop.
type served struct{ *bridge }

func (s served) Start(context.Context) error { return s.open() }

func (s served) Stop(ctx context.Context) error { return s.close(ctx) }
