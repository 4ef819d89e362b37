package wire

import "time"

// suspicion finds out within a fraction of a second that a peer answers nothing, long before the link is given up, so that new
// calls can prefer other nodes. While calls wait for answers, or the last ping does, the link is glanced at several times in each
// PingInterval. One from which nothing has come since the last glance is pinged at once; if nothing comes for much longer than
// a ping usually takes, the peer is suspected. Any byte ends that. A link over which no calls go is not glanced at.
//
// Time is counted in glances, as it is in looks for silence: a stop of this process makes no peer suspect.
type suspicion struct {
	glancer  *time.Timer
	glancing bool   // the timer is set
	lookedAt uint64 // bytes in at the last look
	seen     uint64 // bytes in at the last glance
	quiet    int    // glances since the ping for which that number has not changed
	pause    int    // glances from the answer of a ping to the next ping, where nothing else came
	hold     int    // of these, those that are left
	calm     int    // glances for which nothing was waited for
}

const (
	glances      = 20 // in each PingInterval: one every 50 ms
	fewestQuiet  = 3  // glances until a peer is suspected, 150 ms
	usualTrips   = 8  // round trips until it is, where these are longer
	longestPause = 10
	signsOnly    = 4 * (headerSize + pingSize + tripSize) // more bytes than the pings and pongs of an interval
)

// Suspected reports whether the peer has answered nothing, not even a ping, for much longer than it usually takes: it stands still, is
// overloaded, or cannot be reached. It may still come back before the link is given up.
func (l *Link) Suspected() bool { return l.health.suspected.Load() }

// glanceSoon begins to glance where there was traffic since the last look, or none at all. It runs under mu.
func (h *health) glanceSoon(every time.Duration) {
	if !h.glancing && (h.silence > 0 || h.received-h.lookedAt > signsOnly) {
		h.glancing, h.calm = true, 0
		h.glancer.Reset(every)
	}
	h.lookedAt = h.received
}

// glance looks whether the peer still answers.
func (l *Link) glance() {
	h := &l.health
	every := l.config.PingInterval / glances
	l.mu.Lock()
	waiting := l.calls.taken > 0
	l.mu.Unlock()

	h.mu.Lock()
	ping, changed := h.judge(l.in.bytes.Load(), waiting, max(fewestQuiet*every, usualTrips*l.RTT()), every)
	h.glancing = h.calm < glances && !h.stopped
	if h.glancing {
		h.glancer.Reset(every)
	}
	h.mu.Unlock()

	if ping {
		l.sendSign(kindPing, uint64(l.now()))
	}
	if changed && l.config.Suspicion != nil {
		l.config.Suspicion(l)
	}
}

// judge takes one glance: the bytes that have come so far, and whether calls wait for answers. It runs under mu.
func (h *health) judge(bytes uint64, waiting bool, limit, every time.Duration) (ping, changed bool) {
	was := h.suspected.Load()
	came := bytes - h.seen
	h.seen = bytes
	if waiting = waiting || was || h.silence > 0; waiting {
		h.calm = 0
	} else {
		h.calm++
	}
	switch {
	case came > signsOnly:
		h.quiet, h.pause, h.hold = 0, 0, 0
	case came > 0:
		h.pause = min(2*h.pause+1, longestPause)
		h.quiet, h.hold = 0, h.pause
	case h.hold > 0:
		h.hold--
	case !waiting:
		h.quiet = 0
	default:
		ping = h.quiet == 0
		h.quiet++
	}
	now := h.quiet > 1 && time.Duration(h.quiet-1)*every >= limit
	h.suspected.Store(now)
	return ping, now != was
}
