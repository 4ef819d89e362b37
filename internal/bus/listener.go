package bus

import (
	"net"
	"sync"
)

// listener gives out the sessions that other hubs begin.
type listener struct {
	hub     *Hub
	waiting chan *conn

	mu     sync.Mutex // guards ended, and that nothing is put into waiting after it
	ended  bool
	closed chan struct{}
}

func newListener(h *Hub) *listener {
	return &listener{hub: h, waiting: make(chan *conn, backlog), closed: make(chan struct{})}
}

// offer reports whether there was space for another connection that waits to be accepted.
func (l *listener) offer(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	select {
	case l.waiting <- c:
		return true
	default:
		return false
	}
}

// takes reports whether it would take another connection now.
func (l *listener) takes() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.ended && len(l.waiting) < cap(l.waiting)
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed: // first, for after Close both may be ready
	default:
		select {
		case c := <-l.waiting:
			return c, nil
		case <-l.closed:
		}
	}
	return nil, &net.OpError{Op: "accept", Net: "bus", Addr: addr(l.Addr()), Err: net.ErrClosed}
}

func (l *listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return &net.OpError{Op: "close", Net: "bus", Addr: addr(l.Addr()), Err: net.ErrClosed}
	}
	l.ended = true
	close(l.closed)
	close(l.waiting)
	for c := range l.waiting {
		c.Close()
	}
	return nil
}

func (l *listener) Addr() string { return l.hub.Addr() }

// addr is the address of one side.
type addr string

func (a addr) Network() string { return "bus" }
func (a addr) String() string  { return string(a) }
