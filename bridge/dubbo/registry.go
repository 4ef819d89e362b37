package dubbo

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

// Registry tells providers and consumers of Dubbo of each other. Package bridge/dubbo/zookeeper has that of ZooKeeper; implement it for others.
type Registry interface {
	// Run keeps a session with the registry until ctx ends, again and again where one was lost, and reports in the log what goes wrong. It calls
	// work for each session, with a context that ends with it; work returns when that has ended, or with the error for which it is called
	// again after a while. Before Run returns, what was entered in its last session is removed.
	Run(ctx context.Context, log *slog.Logger, work func(ctx context.Context, s RegistrySession) error)
}

// RegistrySession is a session with a registry. What is entered in it ends with it. Its methods are called by several goroutines at once.
//
// A list comes with a channel that is closed when another list may be had. Nothing there is an empty list.
type RegistrySession interface {
	// Provide enters a provider of an interface by its URL.
	Provide(ctx context.Context, iface, url string) error
	// ProvideInstance enters an instance of an application.
	ProvideInstance(ctx context.Context, instance Instance) error
	// MapInterface adds an application to those that provide the interface, where it stays.
	MapInterface(ctx context.Context, iface, application string) error
	// Providers lists the URLs of the providers of an interface.
	Providers(ctx context.Context, iface string) (urls []string, changed <-chan struct{}, err error)
	// Applications lists the applications that provide an interface.
	Applications(ctx context.Context, iface string) (names []string, changed <-chan struct{}, err error)
	// Instances lists the instances of an application. Those that cannot be read are left out.
	Instances(ctx context.Context, application string) (list []Instance, changed <-chan struct{}, err error)
	// PutMetadata enters the JSON of what a revision of an application provides, where it stays.
	PutMetadata(ctx context.Context, application, revision string, text []byte) error
	// Metadata is the JSON of what a revision of an application provides, if it is in the registry.
	Metadata(ctx context.Context, application, revision string) ([]byte, error)
}

// Instance is an instance of an application.
type Instance struct {
	Application string
	Host        string
	Port        int
	Metadata    map[string]string
}

// registryOf is a registry with its place in the options.
type registryOf struct {
	Registry
	number int
}

// At names a registry: the interfaces of [Serve] are registered there under the application of [Application], by themselves and as an instance of
// the application, and those of [Discover] are found there. It may be given several times. Default: none.
func At(r Registry) Option {
	return func(c *config) { c.registries = append(c.registries, registryOf{r, len(c.registries)}) }
}

// Application is the name of the application that this node is an instance of, which consumers see, and providers in the attachment
// remote.application. Default: the id of the node. What is registered needs a name.
func Application(name string) Option {
	return func(c *config) {
		if name == "" || strings.ContainsAny(name, "/, ") {
			c.problems = append(c.problems, fmt.Errorf("dubbo.Application(%q): want a name without slashes, commas and spaces", name))
		}
		c.application = name
	}
}

// Advertise is the host, or host:port, that registries name to consumers, where it is not the one that [Serve] listens on. Default: that; where it
// listens on all addresses, the machine's first one in a network.
func Advertise(address string) Option { return func(c *config) { c.advertise = address } }

// Parameter adds a parameter to what is registered of the interfaces of [Serve], for consumers: "weight", "warmup", "timeout", "dubbo.tag" and
// others of Dubbo's. Default: none but those that Dubbo needs.
func Parameter(name, value string) Option {
	return func(c *config) {
		if reservedParameters[name] || name == "" {
			c.problems = append(c.problems, fmt.Errorf("dubbo.Parameter(%q, %q): the bridge itself sets this parameter", name, value))
		}
		if c.parameters == nil {
			c.parameters = make(url.Values)
		}
		c.parameters.Set(name, value)
	}
}

// Tag is the tag of this node's calls: of providers that a registry names, those with the tag get them, and those without one where none has it.
// Default: none, so that providers with a tag get no calls, as Dubbo has it.
func Tag(tag string) Option { return func(c *config) { c.tag = tag } }

// Discover makes interfaces callable by the names of their services, at all providers that the registries of [At] name, by dubbo:// and by tri://;
// interfaces with streams or [Protobuf] by tri:// only. Providers come and go: a
// call while there is none is sabir.ErrServiceUnavailable or sabir.ErrActionNotFound. An address that a [Reference] names is not looked up.
func Discover(interfaces ...*Mapping) Option {
	return func(c *config) {
		c.discover = append(c.discover, c.endpoint("dubbo.Discover", "", interfaces).interfaces...)
		c.needMethods("dubbo.Discover", interfaces)
	}
}

// checkRegistries finds options that do not go together.
func (c *config) checkRegistries() error {
	switch {
	case len(c.registries) == 0 && len(c.discover) > 0:
		return fmt.Errorf("dubbo.Discover needs a registry: give one by dubbo.At, or the addresses by dubbo.Reference")
	case len(c.registries) > 0 && len(c.serve) > 0 && c.application == "":
		return fmt.Errorf("dubbo.At registers what dubbo.Serve serves: name the application by dubbo.Application")
	case len(c.registries) > 0 && len(c.serve) == 0 && len(c.discover) == 0:
		return fmt.Errorf("dubbo.At does nothing: add dubbo.Serve or dubbo.Discover")
	}
	return nil
}
