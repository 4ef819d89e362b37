package sabir

import (
	"net"
	"sync"
)

// maxShaking bounds the connections whose other end has not proved who it is.
const maxShaking = 256

// shaking is the connections whose other end has not proved who it is, the oldest first. One more than there is room for
// closes the oldest: whoever opens many and says nothing does not keep out those who have something to say.
type shaking struct {
	mu    sync.Mutex
	conns []net.Conn
}

// add takes a connection in, and is the one that had to go for it; nil for none.
func (s *shaking) add(c net.Conn) (oldest net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) == maxShaking {
		oldest = s.conns[0]
		s.conns = append(s.conns[:0], s.conns[1:]...)
	}
	s.conns = append(s.conns, c)
	return oldest
}

func (s *shaking) remove(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.conns {
		if other == c {
			s.conns = append(s.conns[:i], s.conns[i+1:]...)
			return
		}
	}
}
