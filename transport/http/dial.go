package http

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/url"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

func (d driver) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	if err := d.check(to, config); err != nil {
		return nil, err
	}
	full := d.whole(to)
	if full.Hostname() == "" {
		full.Host = net.JoinHostPort("127.0.0.1", full.Port())
	}
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	raw, way, err := reach(ctx, full, config)
	if err != nil {
		return nil, fmt.Errorf("the address %q%s: %w", full, way, err)
	}
	stop := context.AfterFunc(ctx, func() { transports.Abort(raw) })
	defer stop()
	conn, err := d.open(ctx, raw, full, config)
	if err != nil {
		transports.Abort(raw)
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("the address %q%s: %w", full, way, err)
	}
	return conn, nil
}

// open makes the handshakes of TLS and of the WebSocket.
func (d driver) open(ctx context.Context, raw net.Conn, to *url.URL, config transport.Config) (net.Conn, error) {
	if d.encrypted {
		settings, err := transports.ClientTLS(config.TLS, to.Hostname())
		if err != nil {
			return nil, err
		}
		encrypted := tls.Client(raw, settings)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return nil, fmt.Errorf("TLS handshake: %w", err)
		}
		raw = encrypted
	}
	dialer := ws.Dialer{Protocols: []string{subprotocol}}
	ahead, agreed, err := dialer.Upgrade(bounded(raw), to)
	if status, ok := errors.AsType[ws.StatusError](err); ok {
		return nil, fmt.Errorf("the answer is %d %s: no Sabir node listens at that path, or a proxy answered in its place", int(status), nethttp.StatusText(int(status)))
	}
	if err != nil {
		return nil, fmt.Errorf("WebSocket handshake: %w", err)
	}
	if agreed.Protocol != subprotocol {
		return nil, fmt.Errorf("the WebSocket there is not one for links: it does not speak the protocol %q", subprotocol)
	}
	conn := newConn(raw, true, rest(ahead))
	if ahead != nil {
		ws.PutReader(ahead)
	}
	return conn, nil
}

// bounded lets no more be read than a handshake may hold.
func bounded(conn net.Conn) io.ReadWriter {
	return struct {
		io.Reader
		io.Writer
	}{io.LimitReader(conn, headerSize), conn}
}
