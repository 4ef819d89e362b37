package mem

import (
	"net"
	"sync"
)

// backlog is the number of connections that wait for Accept before dialers wait too.
const backlog = 128

type listener struct {
	at       addr
	limit    int
	incoming chan *conn
	closed   chan struct{}
	once     sync.Once
	forget   func()
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed: // first, for after Close both may be ready
	default:
		select {
		case c := <-l.incoming:
			return c, nil
		case <-l.closed:
		}
	}
	return nil, &net.OpError{Op: "accept", Net: "mem", Addr: l.at, Err: net.ErrClosed}
}

func (l *listener) Close() error {
	first := false
	l.once.Do(func() { first = true })
	if !first {
		return &net.OpError{Op: "close", Net: "mem", Addr: l.at, Err: net.ErrClosed}
	}
	l.forget()
	close(l.closed)
	l.refuse()
	return nil
}

// refuse closes the connections that will not be accepted.
func (l *listener) refuse() {
	for {
		select {
		case c := <-l.incoming:
			c.Close()
		default:
			return
		}
	}
}

func (l *listener) Addr() string { return l.at.String() }
