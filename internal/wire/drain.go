package wire

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/transports"
)

// leaving is the progress of both sides in draining the link. Link.mu guards the plain flags.
//
//	one side: goaway ──────────────▶ other side: sends no new work from here on
//	          ◀────────────── goaway with flagAnswer
//	what is in flight is finished; the side that drains closes
type leaving struct {
	goawaySent     bool         // this side sent a goaway
	answered       bool         // and the peer has answered: no new work will come
	goawayReceived bool         // the peer sent one, and was answered: no new work may be sent
	draining       atomic.Bool  // this side waits for the end, and sends no new work either
	awaited        atomic.Bool  // a goroutine waits for changes
	sending        atomic.Int32 // long answers and posts that are being sent, for which nothing else is counted
	closing        bool         // all is finished, the connection is being closed

	mu      sync.Mutex
	changed chan struct{} // closed and made anew when something happened that Drain waits for
}

func (v *leaving) start() { v.changed = make(chan struct{}) }

// signal wakes Drain and Retire if they wait for a change.
func (v *leaving) signal() {
	if !v.awaited.Load() {
		return
	}
	v.mu.Lock()
	close(v.changed)
	v.changed = make(chan struct{})
	v.mu.Unlock()
}

// sent is the end of a long answer.
func (v *leaving) sent() {
	v.sending.Add(-1)
	v.signal()
}

func (v *leaving) waiting() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.changed
}

// agreed reports whether either side has sent a goaway. It runs under Link.mu.
func (v *leaving) agreed() bool { return v.goawaySent || v.goawayReceived }

// GoAway notifies the peer that this side takes no new work on this link. The peer's Handler.GoAway is called, and what was
// under way is served as before.
func (l *Link) GoAway() {
	l.mu.Lock()
	if l.leaving.goawaySent || l.closed {
		l.mu.Unlock()
		return
	}
	l.leaving.goawaySent = true
	l.append(0, kindGoAway, 0, nil)
	l.unlockAndWrite(writeNow)
}

// goAwayCame is the peer's goaway, or its answer to ours.
func (l *Link) goAwayCame(flags uint8) error {
	l.mu.Lock()
	first := false
	if flags&flagAnswer != 0 {
		l.leaving.answered = true
	} else if first = !l.leaving.goawayReceived; first {
		// Under the lock under which requests are appended: none follows the answer.
		l.leaving.goawayReceived = true
		l.append(0, kindGoAway, flagAnswer, nil)
	}
	l.unlockAndWrite(writeInBackground)
	l.leaving.signal()
	if first {
		l.handler.GoAway(l)
	}
	return nil
}

// closeBound is the time for which Drain waits for the peer to close its side after everything was sent. A link that can
// send no more reads the peer's last bytes for as long.
const closeBound = time.Second

// Drain ends the link in peace: it sends GoAway, refuses new calls of this side with ErrGoingAway, waits until everything
// in flight in both directions is finished and written, and closes. When ctx ends first it closes at once, what is still in
// flight fails, and Drain returns ctx.Err(). It returns nil where nothing was lost, and the link's error where it ended
// otherwise.
func (l *Link) Drain(ctx context.Context) error {
	l.leaving.awaited.Store(true)
	l.leaving.draining.Store(true)
	l.GoAway()
	for {
		changed := l.leaving.waiting()
		if l.idle() {
			break
		}
		select {
		case <-changed:
		case <-l.done:
			return l.drained()
		case <-ctx.Done():
			l.fail(ErrClosed)
			return ctx.Err()
		}
	}
	if half, ok := l.conn.(transports.HalfCloser); ok && half.CloseWrite() == nil {
		// The peer closes when it has read all; to close before would reset the connection where it is still sending.
		bound := time.NewTimer(closeBound)
		defer bound.Stop()
		select {
		case <-l.done:
		case <-bound.C:
		case <-ctx.Done():
		}
	}
	l.fail(ErrClosed)
	return l.drained()
}

func (l *Link) drained() error {
	if err := l.Err(); err != ErrClosed {
		return err
	}
	return nil
}

// idle reports whether nothing is in flight and nothing new can come. It then sets closing, after which nothing more is
// written.
func (l *Link) idle() bool {
	l.mu.Lock()
	if l.closed || !l.leaving.answered || l.calls.taken > 0 || l.inbound.serving.Load() > 0 || l.leaving.sending.Load() > 0 || l.streams.open() > 0 {
		l.mu.Unlock()
		return false
	}
	if l.busy || len(l.pending) > 0 || len(l.large) > 0 {
		l.unlockAndWrite(writeInBackground) // what a call declared that was then refused is left for the next writer
		return false
	}
	l.leaving.closing = true
	l.mu.Unlock()
	return true
}

// Retire sends GoAway and waits until the peer sends no new work and all that it began is finished. Calls and streams of
// this side go on, and may still begin: it is for a node that stops serving before it stops. When ctx ends first, Retire
// returns ctx.Err(), and what is in flight goes on.
func (l *Link) Retire(ctx context.Context) error {
	l.leaving.awaited.Store(true)
	l.GoAway()
	for {
		changed := l.leaving.waiting()
		if l.retired() {
			return nil
		}
		select {
		case <-changed:
		case <-l.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Unfinished is the number of calls and streams of the peer that this side has not ended.
func (l *Link) Unfinished() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inbound.serving.Load() + int64(l.streams.theirsOpen())
}

// retired reports whether the peer has nothing in flight on this side and will send nothing new.
func (l *Link) retired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed || l.leaving.answered && l.inbound.serving.Load() == 0 && l.streams.theirsOpen() == 0
}
