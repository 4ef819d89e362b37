package wire

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/transport"
)

// leaving is how far the two sides are with ending the link in peace. Link.mu guards the plain flags.
//
//	one side: goaway ──────────────▶ other side: sends no new work from here on
//	          ◀────────────── goaway with flagAnswer
//	what is in flight is finished; the side that drains closes
type leaving struct {
	said     bool         // this side sent a goaway
	answered bool         // and the peer has answered: no new work will come
	peerGone bool         // the peer sent one, and was answered: no new work may be sent
	draining atomic.Bool  // this side waits for the end, and sends no new work either
	awaited  atomic.Bool  // somebody waits for changes
	sending  atomic.Int32 // long answers and posts that are being sent, for which nothing else is counted
	closing  bool         // all is finished, the connection is being closed

	mu      sync.Mutex
	changed chan struct{} // closed and made anew when something happened that Drain waits for
}

func (v *leaving) start() { v.changed = make(chan struct{}) }

// signal wakes Drain, where there is one.
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

// agreed tells whether one of the sides has said that it goes. It runs under Link.mu.
func (v *leaving) agreed() bool { return v.said || v.peerGone }

// GoAway tells the peer that this side takes no new work on this link. The peer's Handler.GoAway is called, and what was
// under way is served as before.
func (l *Link) GoAway() {
	l.mu.Lock()
	if l.leaving.said || l.closed {
		l.mu.Unlock()
		return
	}
	l.leaving.said = true
	l.append(0, kindGoAway, 0, nil)
	l.unlockAndWrite(byCaller)
}

// goAwayCame is the peer's goaway, or its answer to ours.
func (l *Link) goAwayCame(flags uint8) error {
	l.mu.Lock()
	first := false
	if flags&flagAnswer != 0 {
		l.leaving.answered = true
	} else if first = !l.leaving.peerGone; first {
		// Under the lock under which requests are appended: none follows the answer.
		l.leaving.peerGone = true
		l.append(0, kindGoAway, flagAnswer, nil)
	}
	l.unlockAndWrite(byWriter)
	l.leaving.signal()
	if first {
		l.handler.GoAway(l)
	}
	return nil
}

// closeBound is how long Drain waits for the peer to close its side too, after everything was sent, and how long the peer's
// last words may take to be read where nothing can be sent to it any more.
const closeBound = time.Second

// Drain ends the link in peace: it says GoAway, refuses new calls of this side with ErrGoingAway, waits until everything
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
	if half, ok := l.conn.(transport.HalfCloser); ok && half.CloseWrite() == nil {
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

// idle tells whether the link has nothing under way and will get nothing new, and then lets it write nothing more.
func (l *Link) idle() bool {
	l.mu.Lock()
	if l.closed || !l.leaving.answered || l.calls.taken > 0 || l.inbound.serving.Load() > 0 || l.leaving.sending.Load() > 0 || l.streams.open() > 0 {
		l.mu.Unlock()
		return false
	}
	if l.busy || len(l.pending) > 0 || len(l.large) > 0 {
		l.unlockAndWrite(byWriter) // what a call declared that was then refused is left for whoever writes next
		return false
	}
	l.leaving.closing = true
	l.mu.Unlock()
	return true
}

// Retire says GoAway and waits until the peer sends no new work and all that it began is finished. Calls and streams of
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

// retired tells whether the peer has nothing under way here and will send nothing new.
func (l *Link) retired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed || l.leaving.answered && l.inbound.serving.Load() == 0 && l.streams.theirsOpen() == 0
}
