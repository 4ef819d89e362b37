package dubbo

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web/filter"
)

// Config has the settings of [Bridge]. A mistake in them is an error of the node's start.
type Config struct {
	// Serve has addresses such as "dubbo://:20880" or "tri://:50051", where the bridge listens for calls of the interfaces. Where both protocols have one
	// address, its port speaks both. Nothing else can be called: the table of interfaces says which services Dubbo's consumers reach, and only public
	// actions of this node are reached. No host is this machine only; another address needs Open, or TLS with certificates of consumers.
	Serve map[string][]Interface
	// References makes the interfaces of Dubbo providers at addresses such as "dubbo://10.0.0.9:20880" or "tri://10.0.0.9:50051" callable by the names of
	// their services. A provider may come later: until it is there, and after it has gone, calls are sabir.ErrServiceUnavailable, and a connection is
	// tried again and again.
	References map[string][]Interface
	// Registries get the interfaces of Serve under Application, by themselves and as an instance of the application, and
	// those of Discover are found in them. Default: none.
	Registries []Registry
	// Discover makes interfaces callable by the names of their services, at all providers that Registries name, by dubbo:// and by tri://;
	// interfaces with streams or Protobuf by tri:// only. Providers come and go: a call while there is none is sabir.ErrServiceUnavailable or
	// sabir.ErrActionNotFound. An address among References is not looked up.
	Discover []Interface
	// Application is the name of the application that this node is an instance of, which consumers see, and providers in the attachment
	// remote.application. Default: the id of the node. What is registered needs a name.
	Application string
	// Advertise is the host, or host:port, that registries name to consumers, where it is not the one that the bridge listens on. Default: that; where it
	// listens on all addresses, the machine's first one in a network.
	Advertise string
	// Parameters are added to what is registered of the interfaces of Serve, for consumers: "weight", "warmup", "timeout", "dubbo.tag" and
	// others of Dubbo's. Default: none but those that Dubbo needs.
	Parameters map[string]string
	// Tag is the tag of this node's calls: of providers that a registry names, those with the tag get them, and those without one where none has it.
	// Default: none, so that providers with a tag get no calls, as Dubbo has it.
	Tag string
	// Open states that whoever reaches the addresses of Serve may call: Dubbo's consumers prove nothing. Restrict who reaches them by the network.
	Open bool
	// TLS encrypts all connections of the bridge, in both protocols: those of Serve, for which it needs a certificate, and those to providers, which must
	// speak TLS too. If ClientAuth is tls.RequireAndVerifyClientCert, consumers prove who they are, and Serve needs no Open. Java's side is an SslConfig,
	// with ssl-enabled=true as a parameter of the provider; registries get that from here. QoS is not encrypted.
	TLS *tls.Config
	// Heartbeat is after how much silence of a connection a heartbeat is sent; after three times as much the connection is closed. Default: 60 s, as
	// Dubbo's.
	Heartbeat time.Duration
	// QoS is an address such as ":22222" for Dubbo's commands to operators: ls, online, offline, help and quit, by telnet or by HTTP (GET /ls).
	// Without a host that is this machine only; another address needs Open. Default: none.
	QoS string
	// CORS lets pages of other sites call at the addresses of Serve that begin with tri://, as the policy has it. The headers that Dubbo's client for
	// web pages and gRPC-Web send need not be named in it; attachments do, of calls in Headers and of answers in Expose. Default: no page of another site.
	CORS *filter.CORS
}

// config is a Config as the bridge works with it.
type config struct {
	Config
	serve      []endpoint
	references []endpoint
	discover   []*mapping
	heartbeat  time.Duration
	serverTLS  *tls.Config
	pages      *pages // nil for none
}

// endpoint is an address with the interfaces that are called there.
type endpoint struct {
	address    string
	interfaces []*mapping
}

// newConfig reads the settings, and returns what cannot work.
func newConfig(from Config) (config, error) {
	c := config{Config: from, heartbeat: from.Heartbeat}
	var problems []error
	problem := func(format string, arguments ...any) { problems = append(problems, fmt.Errorf(format, arguments...)) }
	tables := func(field string, interfaces []Interface) (list []*mapping) {
		for i := range interfaces {
			m, err := newMapping(&interfaces[i])
			if err != nil {
				problem("%s: %w", field, err)
			}
			if len(m.methods) == 0 && !strings.HasPrefix(field, "Serve") {
				problem("%s: name the Methods of %s that are called", field, m.name)
			}
			list = append(list, m)
		}
		return list
	}
	endpoints := func(field string, addresses map[string][]Interface) (list []endpoint) {
		for _, address := range slices.Sorted(maps.Keys(addresses)) {
			at := fmt.Sprintf("%s %q", field, address)
			if len(addresses[address]) == 0 {
				problem("%s: name at least one interface", at)
			}
			list = append(list, endpoint{address, tables(at, addresses[address])})
		}
		return list
	}
	c.serve, c.references, c.discover = endpoints("Serve", from.Serve), merged(endpoints("References", from.References)), tables("Discover", from.Discover)
	if c.heartbeat == 0 {
		c.heartbeat = time.Minute
	} else if c.heartbeat < 0 {
		problem("Heartbeat: %v: want more than 0", from.Heartbeat)
	}
	if strings.ContainsAny(from.Application, "/, ") {
		problem("Application: %q: want a name without slashes, commas and spaces", from.Application)
	}
	for name := range from.Parameters {
		if reservedParameters[name] || name == "" {
			problem("Parameters: the bridge itself sets %q", name)
		}
	}
	if from.TLS != nil {
		c.TLS, c.serverTLS = from.TLS.Clone(), withProtocols(from.TLS)
	}
	if from.CORS != nil {
		if c.pages = newPages(*from.CORS); c.pages.filter.Problem != nil {
			problem("CORS: %w", c.pages.filter.Problem)
		}
	}
	if err := errors.Join(append(problems, c.checkRegistries(), c.checkTLS(), checkActions("Discover", c.discover))...); err != nil {
		return c, fmt.Errorf("dubbo.Config: %w", err)
	}
	return c, nil
}

// merged makes references to one address one reference, such as those of "tri://10.0.0.9:1" and "tri://10.0.0.9:1/": a provider is known by its address,
// so of two with the same one the latter would hide what the other offers.
func merged(references []endpoint) (different []endpoint) {
	places := make(map[string]int)
	for _, r := range references {
		key := r.address
		if at, err := url.Parse(r.address); err == nil {
			key = at.Scheme + "://" + at.Host
		}
		place, known := places[key]
		if !known {
			places[key] = len(different)
			different = append(different, r)
			continue
		}
		different[place].interfaces = slices.Concat(different[place].interfaces, r.interfaces)
	}
	return different
}

// checkRegistries finds settings that do not go together.
func (c *config) checkRegistries() error {
	switch {
	case slices.Contains(c.Registries, nil):
		return errors.New("Registries: one is nil")
	case len(c.Registries) == 0 && len(c.discover) > 0:
		return errors.New("Discover needs Registries; or give the addresses as References")
	case len(c.Registries) > 0 && len(c.serve) > 0 && c.Application == "":
		return errors.New("Registries get what Serve has: name the Application")
	case len(c.Registries) > 0 && len(c.serve) == 0 && len(c.discover) == 0:
		return errors.New("Registries do nothing: add Serve or Discover")
	}
	return nil
}

// Bridge makes the node a provider and a consumer of Dubbo.
func Bridge(c Config) sabir.NodeOption {
	b := newBridge(c)
	return sabir.Options(sabir.WithExtension(b), sabir.WithGateway(func(*sabir.Node) (gateway.Gateway, error) { return asGateway{b}, nil }))
}

// asGateway is the bridge as a gateway: it lets calls in when the node's services run, and no more before they stop.
type asGateway struct{ *bridge }

func (g asGateway) Start(ctx context.Context) error { return g.listen(ctx) }

func (g asGateway) Stop(ctx context.Context) error { return g.withdraw(ctx) }
