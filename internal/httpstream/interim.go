package httpstream

import (
	"net/http"
	"strings"
	"time"
)

// interim sends interim answers (RFC 9110, section 15.2) while inputs wait for a handler that takes none and no answer has begun.
// A caller's system keeps what it could not send yet, and the end of the connection behind that, for minutes after the caller has
// gone. What comes from the node it refuses at once, which informs the node.
type interim struct {
	x     *session
	C     <-chan time.Time // when to look; nil for never
	timer *time.Timer
	seen  uint64 // sends at the last look
	sent  int
}

// maxInterim bounds the interim answers: some clients take five and no more.
const maxInterim = 5

func (x *session) interim() *interim {
	i := &interim{x: x}
	if x.r.ProtoMajor == 1 && x.body.left() && !readsInterimAsAnswer(x.r.UserAgent()) {
		i.timer = time.NewTimer(x.limits.Heartbeat)
		i.C = i.timer.C
	}
	return i
}

// readsInterimAsAnswer reports whether the client is one that takes an interim answer for the final one, as those on Python's
// http.client do.
func readsInterimAsAnswer(agent string) bool {
	agent = strings.ToLower(agent)
	return strings.Contains(agent, "python-requests") || strings.Contains(agent, "python-urllib")
}

// look sends one where an input has waited since the last look. The times between them double.
func (i *interim) look() {
	now := i.x.sends.Load()
	waits := now%2 == 1 && now == i.seen
	if i.seen = now; waits {
		i.x.control.SetWriteDeadline(time.Now().Add(i.x.limits.Write))
		i.x.w.WriteHeader(http.StatusProcessing)
		i.sent++
	}
	if i.sent < maxInterim {
		i.timer.Reset(i.x.limits.Heartbeat << i.sent)
	} else {
		i.stop()
	}
}

// stop must be called before the answer begins.
func (i *interim) stop() {
	if i.timer != nil {
		i.timer.Stop()
	}
	i.C = nil
}
