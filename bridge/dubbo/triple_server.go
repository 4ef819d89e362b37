package dubbo

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/grpcweb"
	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/internal/trailersonly"
)

const (
	maxTripleStreams = 4096     // of a connection, calls among them
	maxHead          = 32 << 10 // bytes of headers
	headLimit        = 10 * time.Second
	bodyLimit        = 30 * time.Second // for a call's arguments to come
	// streamGrace is the time for which a bridge that stops lets streams go on, so that those with an end come to it.
	streamGrace = 5 * time.Second
)

// tripleServer serves Triple at a port: gRPC, gRPC-Web, Connect's protocol, and JSON over HTTP.
type tripleServer struct {
	bridge *bridge
	table  table
	http   *http.Server
	conns  *handed

	streams context.Context // ends those that are open
	end     context.CancelCauseFunc

	mu   sync.Mutex
	open map[*webConn]struct{}
}

func newTripleServer(b *bridge, at net.Addr) *tripleServer {
	t := &tripleServer{bridge: b, conns: newHanded(at), open: make(map[*webConn]struct{})}
	t.streams, t.end = context.WithCancelCause(b.ctx)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	t.http = &http.Server{Protocols: protocols, Handler: t, ReadHeaderTimeout: headLimit, MaxHeaderBytes: maxHead,
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: maxTripleStreams, SendPingTimeout: b.heartbeat, PingTimeout: 2 * b.heartbeat, WriteByteTimeout: writeLimit},
		BaseContext: func(net.Listener) context.Context { return b.ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, webConnKey{}, c.(*httpstrict.Conn).NetConn())
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	return t
}

// run serves until stop or close.
func (t *tripleServer) run() { _ = httpstrict.Serve(t.http, t.conns) } // its error says that it was stopped

// take serves a connection.
func (t *tripleServer) take(c *peeked) {
	w := &webConn{Conn: c, server: t}
	w.lastRead.Store(time.Now().UnixNano())
	t.mu.Lock()
	t.open[w] = struct{}{}
	t.mu.Unlock()
	t.conns.hand(w)
}

// stop takes no more calls, and waits for those that run.
func (t *tripleServer) stop(ctx context.Context) {
	grace := time.AfterFunc(streamGrace, func() { t.end(stopping(t.bridge)) })
	defer grace.Stop()
	_ = t.http.Shutdown(ctx) // close ends what is left
}

func (t *tripleServer) close() {
	t.end(stopping(t.bridge))
	_ = t.http.Close() // of connections that end in any case
	t.conns.Close()
}

// look closes connections of HTTP/1 that nothing is asked on. Those of HTTP/2 have heartbeats.
func (t *tripleServer) look(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.open {
		if c.active.Load() == 0 && now.Sub(time.Unix(0, c.lastRead.Load())) > 3*t.bridge.heartbeat+time.Second {
			go c.Close()
		}
	}
}

// webConn is a connection over which Triple is spoken.
type webConn struct {
	net.Conn
	server   *tripleServer
	lastRead atomic.Int64 // in Unix ns
	active   atomic.Int64 // calls
	closing  sync.Once
}

type webConnKey struct{}

// Read implements net.Conn.
func (c *webConn) Read(to []byte) (int, error) {
	n, err := c.Conn.Read(to)
	if n > 0 {
		c.lastRead.Store(time.Now().UnixNano())
	}
	return n, err
}

// Close implements net.Conn.
func (c *webConn) Close() error {
	c.closing.Do(func() {
		c.server.mu.Lock()
		delete(c.server.open, c)
		c.server.mu.Unlock()
		c.server.bridge.serves.remove(c.Conn.(*peeked).Conn)
	})
	return c.Conn.Close()
}

// CloseWrite closes the sending half.
func (c *webConn) CloseWrite() error { return httpstrict.CloseWrite(c.Conn.(*peeked).Conn) }

func stopping(b *bridge) *sabir.Error {
	return sabir.NewError(sabir.CodeUnavailable, sabir.ErrServiceUnavailable.Name, "the node "+b.node.ID()+" is stopping").AsRetryable()
}

func full(b *bridge) *sabir.Error {
	return sabir.NewError(sabir.CodeResourceExhausted, sabir.ErrTooManyCalls.Name, "the node "+b.node.ID()+" serves as many calls of Dubbo consumers as it takes").AsRetryable()
}

var errNoBase64 = errors.New("it is not in base64, as application/grpc-web-text wants it")

// ServeHTTP implements http.Handler.
func (t *tripleServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c, ok := r.Context().Value(webConnKey{}).(*webConn); ok {
		c.active.Add(1)
		defer c.active.Add(-1)
	}
	if t.bridge.pages.answer(w, r) {
		return
	}
	w, r, end := grpcweb.WithoutText(w, r, errNoBase64)
	defer end()
	w, sent := trailersonly.Wrap(w, r)
	defer sent()
	c := &tripleCall{server: t, w: w, r: r, control: http.NewResponseController(w), form: formOf(r)}
	serve, refuse := c.serveJSON, c.refuseJSON
	switch {
	case c.form.connect:
		serve, refuse = c.serveConnect, c.endConnect
	case c.form.codec != nil:
		serve, refuse = c.serveGRPC, c.finish
	}
	switch {
	case !t.bridge.open.Load():
		refuse(stopping(t.bridge))
	case !t.bridge.serving.Begin():
		refuse(full(t.bridge))
	default:
		defer t.bridge.serving.End()
		serve()
	}
}

// mapping finds an interface. A caller that names no version means 1.0.0, as Java has it, or if it names no group either, any.
func (t *tripleServer) mapping(name string, h http.Header) *mapping {
	version, group := firstOf(h, headerVersion, "Rest-Service-Version"), firstOf(h, headerGroup, "Rest-Service-Group")
	if m := t.table.find(name, version, group); m != nil || version != "" && version != "*" {
		return m
	}
	if m := t.table.find(name, "1.0.0", group); m != nil || group != "" {
		return m
	}
	var least *mapping
	for k, m := range t.table {
		if k.name == name && (least == nil || k.version+"/"+k.group < least.version+"/"+least.group) {
			least = m
		}
	}
	return least
}

func firstOf(h http.Header, names ...string) string {
	for _, name := range names {
		if value := h.Get(name); value != "" {
			return value
		}
	}
	return ""
}

// methodName is the name of a method of the interface as a path has it. Those of Protocol Buffers begin with a capital, for which Java takes
// the method that begins with a small letter.
func (b *bridge) methodName(m *mapping, name string) string {
	if name == "" || b.hasMethod(m, name) {
		return name
	}
	if small := strings.ToLower(name[:1]) + name[1:]; b.hasMethod(m, small) {
		return small
	}
	return name
}

func (b *bridge) hasMethod(m *mapping, name string) bool {
	for _, one := range m.methods {
		if one.name == name {
			return true
		}
	}
	return m.methods == nil && b.served(m, m.service+"."+name) != nil
}

// only is the action that is the one method of a name; nil for overloads, and for none.
func (b *bridge) only(m *mapping, name string) *sabir.Action {
	if m.methods == nil {
		return b.served(m, m.service+"."+name)
	}
	var found *method
	for _, one := range m.methods {
		if one.name == name && found != nil {
			return nil
		}
		if one.name == name {
			found = one
		}
	}
	if found == nil {
		return nil
	}
	return b.served(m, found.action)
}
