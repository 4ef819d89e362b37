package web

import (
	"net"
	"sync"
	"sync/atomic"
)

// listener bounds the connections that are open at once, and knows those that have not been used yet. Over the bound it
// accepts no more until one closes; the system's backlog holds what comes meanwhile.
type listener struct {
	net.Listener
	room   chan struct{} // one token per open connection
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	open map[*conn]struct{}
}

// conn is a connection that gives its room back when it closes.
type conn struct {
	net.Conn
	from *listener
	used atomic.Bool // something was read
	once sync.Once
}

func newListener(inner net.Listener, limit int) *listener {
	return &listener{Listener: inner, room: make(chan struct{}, limit), closed: make(chan struct{}), open: make(map[*conn]struct{})}
}

// Accept waits for room, then for a connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.room <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	inner, err := l.Listener.Accept()
	if err != nil {
		<-l.room
		return nil, err
	}
	c := &conn{Conn: inner, from: l}
	l.mu.Lock()
	l.open[c] = struct{}{}
	l.mu.Unlock()
	return c, nil
}

// Close ends Accept; open connections stay. Closing again does nothing.
func (l *listener) Close() error {
	var err error
	l.once.Do(func() {
		close(l.closed)
		err = l.Listener.Close()
	})
	return err
}

// count is how many connections are open.
func (l *listener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// closeUnused closes the connections that nothing was read from.
func (l *listener) closeUnused() {
	l.mu.Lock()
	var unused []*conn
	for c := range l.open {
		if !c.used.Load() {
			unused = append(unused, c)
		}
	}
	l.mu.Unlock()
	for _, c := range unused {
		c.Close()
	}
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.used.Load() {
		c.used.Store(true)
	}
	return n, err
}

func (c *conn) Close() error {
	c.once.Do(func() {
		c.from.mu.Lock()
		delete(c.from.open, c)
		c.from.mu.Unlock()
		<-c.from.room
	})
	return c.Conn.Close()
}

// CloseWrite lets the server say that it has said all, before it closes.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
