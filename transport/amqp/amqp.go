package amqp

import (
	"context"
	"net/url"
	"strings"

	"github.com/sabir-go/sabir/transport"
)

func init() {
	transport.RegisterBus("amqp", bus{plain})
	transport.RegisterBus("amqps", bus{secure})
}

var (
	plain  = transport.BrokerForm{Port: "5672", Path: "/vhost"}
	secure = transport.BrokerForm{Port: "5671", Path: "/vhost", Secure: true}
)

// bus is amqp:// and amqps://.
type bus struct{ form transport.BrokerForm }

func (d bus) Connect(ctx context.Context, at *url.URL, config transport.Config, events transport.BusEvents) (transport.Broker, error) {
	s, err := d.site(at, config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	if err := transport.CheckBroker(ctx, at, config); err != nil {
		return nil, err
	}
	return connect(ctx, s, events)
}

// site is a broker and how to reach it.
type site struct {
	transport.BrokerAddr
	user, password, vhost string
	config                transport.Config
}

func (d bus) site(at *url.URL, config transport.Config) (*site, error) {
	addr, err := d.form.Parse(at, config)
	if err != nil {
		return nil, err
	}
	s := &site{BrokerAddr: addr, user: "guest", password: "guest", vhost: "/", config: config}
	if at.User != nil {
		s.user = at.User.Username()
		s.password, _ = at.User.Password()
	}
	if vhost := strings.TrimPrefix(at.Path, "/"); vhost != "" {
		s.vhost = vhost
	}
	return s, nil
}
