package http1

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// phase is what a connection does. Together with the tick by which that must end it makes one word, which the connection's
// goroutine and the watchdog both change.
type phase uint64

const (
	idle    phase = iota // waits for the first byte of a request
	head                 // for the rest of a head
	body                 // for the rest of a body
	serving              // its handler runs
	holding              // the same, with answers to earlier requests that were not written yet
	lent                 // the same, while the watchdog's side writes them
	writing              // between the handler and the last byte of its answer
	lingers              // all is said; waits for the other end to close
	late                 // its handler took too long: the watchdog's side answers, and owns the connection
	ended                // the watchdog has closed the socket
	handed               // net/http has it
)

const phaseBits = 4

func phaseOf(state uint64) phase { return phase(state & (1<<phaseBits - 1)) }

// deadlineOf is the tick by which the phase must end; 0 for never.
func deadlineOf(state uint64) uint64 { return state >> phaseBits }

// conn is one connection. Its goroutine is run; the fields are that goroutine's, except where they say otherwise.
type conn struct {
	server *Server
	socket net.Conn // as it was accepted
	net    net.Conn // the same, or TLS over it
	tls    *tls.ConnectionState
	remote netip.AddrPort
	life   life
	state  atomic.Uint64

	raw      syscall.RawConn // nil where reads go through net
	readable func(uintptr) bool
	work     *work // nil while idle, where raw is set
	into     []byte
	n        int
	answered bool // a request
	skips    int  // bytes of empty lines that may come before the next

	lending sync.Mutex  // held while the phase is lent
	freed   atomic.Bool // it was taken off the server
	place   int         // in the server's list; under the server's lock

	// The watchdog's.
	seen     uint64          // the state at the last tick
	looked   syscall.RawConn // nil where it cannot be looked at
	goneSeen bool
}

func (s *Server) newConn(socket net.Conn) *conn {
	c := &conn{server: s, socket: socket, net: socket}
	if a, ok := socket.RemoteAddr().(*net.TCPAddr); ok {
		at := a.AddrPort()
		c.remote = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	}
	if sc, ok := socket.(syscall.Conn); ok {
		c.looked, _ = sc.SyscallConn()
	}
	if s.tls != nil {
		c.net = tls.Server(&tracked{socket, c}, s.tls)
	} else if canReadRaw {
		if c.raw = c.looked; c.raw != nil {
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
	for c.fill() && c.wake() && c.answer() {
	}
}

// wake ends the wait for a request. It returns false where Shutdown, or the clock, closed the connection meanwhile: what was
// asked is not done then, since nobody would get the answer.
func (c *conn) wake() bool {
	state := c.state.Load()
	if phaseOf(state) != idle {
		return phaseOf(state) != ended
	}
	return c.state.CompareAndSwap(state, c.stateFor(head, c.server.ticks.head))
}

// handshake makes the TLS connection. HTTP/2 goes on to net/http.
func (c *conn) handshake() bool {
	over := c.net.(*tls.Conn)
	if err := over.Handshake(); err != nil {
		if wrong, ok := errors.AsType[tls.RecordHeaderError](err); ok && wrong.Conn != nil && looksLikeHTTP(wrong.RecordHeader) {
			io.WriteString(wrong.Conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 44\r\nConnection: close\r\n\r\nthis port speaks HTTPS: the request was HTTP")
		}
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

// looksLikeHTTP tells whether what came in place of a TLS record is a request, to the first bytes.
func looksLikeHTTP(b [5]byte) bool {
	switch string(b[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO":
		return true
	}
	return false
}

// begin gives the connection work.
func (c *conn) begin() {
	w := takeWork()
	w.x.Context, w.x.Remote, w.x.TLS = &c.life, c.remote, c.tls
	c.work, c.into = w, w.in
}

// spare tells whether the connection has no use for its work while it waits.
func (c *conn) spare() bool { return c.work.end == 0 && phaseOf(c.state.Load()) == idle }

// release gives the work back.
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

// fill waits for more bytes of requests. It returns false at the end of the connection.
func (c *conn) fill() bool {
	for {
		if c.work != nil {
			c.into = c.work.room()
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

// answer answers the requests that were read, in their order, and writes what there is to say at once. It returns false
// when the connection ended.
func (c *conn) answer() bool {
	w, s := c.work, c.server
	for c.skip(); w.start < w.end; c.skip() {
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
		w.asked = asked{x.Method, x.Path, x.Query, x.Host, x.ID, x.Route}
		if !c.readBody(size) || !c.call() {
			return false
		}
		last := w.start == w.end && s.isLast()
		if !c.hold(last) {
			return false
		}
		if last {
			if c.flush() {
				c.enter(lingers, s.ticks.write)
				c.linger()
			}
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

// skip leaves out up to four bytes of empty lines behind a POST, where some clients send them, as net/http does: RFC 9112,
// section 2.2, allows it.
func (c *conn) skip() {
	for w := c.work; c.skips > 0 && w.start < w.end && (w.in[w.start] == '\r' || w.in[w.start] == '\n'); c.skips-- {
		w.start++
	}
}

// call lets the handler answer. It returns false if that took too long: then the connection and its work are no more this
// goroutine's.
func (c *conn) call() bool {
	w, s := c.work, c.server
	c.answered, c.skips = true, 0
	if w.x.Method == "POST" {
		c.skips = 4
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
		p = holding
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

// leave ends a call, unless the watchdog did.
func (c *conn) leave() bool {
	next := c.stateFor(writing, c.server.ticks.write)
	for {
		state := c.state.Load()
		switch phaseOf(state) {
		case late:
			return false
		case lent:
			c.lending.Lock() // until the earlier answers are written
			c.lending.Unlock()
		default:
			if c.state.CompareAndSwap(state, next) {
				return true
			}
		}
	}
}

// hold adds the exchange's answer to those that are to be written, and writes them if they are many.
func (c *conn) hold(last bool) bool {
	w := c.work
	if len(w.out) == 0 {
		w.since = c.server.now.Load()
	}
	var rest []byte
	w.out, rest = c.server.appendAnswer(w.out, &w.x, last)
	if rest != nil {
		return c.flush() && c.write(rest)
	}
	if len(w.out) >= maxOut {
		return c.flush()
	}
	return true
}

// flush writes the answers that are there.
func (c *conn) flush() bool {
	w := c.work
	if len(w.out) == 0 {
		return true
	}
	ok := c.write(w.out)
	w.out = w.out[:0]
	return ok
}

func (c *conn) write(p []byte) bool {
	c.enter(writing, c.server.ticks.write)
	_, err := c.net.Write(p)
	return err == nil
}

// The bounds of lingering: what the other end may still send after the last answer, and for how long.
const (
	lingerBytes = 1 << 20
	lingerTime  = 500 * time.Millisecond
)

// linger says that all is said and reads on for a moment. A connection that is closed with unread bytes is reset, which can
// take the last answer away from the other end (RFC 9112, section 9.6).
func (c *conn) linger() {
	half, ok := c.net.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.net.SetReadDeadline(time.Now().Add(lingerTime))
	io.CopyN(io.Discard, c.net, lingerBytes)
}

// finish ends the connection's goroutine. It is deferred, and so comes after a handler's panic too.
func (c *conn) finish() {
	if v := recover(); v != nil {
		c.server.log.Error("http handler panicked: its connection is closed", "panic", fmt.Sprint(v), "stack", string(bytes.TrimSpace(debug.Stack())))
	}
	switch phaseOf(c.state.Load()) {
	case handed:
		return
	case serving, holding, lent, late: // the handler was late, or did not return: it panicked or ended the goroutine
		if !c.leave() {
			c.server.abandoned.Add(-1)
			return
		}
		c.flush()    // the earlier requests have their answers
		c.work = nil // who knows what else has it
	}
	if c.work != nil {
		c.release()
	}
	c.close()
}

// close ends the connection.
func (c *conn) close() {
	c.net.Close()
	c.server.free(c)
}

// handOver gives the connection to net/http, together with the bytes that were not answered.
func (c *conn) handOver() {
	var prefix []byte
	if w := c.work; w != nil {
		if c.answered && bytes.HasPrefix(w.in[w.start:w.end], []byte(preface)) {
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
	c.state.Store(uint64(handed))
	c.server.handovers.give(c.asNetHTTP(prefix))
}
