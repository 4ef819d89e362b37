package http1

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/accept"
	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/web/exchange"
)

// Handler answers the requests that the server reads itself. Its methods are called by many goroutines at once.
type Handler interface {
	// Take decides whether Serve may answer the request. It is called as soon as the head was read: x.Body is not there yet,
	// x.Length is its size, from 0 to 64 KiB. It may set x.Route, x.Params, x.ID, x.Limit, and whatever Serve is to find.
	// false gives the connection to net/http, with this request still unread. It should be quick: no time limit holds for it.
	Take(x *exchange.Exchange) bool
	// Serve answers: it sets x.Status, x.Type, x.Answer and x.Out. It runs on the connection's goroutine and may block. Here and
	// in Take x is Borrowed: what keeps its strings calls x.Keep before. Where Serve panics, which is logged, or ends its goroutine
	// (runtime.Goexit), Failed completes the answer and the connection goes on; a panic with http.ErrAbortHandler closes it.
	Serve(x *exchange.Exchange)
	// Failed makes x an answer after a Serve that did not return, usually one with status 500. x is as Serve left it. Failed
	// should be quick and must not run what made Serve fail.
	Failed(x *exchange.Exchange)
	// Late answers in place of a Serve that runs on past x.Limit or Limits.CallTime, usually with status 504. x is another
	// exchange than Serve's: it has the method, the path, the query, the host, and the id and the route that Take set. The
	// connection is closed then. Serve's context has ended with context.DeadlineExceeded.
	Late(x *exchange.Exchange)
	// Full answers in place of Serve when there is no space for the body of the request, see Config.Memory, usually with status 503. The
	// connection is closed then, since the body is unread.
	Full(x *exchange.Exchange)
	// Busy answers in place of Serve when Limits.Abandoned handlers run on after their callers had Late's answer, usually
	// with status 503.
	Busy(x *exchange.Exchange)
}

// Limits bounds what callers can make a server hold or wait for. A zero field stands for the default.
type Limits struct {
	Connections int // open at once; further ones wait in the system's backlog, and connections between two requests are closed for them. Default 10,000.
	Abandoned   int // handlers that run on after Late answered for them. Default 1,000.

	// Times are kept to 100 ms: none ends early, and none more than 200 ms late.
	HeadTime  time.Duration // from the first byte of a request, or its connection, to the end of its head. Default 5 s.
	BodyTime  time.Duration // from the end of the head to the end of the body. Default 30 s.
	CallTime  time.Duration // that a call may take if its x.Limit is 0. Default 30 s.
	WriteTime time.Duration // of one write of answers; a client that does not read them in that time is cut off. Default 90 s.
	IdleTime  time.Duration // between two requests of a connection. Default 2 min.

	Drain time.Duration // that Shutdown goes on answering on open connections, at the most. Default 250 ms.
	Quiet time.Duration // without a request, after which they have all learned that it stops. Default 30 ms.
}

func (l *Limits) setDefaults() {
	l.Connections = cmp.Or(l.Connections, 10_000)
	l.Abandoned = cmp.Or(l.Abandoned, 1000)
	l.HeadTime = cmp.Or(l.HeadTime, 5*time.Second)
	l.BodyTime = cmp.Or(l.BodyTime, 30*time.Second)
	l.CallTime = cmp.Or(l.CallTime, 30*time.Second)
	l.WriteTime = cmp.Or(l.WriteTime, 90*time.Second)
	l.IdleTime = cmp.Or(l.IdleTime, 2*time.Minute)
	l.Drain = cmp.Or(l.Drain, 250*time.Millisecond)
	l.Quiet = cmp.Or(l.Quiet, 30*time.Millisecond)
}

// Config is the configuration of a server.
type Config struct {
	// Handler must be set.
	Handler Handler
	// Fallback serves the connections that are handed over. It belongs to the server from then on, which wraps its handler
	// to count requests, sets its protocols to HTTP/1, HTTP/2 and unencrypted HTTP/2 where they are nil, and its times and its
	// log where they are zero. nil answers 501 to everything.
	Fallback *http.Server
	// TLS turns it on. Where it names no protocols (NextProtos), the server sets those of Fallback.
	TLS    *tls.Config
	Limits Limits
	// Crowded reports whether more requests come than can be answered. The clients of those that are read then may have gone long
	// ago: a request whose client has closed its side is not handled, and its connection is closed. nil is for never.
	Crowded func() bool
	// Admit, if not nil, is asked for each connection with its other end's address. leave is called once when it has ended.
	// Where it is not ok, the connection is answered with 429, over TLS just closed. It must be quick.
	Admit func(netip.Addr) (leave func(), ok bool)
	// Memory bounds the bytes of bodies, and of answers that clients are slow to read: those who have read nothing for a second are cut off
	// while it has no more space. nil is for no bound. Requests that are handed over have the account of their connection in their
	// contexts.
	Memory *memory.Budget
	// Log gets panics and answers that cannot be written as errors and warnings, and what peers do wrong on level debug.
	// nil is for none.
	Log *slog.Logger
}

// Server answers small HTTP/1.1 requests itself and leaves the rest to net/http. Its own are those with
//
//   - the method GET, POST, PUT, PATCH or DELETE, a path with or without a query, of the characters of RFC 3986
//     (a query may have all that are visible, except "#"), and the version HTTP/1.1;
//   - lines that end with CR LF, in a head of up to 16 KiB and 64 headers;
//   - headers whose names are tokens and whose values have no control bytes except tabs, none of them folded;
//   - exactly one Host, of letters, digits and "-._~:[]"; Connection not at all or once as "keep-alive"; Content-Length
//     not at all or once as up to seven digits, of 64 KiB at the most;
//   - no Transfer-Encoding, Trailer, Upgrade or Expect;
//
// that the Handler takes. With the first other one a connection goes to net/http and stays there. Requests of a form that can be
// read in two ways reach no handler: docs/http-server.md has the list.
//
// The answers carry Content-Type, Content-Length, Date, X-Content-Type-Options, X-Request-Id if x.ID is set, and the headers
// of x.Answer. A header that is no header line, or is the server's, is left out and logged.
type Server struct {
	handler  Handler
	fallback *http.Server
	tls      *tls.Config
	limits   Limits
	crowded  func() bool
	admit    func(netip.Addr) (leave func(), ok bool) // nil for all
	memory   *memory.Budget
	log      *slog.Logger

	tick  time.Duration
	now   atomic.Uint64 // the tick
	ticks struct{ head, body, call, write, idle uint64 }
	fixed atomic.Pointer[string]

	abandoned     atomic.Int64 // handlers
	fallbackCalls atomic.Int64 // requests that net/http handles now
	stopping      atomic.Bool
	lastRequests  atomic.Int64 // requests while stopping
	refused       atomic.Int64 // requests that were refused for their form

	connTokens   chan struct{} // one token for each open connection
	turningDown  chan struct{} // one token for each connection that is being answered with 429
	stopped      chan struct{} // closed when no more connections are accepted
	stopWatchdog chan struct{} // closed to end the watchdog
	watchdogDone chan struct{} // closed when the watchdog has ended
	fallbackDone chan struct{} // closed when the fallback server has ended
	handovers    *handovers

	mu        sync.Mutex
	conns     []*conn
	listeners []net.Listener
	started   bool
	closed    bool

	// The watchdog's.
	second   int64 // of the date in fixed
	gone     bool
	lookGone func(fd uintptr)
}

// NewServer makes a server that does not serve yet.
func NewServer(config Config) *Server {
	s := &Server{handler: config.Handler, fallback: config.Fallback, limits: config.Limits, crowded: config.Crowded, admit: config.Admit, memory: config.Memory, log: config.Log, tick: tick,
		stopped: make(chan struct{}), stopWatchdog: make(chan struct{}), watchdogDone: make(chan struct{}), fallbackDone: make(chan struct{}), handovers: newHandovers()}
	if s.crowded == nil {
		s.crowded = func() bool { return false }
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.limits.setDefaults()
	s.setTicks()
	s.connTokens = make(chan struct{}, s.limits.Connections)
	s.turningDown = make(chan struct{}, maxTurningDown)
	s.setFixed(time.Now())
	s.lookGone = func(fd uintptr) { s.gone = callerGone(fd) }
	if s.fallback == nil {
		s.fallback = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "this server answers only plain HTTP/1.1 requests", http.StatusNotImplemented)
		})}
	}
	s.setFallback()
	if config.TLS != nil {
		s.tls = config.TLS.Clone()
		if len(s.tls.NextProtos) == 0 {
			if s.fallback.Protocols.HTTP2() {
				s.tls.NextProtos = append(s.tls.NextProtos, "h2")
			}
			s.tls.NextProtos = append(s.tls.NextProtos, "http/1.1")
		}
	}
	return s
}

func (s *Server) setFallback() {
	f := s.fallback
	if f.Handler == nil {
		f.Handler = http.DefaultServeMux
	}
	f.Handler = &countingHandler{s, f.Handler}
	own := f.ConnContext
	f.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if own != nil {
			ctx = own(ctx, c)
		}
		if s.memory != nil {
			ctx = memory.WithAccount(ctx, s.memory.Connection())
		}
		return withConn(ctx, c)
	}
	changed := f.ConnState
	f.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateHijacked {
			httpstrict.ChangeProtocol(c)
		}
		if own := handed(c); own != nil {
			own.noteState(state)
		}
		if changed != nil {
			changed(c, state)
		}
	}
	if f.Protocols == nil {
		f.Protocols = new(http.Protocols)
		f.Protocols.SetHTTP1(true)
		f.Protocols.SetHTTP2(true)
		f.Protocols.SetUnencryptedHTTP2(true)
	}
	f.ReadHeaderTimeout = cmp.Or(f.ReadHeaderTimeout, s.limits.HeadTime)
	f.ReadTimeout = cmp.Or(f.ReadTimeout, s.limits.BodyTime)
	f.WriteTimeout = cmp.Or(f.WriteTimeout, s.limits.WriteTime)
	f.IdleTimeout = cmp.Or(f.IdleTimeout, s.limits.IdleTime)
	if f.ErrorLog == nil {
		f.ErrorLog = slog.NewLogLogger(s.log.Handler(), slog.LevelDebug) // what peers do wrong
	}
}

func (s *Server) setTicks() {
	t, l := &s.ticks, &s.limits
	t.head, t.body, t.call, t.write, t.idle = s.inTicks(l.HeadTime), s.inTicks(l.BodyTime), s.inTicks(l.CallTime), s.inTicks(l.WriteTime), s.inTicks(l.IdleTime)
}

// inTicks is the number of ticks that cover d, whenever in a tick it begins.
func (s *Server) inTicks(d time.Duration) uint64 { return uint64((d + s.tick - 1) / s.tick) }

// Serve accepts connections from l and serves them until Shutdown or Close, and returns [http.ErrServerClosed] then. It may be
// called for several listeners. It closes l.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	if !s.begin(l) {
		return http.ErrServerClosed
	}
	failures := accept.NewFailures(s.log, l.Addr().String(), "clients of HTTP")
	for {
		select {
		case s.connTokens <- struct{}{}:
		case <-s.stopped:
			return http.ErrServerClosed
		}
		socket, err := l.Accept()
		if err == nil {
			failures.Accepted()
			s.take(socket)
			continue
		}
		<-s.connTokens
		if s.stopping.Load() {
			return http.ErrServerClosed
		}
		if !accept.Passing(err) {
			return err
		}
		failures.Pause(err, s.stopped)
	}
}

// begin registers the listener, and starts what all share.
func (s *Server) begin(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Load() {
		return false
	}
	s.listeners = append(s.listeners, l)
	if !s.started {
		s.started = true
		go s.watch()
		go func() {
			defer close(s.fallbackDone)
			if err := s.fallback.Serve(s.handovers); !errors.Is(err, http.ErrServerClosed) && !s.stopping.Load() {
				s.log.Error("http takes over no more connections", "error", err)
			}
			s.handovers.Close()
		}()
	}
	return true
}

// take starts to serve a connection.
func (s *Server) take(socket net.Conn) {
	c := s.newConn(socket)
	if s.admit != nil {
		var ok bool
		if c.uncount, ok = s.admit(c.remote.Addr()); !ok {
			s.turnDown(socket)
			return
		}
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		socket.Close()
		<-s.connTokens
		if c.uncount != nil {
			c.uncount()
		}
		return
	}
	c.index = len(s.conns)
	s.conns = append(s.conns, c)
	s.mu.Unlock()
	go c.run()
}

// free removes a closed connection from the server.
func (s *Server) free(c *conn) {
	if !c.freed.CompareAndSwap(false, true) {
		return
	}
	s.mu.Lock()
	last := len(s.conns) - 1
	s.conns[c.index] = s.conns[last]
	s.conns[c.index].index = c.index
	s.conns[last] = nil
	s.conns = s.conns[:last]
	s.mu.Unlock()
	<-s.connTokens
	if c.uncount != nil {
		c.uncount()
	}
	c.window.Close()
	c.connContext.end(context.Canceled)
}

// Connections is the number of open connections, those that were handed over included.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Abandoned is the number of handlers that run on after Late answered for them.
func (s *Server) Abandoned() int { return int(s.abandoned.Load()) }

// Calls is the number of requests that are being answered, those that net/http has included.
func (s *Server) Calls() int {
	calls := int(s.fallbackCalls.Load())
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		switch phaseOf(c.state.Load()) {
		case body, serving, servingBehind, flushing, writing, late:
			calls++
		}
	}
	return calls
}

// Refused is the number of requests so far whose form RFC 9112 does not allow, or lets a server refuse.
func (s *Server) Refused() int64 { return s.refused.Load() }

// isLast counts a request, and reports whether its connection is to end with it.
func (s *Server) isLast() bool {
	if !s.stopping.Load() {
		return false
	}
	s.lastRequests.Add(1)
	return true
}

var _ io.Closer = (*Server)(nil)
