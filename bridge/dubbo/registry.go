package dubbo

import (
	"context"
	"log/slog"
)

// Registry tells providers and consumers of Dubbo of each other. Packages bridge/dubbo/zookeeper and bridge/dubbo/nacos have those of ZooKeeper and
// Nacos; implement it for others.
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
	// Providers lists the URLs of the providers of an interface of a version and a group, each "" for none. Those of others may be among them.
	Providers(ctx context.Context, iface, version, group string) (urls []string, changed <-chan struct{}, err error)
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
