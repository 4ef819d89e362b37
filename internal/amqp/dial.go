package amqp

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// Connection is one connection to the server.
type Connection struct {
	*amqp091.Connection
	// Socket is the connection below TLS. Closing it ends everything at once, where Close waits for the server's answer and
	// TLS for its own.
	Socket io.Closer
}

// Dial connects within ctx and the dial timeout of the configuration, whichever is shorter. Of the settings, it fills in the
// user and the address.
func (a *Address) Dial(ctx context.Context, settings amqp091.Config) (*Connection, error) {
	ctx, cancel := a.config.WithDialLimit(ctx)
	defer cancel()
	conn, socket, err := a.dial(ctx)
	if err != nil {
		return nil, err
	}
	// The library's handshake knows no context: closing the socket ends it.
	stop := context.AfterFunc(ctx, func() { socket.Close() })
	settings.SASL = []amqp091.Authentication{&amqp091.PlainAuth{Username: a.User, Password: a.Password}}
	settings.Vhost, settings.Locale = a.VirtualHost, "en_US"
	c := &Connection{Socket: socket}
	c.Connection, err = amqp091.Open(conn, settings)
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		socket.Close()
		return nil, err
	}
	return c, nil
}

func (a *Address) dial(ctx context.Context) (conn net.Conn, socket *net.TCPConn, err error) {
	idle := a.config.KeepAliveIdle()
	dialer := net.Dialer{
		KeepAlive:       -1, // as set in KeepAliveConfig, and else never
		KeepAliveConfig: net.KeepAliveConfig{Enable: idle > 0, Idle: idle, Interval: max(idle/3, time.Second), Count: 3},
		Control:         a.config.LimitSegments,
	}
	conn, err = dialer.DialContext(ctx, "tcp", a.HostPort)
	if err != nil {
		return nil, nil, err
	}
	socket = conn.(*net.TCPConn)
	if a.config.ReadBuffer > 0 {
		err = socket.SetReadBuffer(a.config.ReadBuffer)
	}
	if a.config.WriteBuffer > 0 && err == nil {
		err = socket.SetWriteBuffer(a.config.WriteBuffer)
	}
	if err == nil && a.TLS != nil {
		encrypted := tls.Client(conn, a.TLS)
		conn, err = encrypted, encrypted.HandshakeContext(ctx)
	}
	if err != nil {
		socket.Close()
		return nil, nil, err
	}
	return conn, socket, nil
}
