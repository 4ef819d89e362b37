package quic

import (
	"sync"
	"time"

	"github.com/quic-go/quic-go"
)

// The peer counts as gone after so many looks in a row without a packet, of which as many lie between two pings.
const (
	silentLooks  = 6
	looksPerPing = 3
)

// silence ends a connection whose peer sends nothing, not even acknowledgements of the pings that the library sends meanwhile.
//
// The library's own limit is of the clock: a machine that stood still for half a minute, as virtual machines do when they are moved,
// loses all its connections the moment it goes on. Time is counted in looks here, of which such a stop holds one at most.
type silence struct {
	link  *quic.Conn
	every time.Duration // the time between two looks

	mu       sync.Mutex
	timer    *time.Timer // nil when it has ended
	received uint64      // packets, at the last look
	looks    int         // without a further one
	found    bool        // that the peer is silent
}

// watch begins to look at a connection that sends pings so far apart; 0 is never.
func watch(link *quic.Conn, pings time.Duration) *silence {
	s := &silence{link: link, every: pings / looksPerPing}
	if pings > 0 {
		s.mu.Lock()
		s.timer = time.AfterFunc(s.every, s.look)
		s.mu.Unlock()
	}
	return s
}

func (s *silence) look() {
	received := s.link.ConnectionStats().PacketsReceived
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer == nil || s.link.Context().Err() != nil {
		return
	}
	s.looks++
	if received != s.received {
		s.received, s.looks = received, 0
	}
	if s.looks < silentLooks {
		s.timer.Reset(s.every)
		return
	}
	s.timer, s.found = nil, true
	go s.link.CloseWithError(codeTimeout, "nothing came for too long") // it waits for the library, which may be busy
}

// ended reports whether the connection ended by the peer's silence.
func (s *silence) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.found
}

func (s *silence) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}
