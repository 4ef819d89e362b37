package micro

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/gomicro"
	"github.com/sabir-go/sabir/internal/names"
)

// Config has the settings of [Bridge]. A mistake in them is an error of the node's start.
type Config struct {
	// Listen is the address where clients of go-micro reach the node, over its HTTP transport and its gRPC. An address without a host, ":8080", means this
	// machine only; one that other machines can reach needs Open. Port 0 takes a free one. Default: the node calls services of go-micro, and is
	// called by none.
	Listen string
	// Open states that whoever reaches the address of Listen may call what is exposed: go-micro's clients prove nothing. Restrict who reaches it by
	// the network.
	Open bool
	// Advertise is the address that the registry names to clients of go-micro, such as "10.0.0.7:8080", where it is not the one that the node
	// listens on. Default: that of Listen; if it has no certain host, as "0.0.0.0:8080" has not, the machine's address towards its network.
	Advertise string
	// Expose names the actions that clients of go-micro may call, by patterns of names as sabir.On has them: "orders.*", "**". Only public
	// actions of this node are exposed. The event handlers of a service get the events that go-micro publishes where an action
	// of it is exposed, or the pattern would take one: "audit.*" exposes the handlers of the service audit. Default: nothing is exposed.
	Expose []string
	// Endpoints exposes actions under other names than their own. Default: the action "orders.get" is the endpoint Orders.Get of the service
	// orders, if it is exposed.
	Endpoints []Endpoint
	// MDNS finds services of go-micro by multicast DNS, its default registry, and announces there what is exposed. All that is found becomes
	// callable. Whoever is in the same network can announce services: names that your own nodes offer stay theirs.
	MDNS bool
	// Registries are registries of go-micro that are used as MDNS is: &micro.Etcd{…}, &micro.Consul{…} or &nats.Registry{…} of the package
	// nats below this one. Default: none.
	Registries []Registry
	// Broker exchanges events with go-micro through a broker: &nats.Broker{…} of the package nats below this one. Default: go-micro's HTTP
	// broker, which needs a registry, and Listen for events from go-micro.
	Broker gomicro.Broker
	// Publish names the events of this node that go-micro's subscribers get, by patterns as sabir.On has them. The name of an event is its topic there.
	// Whoever can reach the broker or the registry can subscribe. Default: none.
	Publish []string
	// Version is the version of this node's services in the registry, for go-micro's clients that select by it. Default: "latest", as go-micro's.
	Version string
	// Labels are added to the metadata that the registry has of this node, for go-micro's clients that select by it: up to 256 bytes each, and none
	// called "server" or "protocol". Default: what go-micro's own servers say.
	Labels map[string]string
	// Services says of services of go-micro which nodes calls go to. Default: to all that the registries have.
	Services map[string]Service
	// Codec is the codec of calls to services of go-micro: those of packages codec/json and codec/protobuf, or [Bytes]. A handler of go-micro
	// takes Protocol Buffers only where its types are generated messages, JSON always. Calls from go-micro may have any of the three. Default:
	// JSON.
	Codec codec.Codec
}

// Registry is one of go-micro's registries: see [Config].
type Registry = gomicro.Registry

// Endpoint exposes an action, such as "greeter.hello", as the endpoint of a Name, such as "Say.Hello", of a Service of go-micro, such as
// "go.micro.srv.greeter".
type Endpoint struct{ Service, Name, Action string }

// Service says which nodes of a service of go-micro calls go to.
type Service struct {
	// Addresses name the nodes of a service that is in no registry, such as "10.0.0.7:8080". One with "grpc://" before it is that of a server of go-micro's gRPC. Default: the
	// service is found by the registries.
	Addresses []string
	// Endpoints are those of a service with Addresses, as its handlers have them: "Greeter.Hello" is the action "greeter.hello" here.
	Endpoints []string
	// Version and Labels choose among the nodes that registries have: those with the version, and with all the labels in their metadata.
	// Default: any.
	Version string
	Labels  map[string]string
}

// maxLabel bounds a label in bytes: mDNS has all of them in one packet.
const maxLabel = 256

// format returns how calls to services of go-micro are written, by Codec.
func (c *Config) format() (format, error) {
	if c.Codec == nil {
		return formats[0], nil
	}
	for _, f := range formats {
		if f.codec.Name() == c.Codec.Name() {
			return f, nil
		}
	}
	return format{}, fmt.Errorf("Codec: go-micro has no codec %s: take json, protobuf or micro.Bytes", c.Codec.Name())
}

// check returns what cannot work.
func (c *Config) check() error {
	var all []error
	problem := func(field string, errs ...error) {
		for _, err := range errs {
			if err != nil {
				all = append(all, fmt.Errorf("%s: %w", field, err))
			}
		}
	}
	for _, p := range c.Expose {
		problem("Expose", names.CheckPattern(p))
	}
	for _, p := range c.Publish {
		problem("Publish", names.CheckPattern(p))
	}
	for _, e := range c.Endpoints {
		problem("Endpoints", names.Check(e.Service), names.Check(e.Action), checkEndpoint(e.Service, e.Name))
	}
	for _, key := range slices.Sorted(maps.Keys(c.Labels)) {
		if key == "" || key == "server" || key == "protocol" || len(key)+len(c.Labels[key]) > maxLabel {
			problem("Labels", fmt.Errorf("the label %.100q is one of the bridge's own, or is larger than %d bytes", key, maxLabel))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Services)) {
		s := c.Services[name]
		problem("Services", names.Check(name))
		for _, a := range s.Addresses {
			_, _, err := net.SplitHostPort(strings.TrimPrefix(a, grpcScheme))
			problem("Services", err)
		}
		if len(s.Endpoints) > 0 && len(s.Addresses) == 0 {
			problem("Services", fmt.Errorf("%s has endpoints and no addresses: a service that registries find has those that they say", name))
		}
		for _, e := range s.Endpoints {
			problem("Services", checkEndpoint(name, e))
		}
	}
	if slices.Contains(c.Registries, nil) {
		problem("Registries", errors.New("one is nil"))
	}
	if len(c.Publish) > 0 && c.Broker == nil && !c.MDNS && len(c.Registries) == 0 {
		problem("Publish", errors.New("subscribers are not known: give the bridge a registry, or a Broker"))
	}
	if c.Listen == "" && (len(c.Expose) > 0 && c.Broker == nil || len(c.Endpoints) > 0) {
		problem("Listen", errors.New("actions are exposed, and nobody can reach them: give the bridge an address"))
	}
	_, err := c.format()
	if all = append(all, err); errors.Join(all...) != nil {
		return fmt.Errorf("micro.Config: %w", errors.Join(all...))
	}
	return nil
}

func checkEndpoint(service, name string) error {
	if _, ok := actionOf(service, name); !ok {
		return fmt.Errorf("the endpoint %q has not the form Type.Method", name)
	}
	return nil
}

// Bridge makes the node a service of go-micro too, and services of go-micro callable.
func Bridge(c Config) sabir.NodeOption {
	b := newBridge(c)
	return sabir.Options(sabir.WithExtension(b), sabir.WithGateway(func(*sabir.Node) (gateway.Gateway, error) { return served{b}, nil }))
}

// served is the bridge as a gateway: it lets calls in when the node's services run, and no more before they stop.
type served struct{ *bridge }

func (s served) Start(context.Context) error { return s.open() }

func (s served) Stop(ctx context.Context) error { return s.close(ctx) }
