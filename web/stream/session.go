package stream

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
)

// session is one stream and the request that opened it.
type session struct {
	streams *Streams
	limits  Limits
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	call    Call
	ctx     context.Context         // of the stream; its cause is why the session ends, where that is an error
	fail    context.CancelCauseFunc // ends ctx
	from    netip.AddrPort          // the connection
	live    bool                    // ends when the node stops; others finish

	form     form // of the answer
	bytesIn  bool // inputs are bytes, not JSON
	bytesOut bool // outputs are
	body     patience
}

// errGone is the cause where the caller takes nothing or has gone: nobody is left to tell.
var errGone = errors.New("the caller has gone")

// serve finds the form of the answer and runs the session.
func (x *session) serve(run func() error, runWebSocket func() error) {
	upgrade := isUpgrade(x.r)
	x.form = answerForm(x.r.Header["Accept"], x.bytesOut)
	x.live = upgrade || x.call.Action == nil || (x.form == sse || x.form == ndjson) && !uploads(x.r)
	if err := x.streams.begin(x); err != nil {
		x.refuse(err)
		return
	}
	defer x.streams.leave(x)
	switch {
	case x.r.Method == http.MethodHead:
		x.w.Header().Set("Allow", "GET, POST")
		x.refuse(sabir.NewError(sabir.Unimplemented, sabir.ErrMethod.Name, "a stream has no head of its own: use GET or POST"))
		return
	case upgrade:
		run = runWebSocket
	}
	if err := run(); err != nil {
		x.refuse(err)
	}
}

// reason is why the stream ended: what the session came upon first, errGone where the caller has gone, or else what the
// stream said. It is asked before the reading of the body is interrupted, which to net/http looks as if the caller had gone.
func (x *session) reason(err error) error {
	if cause := context.Cause(x.ctx); cause != nil && cause != context.Canceled && cause != context.DeadlineExceeded {
		return cause
	}
	if err != nil && x.r.Context().Err() != nil {
		return errGone
	}
	return err
}

// refuse answers with an error, as long as nothing else was sent.
func (x *session) refuse(err error) {
	if err == errGone {
		return
	}
	status, document := x.call.Problem(err)
	header := x.w.Header()
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		header.Set("Retry-After", "1")
	}
	header["Content-Type"] = []string{"application/problem+json"}
	header["Content-Length"] = []string{strconv.Itoa(len(document))}
	x.control.SetWriteDeadline(time.Now().Add(x.limits.Write))
	x.w.WriteHeader(status)
	x.w.Write(document)
}

// run is a stream over an ordinary request.
func (x *session) run() error {
	in, err := x.openInput()
	var s *values
	if err == nil {
		s, err = x.openStream()
	}
	if err != nil {
		err = x.reason(err)
		x.settleBody()
		return err
	}
	var feeding sync.WaitGroup
	if in != nil {
		if x.body.left() {
			if err := x.control.EnableFullDuplex(); err != nil {
				s.close()
				x.settleBody()
				return sabir.Errorf(sabir.Internal, "NotBothWays", "the web server cannot answer while a body comes: %w", err)
			}
		}
		feeding.Go(func() { x.feed(in, s) })
	} else {
		s.closeSend()
	}
	var broken bool
	if x.form == single {
		err = x.answerOnce(s)
	} else {
		broken, err = x.answerAll(s)
	}
	if err != nil {
		err = x.reason(err)
	}
	s.close()
	x.settleBody()
	feeding.Wait()
	x.control.SetWriteDeadline(time.Now().Add(x.limits.Write)) // for the end, which net/http writes
	if broken {
		panic(http.ErrAbortHandler)
	}
	return err
}

// settleBody leaves the body behind. One that has not come to its end must not be read on by anybody: the reading is
// interrupted, and the connection closes after the answer.
func (x *session) settleBody() {
	if x.body.interrupt() && x.r.ProtoMajor == 1 {
		closeAfter(x.w)
	}
}

// closeAfter has net/http close the connection after the answer, gently: it waits a moment for what the caller has under way,
// since a connection with unread data is reset, which can take the answer with it (RFC 9112, section 9.6). net/http
// does that where a body is over its limit, and only there, so it is told of such a body.
func closeAfter(w http.ResponseWriter) {
	for {
		outer, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		w = outer.Unwrap()
	}
	http.MaxBytesReader(w, endless{}, 0).Read(make([]byte, 1))
}

// endless is a body that is too large.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
func (endless) Close() error               { return nil }

// patience ends reads from a connection that wait too long, and all of them once it was interrupted.
type patience struct {
	mu          sync.Mutex
	set         func(time.Time) error // sets the deadline of reads; nil where there is nothing to read
	expired     func()                // nil: the read fails with the deadline's error
	timer       *time.Timer           // calls expired
	finished    bool
	interrupted bool
}

// renew lets the next read take so long; 0 for ever.
func (p *patience) renew(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.finished || p.interrupted || p.set == nil:
	case d == 0:
		p.set(time.Time{})
	case p.expired == nil:
		p.set(time.Now().Add(d))
	case p.timer == nil:
		p.set(time.Time{})
		p.timer = time.AfterFunc(d, p.expired)
	default:
		p.timer.Reset(d)
	}
}

// rest stops the time until the next read.
func (p *patience) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
}

// finish says that all was read.
func (p *patience) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = true
	p.stopTimer()
}

// left tells whether there is more to read.
func (p *patience) left() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.set != nil && !p.finished
}

// interrupt ends the reading, and tells whether there is any left.
func (p *patience) interrupt() bool { return p.interruptAt(time.Unix(1, 0)) }

// interruptAt lets the reading go on until then at the latest.
func (p *patience) interruptAt(t time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopTimer()
	if p.finished || p.set == nil {
		return false
	}
	if !p.interrupted {
		p.interrupted = true
		p.set(t)
	}
	return true
}

func (p *patience) stopTimer() {
	if p.timer != nil {
		p.timer.Stop()
	}
}
