package nats

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir/internal/gomicro"
	"github.com/sabir-go/sabir/secret"
)

// Broker is go-micro's broker over NATS, for [github.com/sabir-go/sabir/bridge/micro.Config]. It must not change once the node has started.
type Broker struct {
	// Address is nats://host:port,host:port, as broker/nats has it. The node does not start where nothing listens there; later
	// it connects again for as long as it runs. It has no default.
	Address string
	// User and Password are those of a user of NATS; a Password without a User is a token. Default: none.
	User     string
	Password secret.Secret
	// TLS is for servers that want it. Default: none, unless the address says tls=true.
	TLS *tls.Config
}

// Name implements gomicro.Broker.
func (*Broker) Name() string { return "nats" }

// Connect implements gomicro.Broker.
func (b *Broker) Connect(ctx context.Context, node string) (gomicro.BrokerConn, error) {
	c, err := connect(ctx, b.Address, b.User, b.Password, b.TLS, node)
	if err != nil {
		return nil, err
	}
	return &broker{c}, nil
}

type broker struct{ *connection }

// flushLimit bounds the wait for the server's word that it has a subscription.
const flushLimit = 5 * time.Second

// Subscribe implements gomicro.BrokerConn.
func (b *broker) Subscribe(ctx context.Context, topic, queue string, deliver func(string, []byte)) (func(), error) {
	s, err := b.subscribe(topic, queue, func(m *natsgo.Msg) { deliver(m.Subject, m.Data) })
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, flushLimit)
	defer cancel()
	if err := b.FlushWithContext(limited); err != nil && b.IsConnected() {
		s.Unsubscribe()
		return nil, fmt.Errorf("subscribing to %s: %w", topic, err)
	}
	return func() {
		if s.Drain() == nil && b.IsConnected() {
			b.FlushTimeout(time.Second) // the server gives the next message to another
		}
	}, nil
}

// Publish implements gomicro.BrokerConn.
func (b *broker) Publish(topic string, message []byte) error { return b.Conn.Publish(topic, message) }
