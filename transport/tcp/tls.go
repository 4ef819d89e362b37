package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

func init() { transport.Register("tls", encrypted{}) }

// encrypted is tls://.
type encrypted struct{}

func (encrypted) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	server, err := transports.ServerTLS(config.TLS)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w", at.Redacted(), err)
	}
	l, err := listen(ctx, at, config)
	if err != nil {
		return nil, err
	}
	return &tlsListener{l, server}, nil
}

// Dial ends with the handshake, so the server's certificate has been checked. Whether the server takes ours shows at the
// first read: in TLS 1.3 the client speaks last (RFC 8446, section 2).
func (encrypted) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	host := to.Hostname()
	if host == "" {
		host = "127.0.0.1"
	}
	client, err := transports.ClientTLS(config.TLS, host)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w", to.Redacted(), err)
	}
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	raw, err := dial(ctx, to, config)
	if err != nil {
		return nil, err
	}
	conn := &tlsConn{tls.Client(raw, client)}
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
			err = ctx.Err() // which closed the socket under the handshake
		}
		return nil, fmt.Errorf("TLS handshake with %s (%s): %w", to.Redacted(), raw.RemoteAddr(), err)
	}
	return conn, nil
}

type tlsListener struct {
	*listener
	config *tls.Config
}

func (l *tlsListener) Accept() (net.Conn, error) {
	raw, err := l.listener.Accept()
	if err != nil {
		return nil, err
	}
	return &tlsConn{tls.Server(raw, l.config)}, nil
}

// tlsConn is a *tls.Conn whose CloseWrite may come first.
type tlsConn struct{ *tls.Conn }

// CloseWrite does the handshake first, without which there is no way to signal that nothing follows.
func (c *tlsConn) CloseWrite() error {
	if err := c.Handshake(); err != nil {
		return err
	}
	return c.Conn.CloseWrite()
}
