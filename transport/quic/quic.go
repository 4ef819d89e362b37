package quic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
	"golang.org/x/time/rate"

	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/datagram"
	_ "github.com/sabir-go/sabir/internal/gossip" // by which the nodes of a cluster find each other
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

func init() {
	transport.Register("quic", carrier{})
	// The library asks for 7 MiB of socket buffers and writes to the standard logger where the system grants less. Less is
	// enough for a link, and a library of a library must not write to stderr.
	const quiet = "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING"
	if _, set := os.LookupEnv(quiet); !set {
		os.Setenv(quiet, "true")
	}
}

const (
	// greeting is the one byte that a listener begins its stream with: only what was sent makes a stream known.
	greeting = 1

	// backlog is the number of connections that may wait for Accept; more are refused.
	backlog = 128

	// unverified is the number of handshakes per second that a listener begins with unverified addresses. More must show
	// first that they receive what is sent to them (RFC 9000, section 8.1.2).
	unverified = 256

	// window is the number of bytes of one side that may be under way or unread.
	window = 4 << 20

	// goodbyeWait bounds how long a closed connection waits for the peer to read to the end and close too.
	goodbyeWait = time.Minute

	// releaseWait bounds how long Close of a listener waits for closed connections to let go of its port.
	releaseWait = time.Second
)

// The application's error codes (RFC 9000, section 20.2).
const (
	codeClosed  quic.ApplicationErrorCode = iota // both sides closed
	codeRefused                                  // nothing accepts here, or too many wait
	codeTimeout                                  // one side closed, and the other did not within goodbyeWait
)

type carrier struct{}

// mostPacket is the largest packet that the library sends.
const mostPacket = 1452

// settings returns the library's configuration of both sides.
func settings(config transport.Config) *quic.Config {
	received := uint64(window)
	if config.ReadBuffer > 0 {
		received = uint64(config.ReadBuffer)
	}
	s := &quic.Config{
		InitialStreamReceiveWindow:     min(received, 512<<10),
		MaxStreamReceiveWindow:         received,
		InitialConnectionReceiveWindow: min(received, 512<<10),
		MaxConnectionReceiveWindow:     received,
		MaxIncomingStreams:             -1,
		MaxIncomingUniStreams:          1, // the goodbye
		KeepAlivePeriod:                config.KeepAliveIdle(),
		MaxIdleTimeout:                 24 * time.Hour, // of the clock; see silence
		// The library would look for larger packets that get through, and go on sending those for as long as the connection
		// lasts: where the path then becomes smaller, all of them are lost, and so is the connection.
		InitialPacketSize:       uint16(min(config.PacketLimit(), mostPacket)),
		DisablePathMTUDiscovery: true,
	}
	return s
}

func (carrier) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	server, err := serverTLS(at, config)
	if err != nil {
		return nil, err
	}
	bound, addr, err := transports.ListenUDP(ctx, at, config)
	if err != nil {
		return nil, err
	}
	udp := datagram.Listening(bound)
	pace := rate.NewLimiter(unverified, unverified)
	shared := &quic.Transport{Conn: udp, VerifySourceAddress: func(net.Addr) bool { return !pace.Allow() }}
	accepting, err := shared.Listen(server, settings(config))
	if err != nil {
		udp.Close()
		return nil, fmt.Errorf("listening on %s: %w", at.Redacted(), err)
	}
	l := &listener{
		socket:    newSocket(shared, udp),
		accepting: accepting,
		keepAlive: config.KeepAliveIdle(),
		addr:      addr,
		waiting:   make(chan *conn, backlog),
		closed:    make(chan struct{}),
	}
	l.socket.hold()
	go l.run()
	return l, nil
}

// Dial ends when the listener has taken the connection, so that certificates of both sides have been checked.
func (carrier) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	address, err := config.DialAddr(to)
	if err != nil {
		return nil, err
	}
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	c, err := dial(ctx, address, to, config)
	// The library refuses connections that come while 32 connections wait for its Accept, which a busy listener leaves them for a
	// moment.
	for failed := 1; failed <= maxRefused && isTransport(err, quic.ConnectionRefused) && backoff.Sleep(ctx, busyListener.Wait(failed)) == nil; failed++ {
		c, err = dial(ctx, address, to, config)
	}
	if err == nil {
		return c, nil
	}
	_, idle := errors.AsType[*quic.HandshakeTimeoutError](err)
	refused, ended := errors.AsType[*quic.ApplicationError](err)
	switch {
	case ctx.Err() != nil:
		if !errors.Is(err, ctx.Err()) {
			err = ctx.Err()
		}
	case ended && refused.ErrorCode == codeRefused || isTransport(err, quic.ConnectionRefused):
		err = syscall.ECONNREFUSED
	case idle:
		err = fmt.Errorf("no answer: %w: %w", syscall.ETIMEDOUT, err)
	}
	return nil, fmt.Errorf("dialling %s (%s): %w", to.Redacted(), address, err)
}

// busyListener is the time that a listener that has refused may take to accept others, in that many attempts.
var busyListener = backoff.Backoff{First: 10 * time.Millisecond, Last: 160 * time.Millisecond}

const maxRefused = 5

func isTransport(err error, code quic.TransportErrorCode) bool {
	e, ok := errors.AsType[*quic.TransportError](err)
	return ok && e.ErrorCode == code
}

func dial(ctx context.Context, address string, to *url.URL, config transport.Config) (*conn, error) {
	// A connected socket gets an error when nothing listens there, or no longer (RFC 1122, section 4.1.3.3).
	raw, err := new(net.Dialer).DialContext(ctx, "udp", address)
	if err != nil {
		return nil, err
	}
	udp := raw.(*net.UDPConn)
	client, err := clientTLS(to, udp.RemoteAddr().(*net.UDPAddr).IP, config)
	if err != nil {
		udp.Close()
		return nil, err
	}
	packets := datagram.Connected(udp)
	own := &quic.Transport{Conn: packets}
	s := settings(config)
	s.MaxIncomingStreams = 1
	s.HandshakeIdleTimeout = config.DialLimit()
	socket := newSocket(own, packets)
	socket.hold()
	defer socket.drop() // the connection holds it too
	link, err := own.Dial(ctx, udp.RemoteAddr(), client, s)
	if err != nil {
		return nil, unsent(packets, err)
	}
	stream, err := link.AcceptStream(ctx)
	if err == nil {
		_, err = readGreeting(stream)
	}
	if err != nil {
		link.CloseWithError(codeClosed, "")
		return nil, unsent(packets, err)
	}
	return newConn(link, stream, socket, config.KeepAliveIdle(), udp.LocalAddr(), udp.RemoteAddr()), nil
}

// unsent adds to the failure of a dial what kept its packets from leaving this machine, which the library does not hear of.
func unsent(packets *datagram.Socket, err error) error {
	if why := packets.Refusal(); why != nil {
		return fmt.Errorf("%w; packets did not leave: %w", err, why)
	}
	return err
}

func readGreeting(stream *quic.Stream) (byte, error) {
	first := make([]byte, 1)
	if _, err := stream.Read(first); err != nil {
		return 0, err
	}
	if first[0] != greeting {
		return 0, fmt.Errorf("the listener began with %#x instead of %#x: it speaks another version", first[0], greeting)
	}
	return first[0], nil
}

// listener takes connections off the library's at once, so that a peer is not made to wait for Accept.
type listener struct {
	socket    *socket
	accepting *quic.Listener
	keepAlive time.Duration
	addr      string
	waiting   chan *conn

	once   sync.Once
	closed chan struct{}
}

// run ends when the socket closes. Until then, which may be long after Close, it refuses further connections.
func (l *listener) run() {
	for {
		link, err := l.accepting.Accept(context.Background())
		if err != nil {
			return
		}
		l.take(link)
	}
}

func (l *listener) take(link *quic.Conn) {
	select {
	case <-l.closed:
		link.CloseWithError(codeRefused, "nobody listens here any more")
		return
	default:
	}
	stream, err := link.OpenStream()
	if err == nil {
		_, err = stream.Write([]byte{greeting}) // so small writes are copied and do not wait
	}
	if err != nil {
		link.CloseWithError(codeRefused, "the connection allows no stream")
		return
	}
	c := newConn(link, stream, l.socket, l.keepAlive, link.LocalAddr(), link.RemoteAddr())
	select {
	case l.waiting <- c:
	default:
		c.refuse("too many connections wait to be accepted")
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, l.errClosed()
	default:
	}
	select {
	case c := <-l.waiting:
		return c, nil
	case <-l.closed:
		return nil, l.errClosed()
	}
}

func (l *listener) errClosed() error { return fmt.Errorf("accepting on %s: %w", l.addr, net.ErrClosed) }

func (l *listener) Addr() string { return l.addr }

// Close waits up to a second for connections that were closed before, so that the address is free again. Connections that
// are open keep the port.
func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		for {
			select {
			case c := <-l.waiting:
				c.refuse("nobody listens here any more")
				continue
			default:
			}
			break
		}
		l.socket.drop()
		l.socket.await(releaseWait)
	})
	return nil
}
