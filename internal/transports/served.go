package transports

import (
	"errors"
	"net"
	"sync"

	"github.com/sabir-go/sabir/transport"
)

const (
	// servedBacklog is the number of connections that wait for Accept before others are refused.
	servedBacklog = 128
	// maxUndelivered is the number of sockets that may not have come to a connection yet. The next one is closed at once.
	maxUndelivered = 1024
)

// Served is the [transport.Listener] of a driver whose connections come out of a server of their own protocol, such as one of
// net/http: the server reads from Sockets, and its handlers Deliver what has become a connection. It is for drivers.
//
// All methods may be called from any number of goroutines at once.
type Served struct {
	sockets transport.Listener // nil for none
	addr    string
	arrived chan net.Conn
	failed  chan error // of Sockets
	closed  chan struct{}

	mu          sync.Mutex
	ended       bool
	undelivered map[*Socket]struct{}
}

// NewServed makes a listener whose address is addr. sockets may be nil where others accept them; else Close closes them.
func NewServed(sockets transport.Listener, addr string) *Served {
	return &Served{
		sockets:     sockets,
		addr:        addr,
		arrived:     make(chan net.Conn, servedBacklog),
		failed:      make(chan error, 1),
		closed:      make(chan struct{}),
		undelivered: map[*Socket]struct{}{},
	}
}

// Socket is a connection that a server reads its protocol from.
type Socket struct {
	net.Conn
	served *Served
	once   sync.Once
	gone   chan struct{}
}

// Close closes the connection.
func (s *Socket) Close() error {
	s.once.Do(func() { close(s.gone) })
	s.served.forget(s)
	return s.Conn.Close()
}

// Gone is closed when Close is called.
func (s *Socket) Gone() <-chan struct{} { return s.gone }

// Sockets is the listener that a server accepts from; its connections are each a *[Socket]. More than 1024 that were not
// delivered, in a handshake or silent, do not stay open at once: the next one is closed. Bound the time of each by the
// server's own limits.
func (s *Served) Sockets() net.Listener { return servedSockets{s} }

type servedSockets struct{ served *Served }

func (l servedSockets) Accept() (net.Conn, error) {
	for {
		conn, err := l.served.sockets.Accept()
		if err != nil {
			l.served.fail(err)
			return nil, err
		}
		socket := &Socket{Conn: conn, served: l.served, gone: make(chan struct{})}
		if l.served.admit(socket) {
			return socket, nil
		}
		Abort(conn)
	}
}

func (l servedSockets) Close() error   { return l.served.sockets.Close() }
func (l servedSockets) Addr() net.Addr { return servedAddr(l.served.addr) }

// servedAddr is an address as a net.Addr, which servers want for their logs.
type servedAddr string

func (servedAddr) Network() string  { return "tcp" }
func (a servedAddr) String() string { return string(a) }

func (s *Served) admit(socket *Socket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || len(s.undelivered) == maxUndelivered {
		return false
	}
	s.undelivered[socket] = struct{}{}
	return true
}

func (s *Served) forget(socket *Socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.undelivered, socket)
}

// Deliver gives a connection to Accept. It does not wait: it returns false, and leaves the connection to the caller, where
// the listener is closed or too many connections wait. socket is the socket under the connection, nil where it is not one of
// Sockets.
func (s *Served) Deliver(conn net.Conn, socket *Socket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	select {
	case s.arrived <- conn:
		delete(s.undelivered, socket)
		return true
	default:
		return false
	}
}

// fail gives an error of Sockets to Accept, where nobody is told of one already: servers try again in silence.
func (s *Served) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// Accept implements [transport.Listener]. An error of Sockets is returned once; the server goes on accepting.
func (s *Served) Accept() (net.Conn, error) {
	select {
	case <-s.closed: // first, for after Close both may be ready
	default:
		select {
		case conn := <-s.arrived:
			return conn, nil
		case err := <-s.failed:
			if !errors.Is(err, net.ErrClosed) {
				return nil, err
			}
			<-s.closed // by which the sockets were
		case <-s.closed:
		}
	}
	return nil, s.errClosed("accept")
}

func (s *Served) errClosed(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Addr: servedAddr(s.addr), Err: net.ErrClosed}
}

// Close implements [transport.Listener]. Sockets that were not delivered are closed too.
func (s *Served) Close() error {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return s.errClosed("close")
	}
	s.ended = true
	var young []*Socket
	for socket := range s.undelivered {
		young = append(young, socket)
	}
	s.mu.Unlock()
	close(s.closed)
	var err error
	if s.sockets != nil {
		err = s.sockets.Close()
	}
	for _, socket := range young {
		Abort(socket)
	}
	for {
		select {
		case conn := <-s.arrived:
			go conn.Close() // which may wait for its peer
		default:
			return err
		}
	}
}

// Closed is closed by Close.
func (s *Served) Closed() <-chan struct{} { return s.closed }

// Addr implements [transport.Listener].
func (s *Served) Addr() string { return s.addr }

// Abort closes a connection without a goodbye, which TLS would wait up to five seconds for where the peer does not read.
// It is for drivers.
func Abort(conn net.Conn) {
	if socket, ok := conn.(*Socket); ok {
		socket.once.Do(func() { close(socket.gone) })
		socket.served.forget(socket)
		conn = socket.Conn
	}
	if encrypted, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = encrypted.NetConn()
	}
	conn.Close()
}
