package http1

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/sabir-go/sabir/web/exchange"
)

// tick is how often the watchdog looks: the precision of all times here. They never end early, and up to two ticks late.
const tick = 100 * time.Millisecond

// watch counts the ticks, and at each ends what has run out of time. Ticks are counted and not read from a clock: when the
// machine stands still, the times of all calls do.
func (s *Server) watch() {
	defer close(s.watched)
	clock := time.NewTicker(s.tick)
	defer clock.Stop()
	for {
		select {
		case now := <-clock.C:
			s.now.Add(1)
			s.setFixed(now)
			s.look()
		case <-s.over:
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

// look looks at all connections, a part at a time, so that others can come and go meanwhile. One that moves in the list is
// looked at with the next tick.
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

// look is the watchdog's look at one connection.
func (c *conn) look() {
	s := c.server
	state := c.state.Load()
	p, deadline := phaseOf(state), deadlineOf(state)
	calling := p == serving || p == holding
	switch {
	case p == late || p == ended || p == handed:
	case s.now.Load() <= deadline:
		if calling && state == c.seen {
			c.lookLong(state)
		}
	case calling:
		if c.state.CompareAndSwap(state, uint64(late)) {
			s.abandoned.Add(1)
			go c.answerLate()
		}
	case p == lent:
		c.socket.Close() // so that the write ends
		c.life.end(context.Canceled)
	default:
		if c.state.CompareAndSwap(state, uint64(ended)) {
			c.socket.Close()
		}
	}
	c.seen = state
}

// lookLong looks at a connection whose handler has run for more than a tick: the answers that wait behind it go out, and
// if the caller has gone, the context ends.
func (c *conn) lookLong(state uint64) {
	if phaseOf(state) == holding {
		go c.lend(state)
	}
	if c.goneSeen || c.looked == nil {
		return
	}
	c.looked.Control(c.server.lookGone)
	if c.server.gone {
		c.goneSeen = true
		c.life.end(context.Canceled)
	}
}

// lend writes the answers that wait for a call, while it runs.
func (c *conn) lend(state uint64) {
	c.lending.Lock()
	defer c.lending.Unlock()
	if !c.state.CompareAndSwap(state, c.stateFor(lent, c.server.ticks.write)) {
		return
	}
	c.net.Write(c.work.out) // an error comes again with the next write
	c.work.out = c.work.out[:0]
	c.state.Store(state&^(1<<phaseBits-1) | uint64(serving))
}

// answerLate answers in place of a handler, which keeps its exchange and its buffers for as long as it likes.
func (c *conn) answerLate() {
	defer c.close()
	defer func() {
		if v := recover(); v != nil {
			c.server.log.Error("http handler panicked over a late answer", "panic", fmt.Sprint(v), "stack", string(bytes.TrimSpace(debug.Stack())))
		}
	}()
	s, w := c.server, c.work
	c.life.end(context.DeadlineExceeded)
	a := &w.asked
	x := &exchange.Exchange{Context: &c.life, Method: a.method, Path: a.path, Query: a.query, Host: a.host, ID: a.id, Route: a.route,
		Remote: c.remote, TLS: c.tls}
	s.handler.Late(x)
	out, rest := s.appendAnswer(w.out, x, true)
	c.socket.SetWriteDeadline(time.Now().Add(s.limits.WriteTime))
	for _, p := range [][]byte{out, rest} {
		if _, err := c.net.Write(p); err != nil {
			return
		}
	}
	c.linger()
}
