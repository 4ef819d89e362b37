package kcp

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/xtaci/kcp-go/v5"

	"github.com/sabir-go/sabir/internal/datagram"
	_ "github.com/sabir-go/sabir/internal/gossip" // by which the nodes of a cluster find each other
	"github.com/sabir-go/sabir/internal/session"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

func init() { transport.Register("kcp", carrier{}) }

const (
	// window is the number of units of 1 KiB that may be under way or unread.
	window = 512

	// sendPackets is more packets than the window and small frames can fill, so that a write does not wait for KCP, and
	// receivePackets leaves space for as many while the ones before are still unread.
	sendPackets    = window + 128
	receivePackets = 2 * sendPackets

	// interval is the number of milliseconds that KCP lets pass before it looks for packets to send again: the least it takes.
	interval = 10

	// fastResend is the number of acknowledgements past a packet that mean that it is lost.
	fastResend = 2

	// openWait may be short because the packet that makes a session is the one with the open frame, or a late one of a
	// session that is gone.
	openWait = 500 * time.Millisecond

	// socketBuffer is asked of the system, which may grant less.
	socketBuffer = 4 << 20
)

type carrier struct{}

func settings(config transport.Config) session.Settings {
	return session.Settings{Name: "kcp", Window: window, KeepAlive: config.KeepAliveIdle(), OpenWait: openWait}
}

// mostPacket is the largest packet that the library sends.
const mostPacket = 1500

func tune(s *kcp.UDPSession, config transport.Config) {
	s.SetMtu(min(config.PacketLimit(), mostPacket)) // before the first write: what is queued keeps its size
	//lint:ignore SA1019 there is no other way to have small writes share a packet
	s.SetStreamMode(true)
	s.SetWriteDelay(false)
	s.SetACKNoDelay(false) // acknowledgements go with data, within interval: 1.6 times the calls of one packet for each
	s.SetNoDelay(1, interval, fastResend, 1)
	s.SetWindowSize(sendPackets, receivePackets)
}

// size asks for buffers that hold bursts. What the system does not grant is lost and sent again.
func size(udp *net.UDPConn, config transport.Config) {
	udp.SetReadBuffer(max(config.ReadBuffer, socketBuffer))
	udp.SetWriteBuffer(max(config.WriteBuffer, socketBuffer))
}

func (carrier) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	if err := config.CheckPlain(at, "quic", "tls"); err != nil {
		return nil, err
	}
	udp, addr, err := transports.ListenUDP(ctx, at, config)
	if err != nil {
		return nil, err
	}
	size(udp, config)
	accepting, err := kcp.ServeConn(nil, 0, 0, datagram.Listening(udp))
	if err != nil {
		udp.Close()
		return nil, fmt.Errorf("listening on %s: %w", at.Redacted(), err)
	}
	served := make(chan struct{})
	l := session.NewListener(addr, settings(config), session.NewPort(func() {
		udp.Close()
		<-served
	}))
	go func() {
		defer close(served)
		serve(accepting, l, config)
	}()
	return l, nil
}

// serve ends when the socket is closed.
func serve(accepting *kcp.Listener, l *session.Listener, config transport.Config) {
	for {
		s, err := accepting.AcceptKCP()
		if err != nil {
			break
		}
		tune(s, config)
		l.Serve(s)
	}
	// Sessions that are not accepted would keep their goroutines. The library chooses by chance between the error and one of
	// them, so that so many errors in a row mean that none is left.
	for errs := 0; errs < 64; {
		s, err := accepting.AcceptKCP()
		if err != nil {
			errs++
			continue
		}
		s.Close()
	}
	accepting.Close()
}

func (carrier) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	if err := config.CheckPlain(to, "quic", "tls"); err != nil {
		return nil, err
	}
	address, err := config.DialAddr(to)
	if err != nil {
		return nil, err
	}
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	// A connected socket gets an error when nothing listens there, or no longer (RFC 1122, section 4.1.3.3).
	raw, err := new(net.Dialer).DialContext(ctx, "udp", address)
	if err != nil {
		return nil, err
	}
	udp := raw.(*net.UDPConn)
	size(udp, config)
	var id [4]byte
	rand.Read(id[:])
	s, err := kcp.NewConn4(binary.LittleEndian.Uint32(id[:]), udp.RemoteAddr(), nil, 0, 0, true, datagram.Connected(udp))
	if err != nil {
		udp.Close()
		return nil, err
	}
	tune(s, config)
	c, err := session.Dial(ctx, s, settings(config), func() {})
	if err != nil {
		return nil, fmt.Errorf("dialling %s (%s): %w", to.Redacted(), address, err)
	}
	return c, nil
}
