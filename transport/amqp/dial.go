package amqp

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// dialRaw connects to the broker's port, TLS included. The socket is what is below TLS.
func (s *site) dialRaw(ctx context.Context) (raw net.Conn, socket *net.TCPConn, err error) {
	idle := s.config.KeepAliveIdle()
	dialer := net.Dialer{
		KeepAlive:       -1, // as KeepAliveConfig says, and else never
		KeepAliveConfig: net.KeepAliveConfig{Enable: idle > 0, Idle: idle, Interval: max(idle/3, time.Second), Count: 3},
	}
	raw, err = dialer.DialContext(ctx, "tcp", s.HostPort)
	if err != nil {
		return nil, nil, err
	}
	socket = raw.(*net.TCPConn)
	if s.config.ReadBuffer > 0 {
		err = socket.SetReadBuffer(s.config.ReadBuffer)
	}
	if s.config.WriteBuffer > 0 && err == nil {
		err = socket.SetWriteBuffer(s.config.WriteBuffer)
	}
	if err == nil && s.TLS != nil {
		encrypted := tls.Client(raw, s.TLS)
		raw, err = encrypted, encrypted.HandshakeContext(ctx)
	}
	if err != nil {
		socket.Close()
		return nil, nil, err
	}
	return raw, socket, nil
}
