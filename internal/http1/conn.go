package http1

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/web/exchange"
)

// phase is the state of a connection. Together with the tick by which it must end it makes one word, which the connection's
// goroutine and the watchdog both change by compare-and-swap: the one that succeeds owns what follows.
type phase uint64

const (
	idle          phase = iota // waits for the first byte of a request
	head                       // reads the rest of a head
	body                       // reads the rest of a body
	serving                    // the handler runs
	servingBehind              // the handler runs, and earlier responses wait to be written
	flushing                   // as servingBehind, while the watchdog writes those responses
	writing                    // between the handler and the last byte of its response
	lingers                    // everything is written; waits for the client to close
	late                       // the handler exceeded its limit: the watchdog responds, and owns the connection
	ended                      // the watchdog has closed the socket
	handedOver                 // net/http has the connection
)

const phaseBits = 4

func phaseOf(state uint64) phase { return phase(state & (1<<phaseBits - 1)) }

// deadlineOf returns the tick by which the phase must end; 0 for none.
func deadlineOf(state uint64) uint64 { return state >> phaseBits }

// conn is one connection. The fields belong to the goroutine of run, except where noted otherwise.
type conn struct {
	server      *Server
	socket      net.Conn // as it was accepted
	net         net.Conn // the same, or TLS over it
	tls         *tls.ConnectionState
	remote      netip.AddrPort
	connContext connContext
	state       atomic.Uint64

	raw      syscall.RawConn // nil if reads go through net
	readable func(uintptr) bool
	work     *work // nil while idle, if raw is set: an idle connection holds no buffers
	into     []byte
	n        int
	served   bool // a request was answered
	skips    int  // empty lines that may come before the next

	flushLock sync.Mutex  // held during the phase flushing
	freed     atomic.Bool // the server no longer lists it
	index     int         // in Server.conns; guarded by Server.mu
	uncount   func()      // see Config.Admit; nil for nothing to do

	account *memory.Account // nil until something is counted
	window  *memory.Window  // of answers; nil until one is long
	held    int             // counted for the body

	whileGone atomic.Pointer[func()] // see WhileGone; nil for none

	restsSince atomic.Uint64 // the tick since which net/http waits for the next request; 0 while it does not

	// The watchdog's.
	seen      uint64          // the state at the last tick
	watched   syscall.RawConn // used to see whether the client has closed; nil if that is not possible
	closeSeen bool
}

func (s *Server) newConn(socket net.Conn) *conn {
	c := &conn{server: s, socket: socket, net: socket}
	if a, ok := socket.RemoteAddr().(*net.TCPAddr); ok {
		at := a.AddrPort()
		c.remote = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	}
	if sc, ok := socket.(syscall.Conn); ok {
		c.watched, _ = sc.SyscallConn()
	}
	if s.tls != nil {
		c.net = tls.Server(&tracked{Conn: socket, of: c}, s.tls)
	} else if canReadRaw {
		if c.raw = c.watched; c.raw != nil {
			c.readable = c.tryRead
		}
	}
	c.enter(idle, s.ticks.head)
	return c
}

// enter begins a phase that may last the number of ticks.
func (c *conn) enter(p phase, ticks uint64) { c.state.Store(c.stateFor(p, ticks)) }

func (c *conn) stateFor(p phase, ticks uint64) uint64 {
	return (c.server.now.Load()+ticks)<<phaseBits | uint64(p)
}

// run serves the connection until it ends or is handed over.
func (c *conn) run() {
	defer c.finish()
	if c.server.tls != nil && !c.handshake() {
		return
	}
	c.serve()
}

// serve answers requests until the connection ends.
func (c *conn) serve() {
	for c.fill() && c.wake() && c.serveRequests() {
	}
}

// wake ends the wait for a request. It returns false if Shutdown or the watchdog has closed the connection meanwhile: the
// request is not handled then, because the client would not get the response.
func (c *conn) wake() bool {
	state := c.state.Load()
	if phaseOf(state) != idle {
		return phaseOf(state) != ended
	}
	return c.state.CompareAndSwap(state, c.stateFor(head, c.server.ticks.head))
}

// handshake makes the TLS handshake. It hands HTTP/2 over to net/http.
func (c *conn) handshake() bool {
	over := c.net.(*tls.Conn)
	if err := httpstrict.Handshake(over); err != nil {
		c.server.log.Debug("http TLS handshake failed", "from", c.socket.RemoteAddr().String(), "error", err)
		return false
	}
	state := over.ConnectionState()
	c.tls = &state
	if state.NegotiatedProtocol == "h2" {
		c.handOver()
		return false
	}
	c.enter(idle, c.server.ticks.head)
	return true
}

// begin takes buffers for the connection.
func (c *conn) begin() {
	w := takeWork()
	w.x.Context, w.x.Remote, w.x.TLS = &c.connContext, c.remote, c.tls
	c.work, c.into = w, w.in
}

// spare reports whether the connection needs no buffers while it waits.
func (c *conn) spare() bool { return c.work.end == 0 && phaseOf(c.state.Load()) == idle }

// release gives the buffers back.
func (c *conn) release() {
	c.work.put()
	c.work, c.into = nil, nil
}

func (c *conn) readPlain() int {
	if c.work == nil {
		c.begin()
	}
	n, _ := c.net.Read(c.into)
	return n
}

// fill waits for more bytes. It returns false at the end of the connection.
func (c *conn) fill() bool {
	for {
		if c.work != nil {
			c.into = c.work.readSpace()
		}
		n := c.read()
		if n <= 0 {
			return false
		}
		w := c.work
		w.end += n
		if !w.unlined || w.end >= maxHead || bytes.IndexByte(w.in[w.end-n:w.end], '\n') >= 0 {
			return true
		}
	}
}

// serveRequests handles the requests that were read, in their order, and writes their responses at once. It returns false if
// the connection has ended.
func (c *conn) serveRequests() bool {
	w, s := c.work, c.server
	var asked waiting
	for c.skip() {
		x := &w.x
		w.next()
		size, v := parse(w.in[w.start:w.end], x)
		if v == partial && w.end-w.start < maxHead {
			break
		}
		if v != whole || size > maxHead || !s.handler.Take(x) {
			c.handOver()
			return false
		}
		if s.crowded() && c.waited(x, &asked) {
			return false
		}
		w.request = requestLine{x.Method, x.Path, x.Query, x.Host, x.ID, x.Route}
		goesOn := c.readBody(size) && c.call() && c.respond()
		c.giveBody()
		if !goesOn {
			return false
		}
	}
	if !c.flush() {
		return false
	}
	w.compact()
	w.unlined = w.end > 0
	if w.end == 0 {
		c.enter(idle, s.ticks.idle)
	} else if phaseOf(c.state.Load()) != head {
		c.enter(head, s.ticks.head)
	}
	return true
}

// waiting is for how long what was read had waited, and when that was asked.
type waiting struct {
	at     time.Time
	lasted time.Duration
}

// askAgain is the time after which the system is asked again how long requests have waited. Of pipelined ones each took a system call before.
const askAgain = time.Millisecond

// waited notes for how long the request has waited to be read, and reports whether the client has closed its side meanwhile. What was asked for a request that
// came with this one counts.
func (c *conn) waited(x *exchange.Exchange, asked *waiting) (gone bool) {
	if c.watched == nil {
		return false
	}
	now := time.Now()
	if since := now.Sub(asked.at); since < askAgain {
		x.Waited = asked.lasted + since
		return false
	}
	c.watched.Control(func(fd uintptr) { x.Waited, gone = unread(fd) })
	*asked = waiting{now, x.Waited}
	return gone
}

// respond buffers the response of the call that has ended. It returns false if the connection has ended with it.
func (c *conn) respond() bool {
	last := c.work.start == c.work.end && c.server.isLast()
	if !c.bufferResponse(last) {
		return false
	}
	if last && c.flush() {
		c.enter(lingers, c.server.ticks.write)
		_ = httpstrict.Linger(c.net)
	}
	return !last
}

// skip skips up to two empty lines behind a POST, which some clients send there. net/http does the same, and RFC 9112, section
// 2.2, allows it. It reports whether what is left may be the beginning of a request, and not half an empty line.
func (c *conn) skip() bool {
	w := c.work
	for ; c.skips > 0 && bytes.HasPrefix(w.in[w.start:w.end], crlf); c.skips-- {
		w.start += len(crlf)
	}
	return w.start < w.end && (c.skips == 0 || w.end-w.start > 1 || w.in[w.start] != '\r')
}

var crlf = []byte("\r\n")

// call runs the handler. It returns false if the watchdog has responded instead: then the connection and its buffers no longer
// belong to this goroutine.
func (c *conn) call() bool {
	w, s := c.work, c.server
	c.served, c.skips = true, 0
	if w.x.Method == "POST" {
		c.skips = 2
	}
	if s.abandoned.Load() >= int64(s.limits.Abandoned) {
		s.handler.Busy(&w.x)
		return true
	}
	ticks := s.ticks.call
	if w.x.Limit > 0 {
		ticks = s.inTicks(w.x.Limit)
	}
	p := serving
	if len(w.out) > 0 {
		p = servingBehind
		if s.now.Load() != w.since { // many calls that are not long alone
			if p = serving; !c.flush() {
				return false
			}
		}
	}
	c.enter(p, ticks)
	s.handler.Serve(&w.x)
	return c.leave()
}

// leave ends a call, unless the watchdog has responded.
func (c *conn) leave() bool {
	next := c.stateFor(writing, c.server.ticks.write)
	for {
		state := c.state.Load()
		switch phaseOf(state) {
		case late:
			return false
		case flushing:
			c.flushLock.Lock() // until the earlier answers are written
			c.flushLock.Unlock()
		default:
			if c.state.CompareAndSwap(state, next) {
				return true
			}
		}
	}
}

// bufferResponse appends the response to those that wait, and writes them if there are many.
func (c *conn) bufferResponse(last bool) bool {
	w := c.work
	if len(w.out) == 0 {
		w.since = c.server.now.Load()
	}
	var rest []byte
	w.out, rest = c.server.appendResponse(w.out, &w.x, last)
	if rest != nil {
		return c.flush() && c.writeLong(rest)
	}
	if len(w.out) >= maxOut {
		return c.flush()
	}
	return true
}

// flush writes the responses that wait.
func (c *conn) flush() bool {
	w := c.work
	if len(w.out) == 0 {
		return true
	}
	ok := c.writeLong(w.out)
	w.out = w.out[:0]
	return ok
}

func (c *conn) write(p []byte) bool {
	c.enter(writing, c.server.ticks.write)
	_, err := c.net.Write(p)
	return err == nil
}

// finish ends the connection's goroutine. It is deferred, so it also runs after a panic or runtime.Goexit in a handler.
func (c *conn) finish() {
	p := recover()
	c.giveBody()
	if p != nil && p != http.ErrAbortHandler {
		c.server.log.Error("http handler panicked", "panic", fmt.Sprint(p), "stack", string(bytes.TrimSpace(debug.Stack())))
	}
	switch phaseOf(c.state.Load()) {
	case handedOver:
		return
	case serving, servingBehind, flushing, late: // the handler was late, or did not return
		if !c.leave() {
			c.server.abandoned.Add(-1)
			return
		}
		if p != http.ErrAbortHandler {
			go c.continueAfterExit()
			return
		}
		c.flush()    // the earlier requests have their answers
		c.work = nil // other code may still hold it
	}
	if c.work != nil {
		c.release()
	}
	c.close()
}

// continueAfterExit serves the connection on a new goroutine after a handler has ended the old one: it responds in the
// handler's place and goes on. The old buffers are not reused, since goroutines that the handler started may still hold them.
func (c *conn) continueAfterExit() {
	defer c.finish()
	old := c.work
	c.begin()
	w := c.work
	if rest := old.in[old.start:old.end]; len(rest) > 0 {
		if len(rest) > len(w.in) {
			w.in = make([]byte, len(old.in))
		}
		w.end = copy(w.in, rest)
	}
	w.out, w.since, w.request = append(w.out, old.out...), old.since, old.request
	c.server.handler.Failed(&old.x)
	w.x.Path, w.x.ID = old.x.Path, old.x.ID // for the log
	w.x.Status, w.x.Type, w.x.Out, w.x.Answer = old.x.Status, old.x.Type, old.x.Out, old.x.Answer
	if c.respond() && c.serveRequests() {
		c.serve()
	}
}

// close ends the connection.
func (c *conn) close() {
	c.net.Close()
	c.server.free(c)
}

// handOver gives the connection to net/http, with the bytes that were not handled.
func (c *conn) handOver() {
	var prefix []byte
	if w := c.work; w != nil {
		if c.served && bytes.HasPrefix(w.in[w.start:w.end], []byte(preface)) {
			// As the beginning of a connection net/http would take it for HTTP/2, but this one already speaks HTTP/1.1.
			w.out = append(w.out, "HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"...)
			c.flush()
			return
		}
		if !c.flush() {
			return
		}
		prefix = bytes.Clone(w.in[w.start:w.end])
		c.release()
	}
	if t, ok := c.socket.(*net.TCPConn); ok { // here no time limit of the watchdog ends what lasts, such as a stream
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true})
	}
	c.state.Store(uint64(handedOver))
	c.server.handovers.give(c.asNetHTTP(prefix))
}
