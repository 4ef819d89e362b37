package http1

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/web/exchange"
)

// tick is the interval of the watchdog: the precision of all times here. They never end early, and up to two ticks late.
const tick = 100 * time.Millisecond

// watch counts ticks and ends at each what has exceeded its time. Ticks are counted, not read from a clock, so that the time
// limits of all calls stand still when the machine does.
func (s *Server) watch() {
	defer close(s.watchdogDone)
	clock := time.NewTicker(s.tick)
	defer clock.Stop()
	for {
		select {
		case now := <-clock.C:
			s.now.Add(1)
			s.setFixed(now)
			s.look()
			s.makeSpace()
		case <-s.stopWatchdog:
			return
		}
	}
}

// setFixed makes the lines that have the date, if it is another.
func (s *Server) setFixed(now time.Time) {
	if second := now.Unix(); second != s.second {
		s.second = second
		lines := fixedLines(now)
		s.fixed.Store(&lines)
	}
}

// look checks all connections, a part at a time, so that others can come and go meanwhile. A connection that moves in the list
// is checked at the next tick.
func (s *Server) look() {
	var part [256]*conn
	for from := 0; ; from += len(part) {
		s.mu.Lock()
		n := copy(part[:], s.conns[min(from, len(s.conns)):])
		s.mu.Unlock()
		for _, c := range part[:n] {
			c.look()
		}
		if n < len(part) {
			return
		}
	}
}

// look is the watchdog's check of one connection.
func (c *conn) look() {
	s := c.server
	state := c.state.Load()
	p, deadline := phaseOf(state), deadlineOf(state)
	calling := p == serving || p == servingBehind
	switch {
	case p == handedOver:
		c.lookHanded()
	case p == late || p == ended:
	case s.now.Load() <= deadline:
		if calling && state == c.seen {
			c.lookLong(state)
		}
	case calling:
		if c.state.CompareAndSwap(state, uint64(late)) {
			s.abandoned.Add(1)
			go c.respondLate()
		}
	case p == flushing:
		c.socket.Close() // so that the write ends
		c.connContext.end(context.Canceled)
	default:
		if c.state.CompareAndSwap(state, uint64(ended)) {
			c.socket.Close()
		}
	}
	c.seen = state
}

// lookLong checks a connection whose handler has run for more than a tick: responses that wait behind it are written, and if
// the client has gone, the context ends.
func (c *conn) lookLong(state uint64) {
	if phaseOf(state) == servingBehind {
		go c.flushBehind(state)
	}
	if c.closeSeen || c.watched == nil {
		return
	}
	c.server.gone = false
	c.watched.Control(c.server.lookGone)
	if c.server.gone {
		c.closeSeen = true
		c.connContext.end(context.Canceled)
	}
}

// flushBehind writes the responses that wait for a running call.
func (c *conn) flushBehind(state uint64) {
	c.flushLock.Lock()
	defer c.flushLock.Unlock()
	if !c.state.CompareAndSwap(state, c.stateFor(flushing, c.server.ticks.write)) {
		return
	}
	c.net.Write(c.work.out) // an error comes again with the next write
	c.work.out = c.work.out[:0]
	c.state.Store(state&^(1<<phaseBits-1) | uint64(serving))
}

// respondLate answers in place of a handler, which keeps its exchange and its buffers for as long as it likes.
func (c *conn) respondLate() {
	defer c.close()
	defer func() {
		if v := recover(); v != nil {
			c.server.log.Error("http handler panicked over a late answer", "panic", fmt.Sprint(v), "stack", string(bytes.TrimSpace(debug.Stack())))
		}
	}()
	s, w := c.server, c.work
	c.connContext.end(context.DeadlineExceeded)
	a := &w.request
	x := &exchange.Exchange{Context: &c.connContext, Method: a.method, Path: a.path, Query: a.query, Host: a.host, ID: a.id, Route: a.route,
		Remote: c.remote, TLS: c.tls}
	s.handler.Late(x)
	out, rest := s.appendResponse(w.out, x, true)
	c.socket.SetWriteDeadline(time.Now().Add(s.limits.WriteTime))
	for _, p := range [][]byte{out, rest} {
		if _, err := c.net.Write(p); err != nil {
			return
		}
	}
	_ = httpstrict.Linger(c.net)
}
