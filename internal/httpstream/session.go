package httpstream

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/filehead"
	"github.com/sabir-go/sabir/internal/http1"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/introspect"
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
	live    bool                    // it ends when the node stops; others finish

	form     form           // of the response
	bytesIn  bool           // inputs are bytes, not JSON
	bytesOut bool           // outputs are bytes, not JSON
	headKey  string         // that the head of a download begins with; "" for none, and after the first value
	head     *filehead.Head // of a download; nil where its handler gives none
	body     readTimer

	in, out   *memory.Window           // what waits for the handler, and for the caller
	connected atomic.Pointer[net.Conn] // of a WebSocket
	slow      atomic.Bool              // the caller is cut off: see tooSlow

	sends atomic.Uint64 // inputs that began plus inputs that ended: odd while one waits for the handler
	seen  uint64        // sends at the last look at the client's connection
}

// watchCaller ends the session when the caller goes while an input waits for a handler that takes none: nothing reads from the
// connection then, and so nothing would notice. While inputs are taken, those that came before the end are for the handler.
func (x *session) watchCaller() (stop func()) {
	if x.r.ProtoMajor != 1 {
		return func() {}
	}
	return http1.WhileGone(x.r.Context(), func() {
		now := x.sends.Load()
		if now%2 == 1 && now == x.seen {
			x.fail(errGone)
		}
		x.seen = now
	})
}

// tooSlow cuts the caller off, who takes nothing while the node has too much that waits.
func (x *session) tooSlow() {
	x.fail(&sabir.Error{Code: sabir.CodeResourceExhausted, Name: errname.StreamTooSlow, Node: x.streams.node.ID(), Retryable: true,
		Message: "the caller took nothing while the streams of the node held more than they may"})
	x.slow.Store(true) // before the interruption, so that no write begins after it
	if conn := x.connected.Load(); conn != nil {
		(*conn).SetDeadline(time.Unix(1, 0)) // nothing is read any more either: the peer may have sent a part of a message
		return
	}
	x.control.SetWriteDeadline(time.Unix(1, 0))
}

// errGone is the cause if the client reads nothing or has gone.
var errGone = errors.New("the caller has gone")

// serve finds the form of the answer and runs the session.
func (x *session) serve(run func() error, runWebSocket func() error) {
	upgrade := isUpgrade(x.r)
	accept := x.r.Header["Accept"]
	x.form = responseForm(accept, x.usualForm())
	whole := x.bytesOut || x.call.Action != nil && x.call.Action.Shape == introspect.ServerStream // JSON holds one value only, and bytes as base64
	if x.form == single && whole && takesAny(accept) {
		x.form = x.usualForm()
	}
	x.live = upgrade || x.call.Action == nil || (x.form == sse || x.form == ndjson) && !uploads(x.r)
	if err := x.streams.begin(x); err != nil {
		x.refuse(err)
		return
	}
	defer x.streams.leave(x)
	defer x.in.Close()
	defer x.out.Close()
	if file := !upgrade && (uploads(x.r) || x.form == octets); x.call.Until != nil && !file {
		defer x.call.Until(x.fail)()
	}
	switch {
	case x.r.Method == http.MethodHead && x.form != octets:
		x.w.Header().Set("Allow", "GET")
		x.refuse(sabir.NewError(sabir.CodeUnimplemented, errname.MethodNotAllowed, "a stream of values has no head of its own: use GET"))
		return
	case upgrade:
		run = runWebSocket
	}
	if err := run(); err != nil {
		x.refuse(err)
	}
}

// reason returns why the stream ended: the session's own error first, errGone if the client has gone, otherwise the stream's
// error. Call it before reading the body is interrupted, because to net/http that looks as if the client had gone.
func (x *session) reason(err error) error {
	if cause := context.Cause(x.ctx); cause != nil && cause != context.Canceled && cause != context.DeadlineExceeded {
		return cause
	}
	if err != nil && x.r.Context().Err() != nil {
		return errGone
	}
	return err
}

// refuse responds with an error if nothing else has been sent.
func (x *session) refuse(err error) {
	if err == errGone {
		return
	}
	status, document := x.call.Problem(err)
	header := x.w.Header()
	if size := x.head; size != nil && size.Status == http.StatusRequestedRangeNotSatisfiable { // which tells the caller the length of the file
		header["Content-Range"] = []string{size.Header["Content-Range"]}
	}
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
	x.askForHead()
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
				return sabir.Errorf(sabir.CodeInternal, ErrNotBothWays.Name, "the web server cannot answer while a body comes: %w", err)
			}
		}
		defer x.watchCaller()()
		feeding.Go(func() { x.feed(in, s) })
	} else {
		s.closeSend()
	}
	var broken bool
	if x.form == single {
		err = x.respondOnce(s)
	} else {
		broken, err = x.respondAll(s)
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

// settleBody abandons an unread body. It must not be read by any other goroutine, so reading is interrupted and the connection
// closes after the response.
func (x *session) settleBody() {
	if x.body.interrupt() && x.r.ProtoMajor == 1 {
		closeAfter(x.w)
	}
}

// closeAfter makes net/http close the connection after the response, but not before the client had a moment to finish sending:
// a connection with unread data is reset, which can take the response with it (RFC 9112, section 9.6). net/http does that only
// for bodies over their limit, so it is shown such a body.
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

// readTimer limits the time of reads from a connection, and stops them altogether after interrupt.
type readTimer struct {
	mu          sync.Mutex
	set         func(time.Time) error // sets the read deadline; nil if there is nothing to read
	expired     func()                // called when the time is over; nil: the read fails by its deadline
	timer       *time.Timer           // calls expired
	finished    bool
	interrupted bool
}

// renew gives the next read so much time; 0 for no limit.
func (p *readTimer) renew(d time.Duration) {
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
func (p *readTimer) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
}

// finish records that everything was read.
func (p *readTimer) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = true
	p.stopTimer()
}

// left reports whether there is more to read.
func (p *readTimer) left() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.set != nil && !p.finished
}

// interrupt stops reading and reports whether anything was left to read.
func (p *readTimer) interrupt() bool { return p.interruptAt(time.Unix(1, 0)) }

// interruptAt lets reading go on until t at the latest.
func (p *readTimer) interruptAt(t time.Time) bool {
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

func (p *readTimer) stopTimer() {
	if p.timer != nil {
		p.timer.Stop()
	}
}
