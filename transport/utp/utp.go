package utp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"time"

	"github.com/anacrolix/utp"

	"github.com/sabir-go/sabir/internal/backoff"
	_ "github.com/sabir-go/sabir/internal/gossip" // by which the nodes of a cluster find each other
	"github.com/sabir-go/sabir/internal/session"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

func init() { transport.Register("utp", carrier{}) }

const (
	// window is the number of units of 1 KiB that may be under way or unread. The library takes 256 packets before a write waits
	// for the peer's library, and each holds more than a unit with its frame's head.
	window = 224

	// openWait bounds the time until the first packet after the library's own handshake, which may be lost and sent again.
	openWait = 5 * time.Second

	// keepAlive is the longest silence: the library abandons a connection after two minutes of it.
	keepAlive = 30 * time.Second
)

type carrier struct{}

func settings(config transport.Config) session.Settings {
	s := session.Settings{Name: "utp", Window: window, KeepAlive: config.KeepAliveIdle(), OpenWait: openWait}
	if s.KeepAlive == 0 || s.KeepAlive > keepAlive {
		s.KeepAlive = keepAlive
	}
	return s
}

func (carrier) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	if err := config.CheckPlain(at, "quic", "tls"); err != nil {
		return nil, err
	}
	udp, addr, err := transports.ListenUDP(ctx, at, config)
	if err != nil {
		return nil, err
	}
	packets := newPackets(udp, nil, config)
	accepting, err := utp.NewSocketFromPacketConn(packets)
	if err != nil {
		udp.Close()
		return nil, fmt.Errorf("listening on %s: %w", at.Redacted(), err)
	}
	served := make(chan struct{})
	l := session.NewListener(addr, settings(config), session.NewPort(func() {
		accepting.CloseNow()
		<-served
	}))
	go func() {
		defer close(served)
		for {
			c, err := accepting.Accept()
			if err != nil {
				return
			}
			packets.accepted.Add(1)
			l.Serve(&accepted{cut{c, payload(config)}, udp.LocalAddr()})
		}
	}()
	return l, nil
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
	for wait := resetWait; ; wait *= 2 {
		c, err := dial(ctx, address, config)
		if err == nil {
			return c, nil
		}
		if errors.Is(err, errReset) && wait <= longestResetWait && backoff.Sleep(ctx, wait) == nil {
			continue
		}
		return nil, fmt.Errorf("dialling %s (%s): %w", to.Redacted(), address, err)
	}
}

// errReset is the error of a dial that the other side reset. The library resets a dial where nothing accepts, but also where
// its queue of connections to accept is full, which holds fifty. So a dial is tried again, four times within 750 ms.
var errReset = fmt.Errorf("reset by the listener: %w", syscall.ECONNREFUSED)

const (
	resetWait        = 50 * time.Millisecond
	longestResetWait = 400 * time.Millisecond
)

func dial(ctx context.Context, address string, config transport.Config) (net.Conn, error) {
	// A connected socket gets an error when nothing listens there, or no longer (RFC 1122, section 4.1.3.3).
	connected, err := new(net.Dialer).DialContext(ctx, "udp", address)
	if err != nil {
		return nil, err
	}
	udp := connected.(*net.UDPConn)
	opening, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	packets := newPackets(udp, udp.RemoteAddr(), config)
	raw := &dialled{packets: packets}
	if raw.socket, err = utp.NewSocketFromPacketConn(packets); err != nil {
		udp.Close()
		return nil, err
	}
	go func() {
		select {
		case <-packets.broken:
			refuse(packets.failure)
		case <-opening.Done():
		}
	}()
	c, err := raw.socket.DialContext(opening, "", udp.RemoteAddr().String())
	if err != nil {
		raw.socket.CloseNow()
		if cause := context.Cause(opening); cause != nil {
			err = cause
		} else if err.Error() == "peer reset" { // for which the library has no value
			err = errReset
		}
		return nil, err
	}
	raw.cut = cut{c, payload(config)}
	go raw.watch()
	linked, err := session.Dial(ctx, raw, settings(config), func() {})
	if err != nil {
		return nil, err
	}
	return linked, nil
}

// mostHeader is the longest header of a packet: 20 bytes, and acknowledgements of 256 packets.
const mostHeader = 20 + 2 + 256/8

// payload is the number of bytes of data that fit a packet whatever its header is. Where that is more than the library puts
// into one, it makes two.
func payload(config transport.Config) int { return config.PacketLimit() - mostHeader }

// cut is a connection whose writes are cut into pieces that fit a packet: the library makes at least one of each write, and has
// a limit of its own that many paths do not carry.
type cut struct {
	net.Conn
	most int
}

func (c cut) Write(p []byte) (n int, err error) {
	for err == nil && n < len(p) {
		var wrote int
		wrote, err = c.Conn.Write(p[n:min(n+c.most, len(p))])
		n += wrote
	}
	return n, err
}

// accepted is a connection over the socket of a listener.
type accepted struct {
	cut
	local net.Addr
}

func (a *accepted) LocalAddr() net.Addr  { return a.local }
func (a *accepted) RemoteAddr() net.Addr { return named{a.Conn.RemoteAddr()} }

// named is an address whose network is not "utp/udp" but, as with the other transports over UDP, "udp".
type named struct{ net.Addr }

func (named) Network() string { return "udp" }

// dialled is a connection with a socket of its own.
type dialled struct {
	cut
	socket  *utp.Socket
	packets *packets
}

// watch ends reads when the socket fails, which the library would not hear of.
func (d *dialled) watch() {
	select {
	case <-d.packets.broken:
		d.Conn.SetReadDeadline(time.Unix(1, 0))
	case <-d.packets.closed:
	}
}

func (d *dialled) Read(p []byte) (int, error) {
	n, err := d.Conn.Read(p)
	if err == nil {
		return n, nil
	}
	select {
	case <-d.packets.broken:
		return n, d.packets.failure
	default:
		return n, err
	}
}

func (d *dialled) Close() error {
	d.Conn.Close()
	return d.socket.CloseNow()
}

func (d *dialled) LocalAddr() net.Addr  { return d.packets.udp.LocalAddr() }
func (d *dialled) RemoteAddr() net.Addr { return d.packets.peer }
