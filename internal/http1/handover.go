package http1

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"

	"github.com/sabir-go/sabir/internal/httpstrict"
)

// handovers is the net.Listener through which net/http gets connections.
type handovers struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newHandovers() *handovers {
	return &handovers{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// give gives net/http a connection, or closes it when net/http takes no more.
func (h *handovers) give(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.closed:
		c.Close()
	}
}

func (h *handovers) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *handovers) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

func (h *handovers) Addr() net.Addr { return handoverAddr{} }

type handoverAddr struct{}

func (handoverAddr) Network() string { return "handover" }
func (handoverAddr) String() string  { return "handover" }

// asNetHTTP is the connection as net/http gets it.
func (c *conn) asNetHTTP(prefix []byte) net.Conn {
	over, isTLS := c.net.(*tls.Conn)
	switch {
	case !isTLS:
		return c.checked(&tracked{Conn: c.socket, of: c, multiplexed: bytes.HasPrefix(prefix, []byte("PRI * HTTP/2"))}, prefix)
	case c.tls.NegotiatedProtocol == "h2":
		if t, ok := over.NetConn().(*tracked); ok {
			t.multiplexed = true
		}
		return over // net/http wants to see the type
	}
	return &httpstrict.TLSConn{Conn: c.checked(over, prefix), TLS: over}
}

// checked is the connection without the requests that are refused. net/http reads the first byte next.
func (c *conn) checked(over net.Conn, prefix []byte) *httpstrict.Conn {
	return httpstrict.NewConn(over, prefix, !c.served && c.tls == nil, func(reason string) {
		c.server.refused.Add(1)
		c.server.log.Debug("http request was refused", "from", c.socket.RemoteAddr().String(), "reason", reason)
	})
}

// handed is the connection that net/http has as taken; nil for another one.
func handed(taken net.Conn) *conn {
	var t *tracked
	switch over := taken.(type) {
	case *httpstrict.Conn:
		t, _ = over.Conn.(*tracked)
	case *httpstrict.TLSConn:
		t, _ = over.TLS.NetConn().(*tracked)
	case *tls.Conn:
		t, _ = over.NetConn().(*tracked)
	}
	if t == nil {
		return nil
	}
	return t.of
}

// tracked is a socket that leaves the server's list when it is closed.
type tracked struct {
	net.Conn
	of          *conn
	multiplexed bool // many streams share it, which is HTTP/2
}

// Write lets others run first where streams share the connection. What their handlers answer meanwhile, net/http then writes at once: a
// fifth of the time of a call over gRPC was in writes of one frame each. On a processor with nothing else to do it costs next to nothing.
func (t *tracked) Write(p []byte) (int, error) {
	if t.multiplexed {
		runtime.Gosched()
	}
	return t.Conn.Write(p)
}

func (t *tracked) Close() error {
	err := t.Conn.Close()
	t.of.server.free(t.of)
	return err
}

// CloseWrite lets net/http signal that it has sent all, before it closes.
func (t *tracked) CloseWrite() error { return httpstrict.CloseWrite(t.Conn) }

// ReadFrom lets the system copy files.
func (t *tracked) ReadFrom(r io.Reader) (int64, error) { return httpstrict.ReadFrom(t.Conn, r) }

// countingHandler handles connections that were handed over. It counts requests, and closes connections when the server stops.
type countingHandler struct {
	server *Server
	next   http.Handler
}

func (h *countingHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.server.fallbackCalls.Add(1)
	defer h.server.fallbackCalls.Add(-1)
	if h.server.isLast() {
		w.Header().Set("Connection", "close")
	}
	h.next.ServeHTTP(w, r)
}
