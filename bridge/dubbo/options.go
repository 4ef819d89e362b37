package dubbo

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/url"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
)

// Option is an option of [Bridge].
type Option func(*config)

type config struct {
	serve      []endpoint
	references []endpoint
	discover   []*Mapping
	registries []registryOf
	open       bool
	heartbeat  time.Duration
	qos        string      // address; "" for none
	tls        *tls.Config // of connections to providers; nil for none
	serverTLS  *tls.Config
	pages      *pages // nil for none
	problems   []error

	application, advertise, tag string
	parameters                  url.Values
}

// endpoint is an address with the interfaces that are called there.
type endpoint struct {
	address    string
	interfaces []*Mapping
}

// Serve listens at an address such as "dubbo://:20880" or "tri://:50051" for calls of the interfaces. Where both protocols have one address, its
// port speaks both. Nothing else can be called: the table of interfaces says
// which services Dubbo's consumers reach, and only public actions of this node are reached. No host is this machine only; another
// address needs [Open], or [TLS] with certificates of consumers.
func Serve(address string, interfaces ...*Mapping) Option {
	return func(c *config) { c.serve = append(c.serve, c.endpoint("dubbo.Serve", address, interfaces)) }
}

// Reference makes the interfaces of a Dubbo provider at an address such as "dubbo://10.0.0.9:20880" or "tri://10.0.0.9:50051" callable by the names of
// their services. Several references to one address are one provider with the interfaces of all. The provider may come later: until it is there, and
// after it has gone, calls are sabir.ErrServiceUnavailable, and a connection is tried again and again.
func Reference(address string, interfaces ...*Mapping) Option {
	return func(c *config) {
		c.references = append(c.references, c.endpoint("dubbo.Reference", address, interfaces))
		c.needMethods("dubbo.Reference(\""+address+"\")", interfaces)
	}
}

// needMethods notes interfaces that are called and have no methods.
func (c *config) needMethods(option string, interfaces []*Mapping) {
	for _, m := range interfaces {
		if len(m.methods) == 0 {
			c.problems = append(c.problems, fmt.Errorf("%s: name the methods of %s that are called, by dubbo.Method", option, m.name))
		}
	}
}

func (c *config) endpoint(option, address string, interfaces []*Mapping) endpoint {
	if address != "" {
		option = fmt.Sprintf("%s(%q)", option, address)
	}
	for _, m := range interfaces {
		for _, problem := range m.problems {
			c.problems = append(c.problems, fmt.Errorf("%s: %w", option, problem))
		}
	}
	if len(interfaces) == 0 {
		c.problems = append(c.problems, fmt.Errorf("%s: name at least one dubbo.Interface", option))
	}
	return endpoint{address, interfaces}
}

// Open states that whoever reaches the addresses of [Serve] may call: Dubbo's consumers prove nothing. Restrict who reaches them by the network.
func Open() Option { return func(c *config) { c.open = true } }

// Heartbeat sets after how much silence of a connection a heartbeat is sent; after three times as much the connection is closed. Default: 60 s, as
// Dubbo's.
func Heartbeat(interval time.Duration) Option {
	return func(c *config) {
		if interval <= 0 {
			c.problems = append(c.problems, fmt.Errorf("dubbo.Heartbeat(%v): want more than 0", interval))
		}
		c.heartbeat = interval
	}
}

// QoS listens at an address such as ":22222" for Dubbo's commands to operators: ls, online, offline, help and quit, by telnet or by HTTP (GET /ls).
// Without a host that is this machine only; another address needs [Open]. Default: none.
func QoS(address string) Option { return func(c *config) { c.qos = address } }

// Bridge makes the node a provider and a consumer of Dubbo.
func Bridge(options ...Option) sabir.NodeOption {
	c := config{heartbeat: time.Minute}
	for _, o := range options {
		o(&c)
	}
	b := newBridge(c)
	return sabir.Options(sabir.WithExtension(b), sabir.WithGateway(func(*sabir.Node) (gateway.Gateway, error) { return asGateway{b}, nil }))
}

// asGateway is the bridge as a gateway: it lets calls in when the node's services run, and no more before they stop.
type asGateway struct{ *bridge }

func (g asGateway) Start(ctx context.Context) error { return g.listen(ctx) }

func (g asGateway) Stop(ctx context.Context) error { return g.withdraw(ctx) }
