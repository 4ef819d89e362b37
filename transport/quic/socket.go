package quic

import (
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/sabir-go/sabir/internal/datagram"
)

// socket is a UDP socket that is closed when its listener and all connections over it are done.
type socket struct {
	transport *quic.Transport
	udp       *datagram.Socket
	released  chan struct{}

	mu     sync.Mutex
	users  int // a listener, and connections that their owner or the peer still needs
	closed int // of users, connections that their owner has closed
}

func newSocket(transport *quic.Transport, udp *datagram.Socket) *socket {
	return &socket{transport: transport, udp: udp, released: make(chan struct{})}
}

func (s *socket) hold() {
	s.mu.Lock()
	s.users++
	s.mu.Unlock()
}

// closing counts a connection as closed by its owner, which dropClosed then ends.
func (s *socket) closing() {
	s.mu.Lock()
	s.closed++
	s.mu.Unlock()
}

func (s *socket) dropClosed() {
	s.mu.Lock()
	s.closed--
	s.mu.Unlock()
	s.drop()
}

func (s *socket) drop() {
	s.mu.Lock()
	s.users--
	last := s.users == 0
	s.mu.Unlock()
	if last {
		s.transport.Close()
		s.udp.Close()
		close(s.released)
	}
}

// await waits for the socket to close, where only connections that are closed already keep it.
func (s *socket) await(limit time.Duration) {
	s.mu.Lock()
	needed := s.users > s.closed
	s.mu.Unlock()
	if needed {
		return
	}
	select {
	case <-s.released:
	case <-time.After(limit):
	}
}
