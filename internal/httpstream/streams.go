package httpstream

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"unicode/utf8"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/memory"
)

// Streams serves the streams of one HTTP server. Its methods may be used by many goroutines at once.
type Streams struct {
	node   *sabir.Node
	limits Limits
	memory *memory.Budget

	mu            sync.Mutex
	open          map[*session]struct{}
	perConnection map[netip.AddrPort]*connection // by the caller's address and port
	stopping      bool
	empty         chan struct{} // closed when stopping and the last one has ended
}

// connection is one connection with open streams.
type connection struct {
	streams int
	account *memory.Account // of what waits for them
}

// New makes the streams of a server. What waits in them counts for the node's budget.
func New(node *sabir.Node, limits Limits) *Streams {
	return &Streams{node: node, limits: limits.filled(), memory: memory.OfNode(node), open: make(map[*session]struct{}),
		perConnection: make(map[netip.AddrPort]*connection), empty: make(chan struct{})}
}

// Call is one request for a stream, as the server has prepared it: it found the action, checked the caller and its origin, and
// cleared the way for the caller.
type Call struct {
	// Action is a stream that can be called from the node. It is nil for events.
	Action *sabir.Action
	// Events are the patterns of the events that this caller may have, some of those that [NewEvents] was given; nil for all.
	Events []string
	// Context is made from the request's, so that it ends when the caller goes, and carries the request id, the metadata
	// and the caller's principal. It should have no deadline that the caller did not ask for.
	Context context.Context
	// Input is the one input as JSON, where path and query gave it; a body then counts for nothing. Nil means that the body
	// has the inputs. Where it was made of the body too, that has been read already.
	Input []byte
	// Bind adds to each input of the body, which is JSON, what else of the request the action's input takes; nil where that is the whole
	// input. It gets an empty body where there is none, and may be called as long as the stream is open.
	Bind func(body []byte) ([]byte, error)
	// BytesIn and BytesOut report that inputs and outputs are []byte where the action is another node's, whose types are not
	// known here (Action.In and Out are nil). Where false, the request decides: one that brings a file or accepts
	// application/octet-stream.
	BytesIn, BytesOut bool
	// Problem makes the answer of an error: the status and the problem document. It must be set, and be ready for any error.
	Problem func(err error) (status int, document []byte)
	// Until watches over the caller's credentials while the stream is open: it calls end with the error that the stream is to end
	// with, at most once and on any goroutine, unless stop was called. Nil for credentials that do not end. Uploads and
	// downloads go on to their end, as calls do.
	Until func(end func(error)) (stop func())
	// Origin reports whether pages of another origin may open WebSockets, which browsers do not ask about; nil for none.
	// Pages of the node's own host always may.
	Origin func(origin string) bool
}

// Open returns the number of open streams.
func (s *Streams) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Stop takes no more streams, ends the live ones (SSE, NDJSON, WebSocket) with an error that reports it, retryable, and lets
// uploads, downloads and single answers finish, since they are like calls in flight. When ctx ends first, it ends those
// too, waits for their last words, and returns how many there were.
func (s *Streams) Stop(ctx context.Context) error {
	s.mu.Lock()
	if !s.stopping {
		s.stopping = true
		if len(s.open) == 0 {
			close(s.empty)
		}
	}
	s.mu.Unlock()
	s.end(func(x *session) bool { return x.live })
	select {
	case <-s.empty:
		return nil
	case <-ctx.Done():
	}
	cut := s.end(func(*session) bool { return true })
	<-s.empty // soon: nothing waits without a deadline when its context has ended
	if cut == 0 {
		return nil
	}
	return fmt.Errorf("%d streams were cut off: %w", cut, ctx.Err())
}

// end ends the sessions that which picks, and counts them.
func (s *Streams) end(which func(*session) bool) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for x := range s.open {
		if which(x) {
			x.fail(s.stopped())
			n++
		}
	}
	return n
}

func (s *Streams) stopped() *sabir.Error {
	return &sabir.Error{Code: sabir.CodeUnavailable, Name: sabir.ErrServiceUnavailable.Name, Node: s.node.ID(), Retryable: true,
		Message: "the node stops: open the stream again, on another node"}
}

// begin counts a session in, or returns why not.
func (s *Streams) begin(x *session) error {
	// A connection is known by its other end. Over a Unix socket there is no such thing, and only the server's bound holds.
	from, _ := netip.ParseAddrPort(x.r.RemoteAddr)
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.perConnection[from]
	switch {
	case s.stopping:
		return s.stopped()
	case len(s.open) >= s.limits.Open:
		return s.tooMany("the node has %d streams open over HTTP, which is all it takes", s.limits.Open)
	case at != nil && at.streams >= s.limits.PerConnection:
		return s.tooMany("%d streams are open over this connection, which is all that one takes: close some, or use another connection", s.limits.PerConnection)
	}
	s.open[x] = struct{}{}
	if at == nil {
		at = &connection{account: memory.AccountOf(x.r.Context())}
		if at.account == nil {
			at.account = s.memory.Connection()
		}
	}
	if from.IsValid() {
		s.perConnection[from] = at
	}
	at.streams++
	x.from = from
	x.in, x.out = at.account.Window(x.tooSlow), at.account.Window(x.tooSlow)
	x.ctx = memory.WithAccount(x.ctx, at.account)
	return nil
}

func (s *Streams) tooMany(format string, args ...any) error {
	e := sabir.Errorf(sabir.CodeResourceExhausted, errname.TooManyStreams, format, args...).AsRetryable()
	e.Node = s.node.ID()
	return e
}

// leave counts a session out.
func (s *Streams) leave(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, x)
	if at := s.perConnection[x.from]; at != nil {
		if at.streams--; at.streams == 0 {
			delete(s.perConnection, x.from)
		}
	}
	if s.stopping && len(s.open) == 0 {
		close(s.empty)
	}
}

// Serve answers a request for a stream; it returns when the stream has ended. Errors go to the caller. Where an answer must
// be broken off it panics with [http.ErrAbortHandler], which signals it to net/http.
func (s *Streams) Serve(w http.ResponseWriter, r *http.Request, call Call) {
	x := s.session(w, r, call)
	defer x.fail(nil)
	x.bytesIn, x.bytesOut = bytesOf(call.Action.In, call.BytesIn || uploads(r)), bytesOf(call.Action.Out, call.BytesOut || asksForBytes(r))
	x.serve(x.run, x.runWebSocket)
}

func (s *Streams) session(w http.ResponseWriter, r *http.Request, call Call) *session {
	x := &session{streams: s, limits: s.limits, w: w, r: r, control: http.NewResponseController(w), call: call, live: true}
	ctx := call.Context
	if id := r.Header.Get("Last-Event-ID"); id != "" && len(id) <= maxEventID && utf8.ValidString(id) {
		ctx = sabir.WithMetadata(ctx, "last-event-id", id)
	}
	x.ctx, x.fail = context.WithCancelCause(ctx)
	return x
}

// maxEventID bounds the length of a Last-Event-ID; a longer one is ignored.
const maxEventID = 128
