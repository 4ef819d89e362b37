package nats

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"sync"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// dialer dials for nats.go, which knows nothing of contexts and holds its locks meanwhile: cutting its connection off is
// what ends that. It keeps why dialling failed, which nats.go does not return.
type dialer struct {
	scheme string
	config transport.Config
	ctx    context.Context
	cancel context.CancelFunc

	mu   sync.Mutex
	host string   // that was dialled last
	conn net.Conn // the last one
	err  error    // of the last attempt
}

func newDialer(scheme string, config transport.Config) *dialer {
	d := &dialer{scheme: scheme, config: config}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Dial is called by nats.go. Servers may announce others, to which the rule of transport.Config.CheckBroker applies too.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := d.config.WithDialLimit(d.ctx)
	defer cancel()
	err := d.config.CheckBroker(ctx, &url.URL{Scheme: d.scheme, Host: address})
	if err != nil {
		return d.keep(nil, err)
	}
	idle := d.config.KeepAliveIdle()
	keep := net.KeepAliveConfig{Enable: idle > 0, Idle: idle, Interval: idle / 3, Count: 3}
	if host, _, err := net.SplitHostPort(address); err == nil {
		d.mu.Lock()
		d.host = host
		d.mu.Unlock()
	}
	conn, err := (&net.Dialer{KeepAliveConfig: keep, Control: d.config.LimitSegments}).DialContext(ctx, network, address)
	if err != nil {
		return d.keep(nil, err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		if size := d.config.ReadBuffer; size > 0 {
			tcp.SetReadBuffer(size)
		}
		if size := d.config.WriteBuffer; size > 0 {
			tcp.SetWriteBuffer(size)
		}
	}
	if _, err := d.keep(conn, nil); err != nil {
		return nil, err
	}
	return newBatchedConn(conn), nil
}

// keep remembers the outcome of an attempt.
func (d *dialer) keep(conn net.Conn, err error) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
	if err != nil {
		return nil, err
	}
	d.conn = conn
	if d.ctx.Err() != nil {
		conn.Close()
		return nil, d.ctx.Err()
	}
	return conn, nil
}

// clientTLS returns the TLS configuration for connections to any server; nats.go fills in the server's name.
func (d *dialer) clientTLS() (*tls.Config, error) {
	secure, err := transports.ClientTLS(d.config.TLS, "")
	if err != nil || d.config.TLS == nil || d.config.TLS.VerifyConnection == nil || secure.ServerName != "" {
		return secure, err
	}
	secure.VerifyConnection = func(state tls.ConnectionState) error {
		d.mu.Lock()
		state.ServerName = d.host // Go's TLS leaves out IP addresses
		d.mu.Unlock()
		return d.config.TLS.VerifyConnection(state)
	}
	return secure, nil
}

// cut ends the connection, and attempts to dial from now on.
func (d *dialer) cut() {
	d.cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil {
		d.conn.Close()
	}
}

// explain is the reason of a failure, where nats.go's is not.
func (d *dialer) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(err, natsgo.ErrNoServers) && d.err != nil {
		return d.err
	}
	return err
}

// embeddedDialer has nats.go connect to an embedded server.
type embeddedDialer struct {
	embedded *embedded
	dialer   *dialer
}

// InProcessConn is called by nats.go.
func (d embeddedDialer) InProcessConn() (net.Conn, error) {
	if d.dialer.ctx.Err() != nil {
		return nil, d.dialer.ctx.Err()
	}
	return d.dialer.keep(d.embedded.connect(d.dialer))
}
