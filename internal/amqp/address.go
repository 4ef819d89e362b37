// Package amqp reads addresses of RabbitMQ and dials them. Links and channels, below broker/amqp, both use it, so
// that one address is right or wrong for both:
//
//	address, err := amqp.Parse(at, config)
//	...
//	conn, err := address.Dial(ctx, amqp091.Config{Heartbeat: 10 * time.Second})
package amqp

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/sabir-go/sabir/internal/address"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

var forms = map[bool]transports.BrokerForm{
	false: {Port: "5672", Path: "/vhost"},
	true:  {Port: "5671", Path: "/vhost", Secure: true},
}

// Address is a RabbitMQ server and how to get in.
type Address struct {
	transports.BrokerAddr
	User, Password, VirtualHost string
	Prefix                      string // of the names of exchanges and queues that are kept

	config transport.Config
}

// Parse reads amqp://user:password@host:port/vhost?prefix=p, or amqps:// for TLS. Without a user it is guest with the password
// guest, as RabbitMQ has it for clients on its own machine; without a path the virtual host is "/". A part that means
// nothing is an error, and so is an address without TLS together with a TLS configuration. No error shows the password.
func Parse(at *url.URL, config transport.Config) (*Address, error) {
	parameters := address.Read(at)
	a := &Address{User: "guest", Password: "guest", VirtualHost: "/", Prefix: parameters.Prefix(address.WithDots), config: config}
	if err := parameters.Err(); err != nil {
		return nil, fmt.Errorf("the address %q %w", at.Redacted(), err)
	}
	bare := *at
	bare.RawQuery, bare.ForceQuery = "", false
	var err error
	if a.BrokerAddr, err = forms[at.Scheme == "amqps"].Parse(&bare, config); err != nil {
		return nil, err
	}
	if at.User != nil {
		a.User = at.User.Username()
		a.Password, _ = at.User.Password()
	}
	if name := strings.TrimPrefix(at.Path, "/"); name != "" {
		a.VirtualHost = name
	}
	return a, nil
}
