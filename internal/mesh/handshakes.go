package mesh

import (
	"fmt"
	"net"
	"sync"
)

// maxPendingHandshakes bounds the connections whose other side has not authenticated itself.
const maxPendingHandshakes = 256

var errTooManyPending = fmt.Errorf("%d wait already, so the oldest was closed", maxPendingHandshakes)

// pendingHandshakes holds the connections whose other side has not authenticated itself, the oldest first. When there are
// too many, the oldest is closed: a program that opens many connections and sends nothing must not keep nodes out.
type pendingHandshakes struct {
	mu    sync.Mutex
	conns []net.Conn
}

// add takes a connection in and returns the one to close for it; nil for none.
func (s *pendingHandshakes) add(c net.Conn) (oldest net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) == maxPendingHandshakes {
		oldest = s.conns[0]
		s.conns = append(s.conns[:0], s.conns[1:]...)
	}
	s.conns = append(s.conns, c)
	return oldest
}

func (s *pendingHandshakes) remove(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.conns {
		if other == c {
			s.conns = append(s.conns[:i], s.conns[i+1:]...)
			return
		}
	}
}
