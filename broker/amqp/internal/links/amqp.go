package links

import (
	"context"
	"net/url"
	"time"

	"github.com/sabir-go/sabir/internal/amqp"
	"github.com/sabir-go/sabir/transport"
)

func init() {
	transport.RegisterBus("amqp", bus{})
	transport.RegisterBus("amqps", bus{})
}

// bus is amqp:// and amqps://.
type bus struct{}

func (d bus) Connect(ctx context.Context, at *url.URL, config transport.Config, events transport.BusEvents) (transport.Broker, error) {
	return d.ConnectNamed(ctx, at, config, events, nil)
}

// ConnectNamed is Connect for the exchanges and queues of other programs, such as Moleculer's nodes. queueOf returns the queue of this side from
// which it takes the messages of a subject, and how long that outlives this side; 0 is not at all. A subject that is its own queue is written to
// as such; any other is an exchange that gives each of its queues a copy. Without queueOf they are those of Sabir's own nodes.
func (bus) ConnectNamed(ctx context.Context, at *url.URL, config transport.Config, events transport.BusEvents, queueOf func(subject string) (string, time.Duration)) (transport.Broker, error) {
	address, err := amqp.Parse(at, config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	if err := config.CheckBroker(ctx, at); err != nil {
		return nil, err
	}
	return connect(ctx, address, config, events, queueOf)
}
