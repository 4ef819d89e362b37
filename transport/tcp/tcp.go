package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	_ "github.com/sabir-go/sabir/internal/gossip" // by which the nodes of a cluster find each other
	"github.com/sabir-go/sabir/transport"
)

func init() { transport.Register("tcp", plain{}) }

// plain is tcp://.
type plain struct{}

func (plain) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	if err := config.CheckPlain(at, "tls"); err != nil {
		return nil, err
	}
	return listen(ctx, at, config)
}

func (plain) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	if err := config.CheckPlain(to, "tls"); err != nil {
		return nil, err
	}
	return dial(ctx, to, config)
}

// listener is a bound TCP socket.
type listener struct {
	*net.TCPListener
	addr   string
	config transport.Config
}

func listen(ctx context.Context, at *url.URL, config transport.Config) (*listener, error) {
	bind, err := config.ListenAddr(ctx, at)
	if err != nil {
		return nil, err
	}
	settings := net.ListenConfig{KeepAlive: noDefault, KeepAliveConfig: keepAlive(config)}
	settings.SetMultipathTCP(false) // a link has one path, and plain sockets are the cheaper ones
	// With "tcp", Go takes 0.0.0.0 for all IPv6 addresses too.
	network := "tcp"
	if bind.Addr().Is4() {
		network = "tcp4"
	}
	l, err := settings.Listen(ctx, network, bind.String())
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: something listens there already; take another port, or port 0 for a free one", err)
	}
	if err != nil {
		return nil, err
	}
	bound := l.Addr().(*net.TCPAddr).AddrPort()
	addr, err := config.AdvertisedAddr(at.Scheme, netip.AddrPortFrom(bound.Addr().Unmap(), bound.Port()))
	if err != nil {
		l.Close()
		return nil, err
	}
	return &listener{l.(*net.TCPListener), addr, config}, nil
}

func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	if err := size(conn, l.config); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func (l *listener) Addr() string { return l.addr }

func dial(ctx context.Context, to *url.URL, config transport.Config) (*net.TCPConn, error) {
	address, err := config.DialAddr(to)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: config.DialLimit(), KeepAlive: noDefault, KeepAliveConfig: keepAlive(config), Control: config.LimitSegments}
	dialer.SetMultipathTCP(false)
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.TCPConn) // with Nagle's algorithm off, which is Go's default
	if err := size(conn, config); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// noDefault keeps package net from asking at its own times where keepAlive is off.
const noDefault = -1

// keepAlive asks three times before a silent machine is abandoned.
func keepAlive(config transport.Config) net.KeepAliveConfig {
	idle := config.KeepAliveIdle()
	return net.KeepAliveConfig{Enable: idle > 0, Idle: idle, Interval: max(idle/3, time.Second), Count: 3}
}

// sized is a socket whose kernel buffers can be set.
type sized interface {
	SetReadBuffer(bytes int) error
	SetWriteBuffer(bytes int) error
}

func size(conn sized, config transport.Config) error {
	if config.ReadBuffer > 0 {
		if err := conn.SetReadBuffer(config.ReadBuffer); err != nil {
			return err
		}
	}
	if config.WriteBuffer > 0 {
		return conn.SetWriteBuffer(config.WriteBuffer)
	}
	return nil
}
