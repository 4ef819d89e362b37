// Package nats has go-micro's broker and go-micro's registry over NATS, for bridge/micro:
//
//	micro.Bridge(micro.Config{Broker: &nats.Broker{Address: "nats://10.0.0.9:4222"}, Expose: []string{"orders.*"}, Publish: []string{"orders.*"}})
//	micro.Bridge(micro.Config{Registries: []micro.Registry{&nats.Registry{Address: "nats://10.0.0.9:4222"}}, Listen: "10.0.0.7:8080", Expose: []string{"orders.*"}})
package nats

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir/internal/nats"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/transport"
)

// connection is a connection to NATS that is made again until it is closed.
type connection struct {
	*natsgo.Conn
	release func()
}

func connect(ctx context.Context, address, user string, password secret.Secret, secure *tls.Config, node string, options ...natsgo.Option) (*connection, error) {
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "nats" {
		return nil, errors.New("the Address is not of the form nats://host:port")
	}
	if at.User != nil {
		return nil, fmt.Errorf("the Address %s has a user in it: set the fields for it", at.Redacted())
	}
	switch {
	case user != "":
		at.User = url.UserPassword(user, string(password.Bytes()))
	case !password.None():
		at.User = url.User(string(password.Bytes()))
	}
	// Who may use the broker is the matter of the go-micro project, whose nodes prove nothing to each other: Keyed states that.
	servers, err := nats.Parse(at)
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(ctx, servers, transport.Config{Keyed: true, TLS: secure, Name: node}, options...)
	if err != nil {
		return nil, err
	}
	return &connection{conn.Conn, conn.Release}, nil
}

func (c *connection) Close() error {
	c.Conn.Close()
	c.release()
	return nil
}

// maxPending bounds what was received and not taken yet, for one subscription: messages, and bytes.
const (
	maxPending      = 8192
	maxPendingBytes = 16 << 20
)

// subscribe has take called with each message, one at a time.
func (c *connection) subscribe(subject, queue string, take func(*natsgo.Msg)) (*natsgo.Subscription, error) {
	s, err := c.QueueSubscribe(subject, queue, take)
	if err == nil {
		err = s.SetPendingLimits(maxPending, maxPendingBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("subscribing to %s: %w", subject, err)
	}
	return s, nil
}
