package dubbo

import (
	"net"
	"sync"
)

// handed is the listener of a server of HTTP whose connections were accepted elsewhere.
type handed struct {
	at       net.Addr
	incoming chan net.Conn
	ended    chan struct{}
	ending   sync.Once
}

func newHanded(at net.Addr) *handed {
	return &handed{at: at, incoming: make(chan net.Conn), ended: make(chan struct{})}
}

// hand gives the server a connection, which is closed where it takes no more.
func (h *handed) hand(c net.Conn) {
	select {
	case h.incoming <- c:
	case <-h.ended:
		c.Close()
	}
}

// Accept implements net.Listener.
func (h *handed) Accept() (net.Conn, error) {
	select {
	case c := <-h.incoming:
		return c, nil
	case <-h.ended:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *handed) Close() error {
	h.ending.Do(func() { close(h.ended) })
	return nil
}

// Addr implements net.Listener.
func (h *handed) Addr() net.Addr { return h.at }
