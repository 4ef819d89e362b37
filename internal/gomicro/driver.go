package gomicro

import (
	"context"
	"log/slog"
)

// Session is a bridge as a driver of a registry sees it.
type Session struct {
	Log  *slog.Logger
	Node string // its id
	// Offered returns the services of the node, each with one node of go-micro. The channel is closed when they have changed.
	Offered func() (services []Service, changed <-chan struct{})
	// Found takes all that the registry has, in place of what it had before.
	Found func(services []Service)
	// Dropped notes what was refused, and from where.
	Dropped func(what, from string, err error)
}

// Registry is one of go-micro's registries. It must not change once the node has started.
type Registry interface {
	// Name is go-micro's name of it: "etcd".
	Name() string
	// Run keeps the services of the session entered, and says what others are there, until ctx ends. Then it takes the entries out.
	Run(ctx context.Context, s *Session)
}

// Broker is one of go-micro's brokers.
type Broker interface {
	// Name is go-micro's name of it: "nats".
	Name() string
	// Connect joins the broker as the node with an id.
	Connect(ctx context.Context, node string) (BrokerConn, error)
}

// BrokerConn is a connection to a broker. It connects again by itself and renews its subscriptions. Its methods may be called by several
// goroutines.
type BrokerConn interface {
	// Publish hands a message to the broker. It is an error where there is no connection.
	Publish(topic string, message []byte) error
	// Subscribe has deliver called with each message of a topic: one of all that subscribe with the same queue gets it, each where queue is
	// "". In the topic a word may be "*", and the last ">", which stands for one word or more. deliver must not block.
	Subscribe(ctx context.Context, topic, queue string, deliver func(topic string, message []byte)) (stop func(), err error)
	Close() error
}
