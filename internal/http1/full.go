package http1

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// mayRest is how long a connection may wait for its next request also where all places are taken.
const mayRest = time.Second

// resting is a connection that waits for its next request.
type resting struct {
	*conn
	state uint64
	since uint64 // the tick
}

// makeSpace closes connections that wait for their next request where all places are taken, those first that have waited the longest: else a client
// that keeps thousands of them open keeps all others out for as long as they may wait. One place in a hundred at each tick lets a tenth of all
// connections be new in a second.
func (s *Server) makeSpace() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) < s.limits.Connections {
		return
	}
	var all []resting
	now, least := s.now.Load(), s.inTicks(mayRest)
	for _, c := range s.conns {
		if r, ok := c.rests(); ok && r.since+least <= now {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b resting) int { return cmp.Compare(a.since, b.since) })
	for _, r := range all[:min(len(all), max(s.limits.Connections/100, 1))] {
		if phaseOf(r.state) == handedOver || r.conn.state.CompareAndSwap(r.state, uint64(ended)) {
			r.socket.Close()
		}
	}
}

// rests returns since when the connection has waited for its next request. One that waits for its first ends soon by itself.
func (c *conn) rests() (resting, bool) {
	s, state := c.server, c.state.Load()
	r := resting{conn: c, state: state}
	switch phaseOf(state) {
	case handedOver:
		r.since = c.restsSince.Load()
		return r, r.since > 0
	case idle:
		r.since = deadlineOf(state) - s.ticks.idle
		return r, deadlineOf(state) > s.now.Load()+s.ticks.head
	}
	return r, false
}

// noteState notes whether net/http waits for the next request of a connection that was handed over.
func (c *conn) noteState(state http.ConnState) {
	if state == http.StateIdle {
		c.restsSince.Store(max(c.server.now.Load(), 1))
	} else {
		c.restsSince.Store(0)
	}
}
