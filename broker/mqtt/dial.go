package mqtt

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// dialRaw connects to the broker's port, TLS included.
func (s *settings) dialRaw(ctx context.Context) (net.Conn, error) {
	idle := s.config.KeepAliveIdle()
	dialer := net.Dialer{
		KeepAlive:       -1, // as set in KeepAliveConfig, and else never
		KeepAliveConfig: net.KeepAliveConfig{Enable: idle > 0, Idle: idle, Interval: max(idle/3, time.Second), Count: 3},
		Control:         s.config.LimitSegments,
	}
	dialled, err := dialer.DialContext(ctx, "tcp", s.HostPort)
	if err != nil {
		return nil, err
	}
	socket := dialled.(*net.TCPConn)
	raw := promptly(socket)
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
		return nil, err
	}
	return raw, nil
}
