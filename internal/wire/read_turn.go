package wire

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

const (
	// aloneFor is the number of answers in a row, each alone in what was read, after which callers may read.
	aloneFor = 8
	// turnInterval is the interval at which a reader whose turn a caller has looks whether it must read again. What the peer sends by itself, and the end of a
	// call whose caller reads, may wait for two of them.
	turnInterval = time.Millisecond
)

// readTurn says who reads from the connection: the reader's goroutine, or, with Config.CallersRead, a caller. A caller that is alone on a link and reads its answer
// itself waits for one goroutine less to be woken, which on an idle machine is most of what it waits for.
//
// After some answers in a row with nothing between, the reader's goroutine gives the turn up, and the next caller takes it, until it has its answer. Whoever takes
// the turn, under mu, has the reader for itself, with all its fields. A caller handles answers alone: with any other frame the turn goes back to the reader's
// goroutine, since what that calls may be code that must not run on the goroutine of a caller, who may hold locks.
type readTurn struct {
	mu      sync.Mutex
	read    func(*Call, context.Context) // (*Call).readAnswer where callers read, else nil: so it is not in a program without links
	reader  *reader
	holder  holder
	taken   uint64          // how often a caller has taken it
	call    *Call           // of the caller that reads
	gone    <-chan struct{} // the end of its context
	stopped bool            // its read was ended by a deadline
	err     error           // why it cannot go on reading
	back    chan struct{}   // the turn came back to the reader's goroutine
}

type holder uint8

const (
	readerHolds holder = iota
	nobodyHolds
	callerHolds
)

// isAlone reports whether only calls of one caller come over the link, of which none is under way.
func (r *reader) isAlone() bool {
	l := r.link
	if r.alone < aloneFor || r.start != r.end || r.straight != nil || len(r.parts) > 0 || l.InFlight() > 0 || l.inbound.serving.Load() > 0 {
		return false
	}
	l.streams.mu.Lock()
	defer l.streams.mu.Unlock()
	return l.streams.ownCount+l.streams.theirsCount == 0
}

// giveTurn lets callers read until one of them gives the turn back, or none has read for a while. The error is that of a caller's read.
func (r *reader) giveTurn() error {
	l, t := r.link, &r.link.turn
	t.mu.Lock()
	t.reader, t.holder = r, nobodyHolds
	seen := t.taken
	t.mu.Unlock()
	l.takeTurnBack() // for a call that began before, which nobody would read for
	timer := time.NewTimer(turnInterval)
	defer timer.Stop()
	done := l.done
	for {
		select {
		case <-t.back:
			err := t.err
			t.err = nil
			return err
		case <-timer.C:
			timer.Reset(turnInterval)
		case <-done:
			done = nil
		}
		t.mu.Lock()
		switch {
		case t.holder == nobodyHolds && (t.taken == seen || done == nil):
			t.holder = readerHolds
			t.mu.Unlock()
			r.alone = aloneFor / 2
			return nil
		case t.holder == callerHolds && !t.stopped && t.isOver():
			t.stopped = true
			_ = l.conn.SetReadDeadline(time.Unix(1, 0)) // if it fails, the link is about to end
		}
		seen = t.taken
		t.mu.Unlock()
	}
}

// isOver reports whether the caller that reads need not wait any more: its context has ended, or its call has, by a deadline. It runs under mu.
func (t *readTurn) isOver() bool {
	select {
	case <-t.gone:
		return true
	default:
		return len(t.call.done) > 0
	}
}

// takeTurnBack gives the turn to the reader's goroutine if nobody has it, and calls wait for answers.
func (l *Link) takeTurnBack() {
	t := &l.turn
	if l.InFlight() == 0 {
		return
	}
	t.mu.Lock()
	free := t.holder == nobodyHolds
	if free {
		t.holder, t.reader.alone = readerHolds, 0
	}
	t.mu.Unlock()
	if free {
		t.back <- struct{}{}
	}
}

// readAnswer takes the turn to read, if nobody has it, until the answer of the call is there, or the turn is needed elsewhere.
func (c *Call) readAnswer(ctx context.Context) {
	l, t := c.link, &c.link.turn
	t.mu.Lock()
	if t.holder != nobodyHolds {
		t.mu.Unlock()
		return
	}
	t.holder, t.call, t.gone = callerHolds, c, ctx.Done()
	t.taken++
	r := t.reader
	t.mu.Unlock()

	err := r.readAnswers(c.done)

	t.mu.Lock()
	t.call, t.gone = nil, nil
	if t.stopped {
		t.stopped = false
		if wrong := l.conn.SetReadDeadline(time.Time{}); wrong == nil && errors.Is(err, os.ErrDeadlineExceeded) {
			err = errStopped
		}
	}
	if err == nil {
		t.holder = nobodyHolds
		t.mu.Unlock()
		l.takeTurnBack()
		return
	}
	t.holder, r.alone = readerHolds, 0
	if err != errStopped {
		t.err = err
	}
	t.mu.Unlock()
	t.back <- struct{}{}
}

// readAnswers reads and handles answers until done has something. errStopped means that there is a frame for the reader's goroutine.
func (r *reader) readAnswers(done <-chan struct{}) error {
	r.byCaller = true
	defer func() { r.byCaller = false }()
	for len(done) == 0 {
		if err := r.readOnce(); err != nil {
			return err
		}
	}
	return nil
}
