package meta

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/sabir-go/sabir/actor"
)

// Packet is one that came to a UDP socket. The bytes are the receiver's own.
type Packet struct {
	From  netip.AddrPort
	Bytes []byte
}

// Socket is a UDP socket, for the process that handles it. It may be used by several goroutines.
type Socket struct {
	conn   *net.UDPConn
	write  time.Duration
	ctx    context.Context
	cancel context.CancelFunc
}

// Addr returns the address that the socket is bound to.
func (s *Socket) Addr() netip.AddrPort { return s.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// Send sends a packet.
func (s *Socket) Send(to netip.AddrPort, data []byte) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.write)); err != nil {
		return err
	}
	_, err := s.conn.WriteToUDPAddrPort(data, to)
	return err
}

// Close ends the socket; the Exit with ErrConnectionClosed comes all the same.
func (s *Socket) Close() { s.cancel() }

// ListenUDP opens a UDP socket on an address such as ":7000", which without a host is 127.0.0.1, and starts a process of the
// behaviour for it. That gets the socket when it begins, each packet as a Packet, and an Exit with ErrConnectionClosed should the socket
// fail. When the process or the one that called ListenUDP ends, the socket does.
//
// While Window messages wait for the process nothing is read, and the operating system drops packets. An address that other
// machines can reach is refused without Exposed.
func ListenUDP[S any](from actor.Sender, address string, b *actor.Behavior[S, *Socket], config NetConfig) (actor.PID, netip.AddrPort, error) {
	if err := config.complete(); err != nil {
		return actor.PID{}, netip.AddrPort{}, err
	}
	bound, err := config.listenAddr(context.Background(), "udp", address)
	if err != nil {
		return actor.PID{}, netip.AddrPort{}, err
	}
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(bound))
	if err != nil {
		return actor.PID{}, netip.AddrPort{}, fmt.Errorf("meta: %w", err)
	}
	s := &Socket{conn: c, write: config.WriteTimeout}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	context.AfterFunc(s.ctx, func() { c.Close() })
	pid, err := handled(from, "udp-socket", b, s, s.cancel, &config, func(sys *actor.System, pid actor.PID) { s.read(sys, pid, &config) })
	if err != nil {
		s.cancel()
		return pid, netip.AddrPort{}, err
	}
	return pid, s.Addr(), nil
}

func (s *Socket) read(sys *actor.System, to actor.PID, config *NetConfig) {
	defer s.cancel()
	buffer := make([]byte, maxPacket)
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(buffer)
		if err == nil {
			from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
			err = Deliver(s.ctx, sys, to, config.Window, Packet{from, bytes.Clone(buffer[:n])})
		}
		if err != nil {
			closed(sys, to, err)
			return
		}
	}
}
