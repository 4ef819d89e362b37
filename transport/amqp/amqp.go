package amqp

import (
	"context"
	"net/url"

	"github.com/sabir-go/sabir/internal/amqp"
	"github.com/sabir-go/sabir/transport"
)

func init() {
	transport.RegisterBus("amqp", bus{})
	transport.RegisterBus("amqps", bus{})
}

// bus is amqp:// and amqps://.
type bus struct{}

func (bus) Connect(ctx context.Context, at *url.URL, config transport.Config, events transport.BusEvents) (transport.Broker, error) {
	address, err := amqp.Parse(at, config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	if err := transport.CheckBroker(ctx, at, config); err != nil {
		return nil, err
	}
	return connect(ctx, address, config, events)
}
