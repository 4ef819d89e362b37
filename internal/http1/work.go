package http1

import (
	"sync"

	"github.com/sabir-go/sabir/web/exchange"
)

// work holds the buffers of a connection that is not idle. Strings of its exchange point into in: they are valid until compact
// moves it.
type work struct {
	in         []byte // what was read
	start, end int    // in[start:end] has not been handled
	unlined    bool   // in[start:end] is not a whole head; parse again only after a line break
	body       []byte // a body that does not fit into in
	out        []byte // responses not written yet
	since      uint64 // tick of the oldest response in out
	own        []byte // buffer for the body of a response
	x          exchange.Exchange
	request    requestLine
}

// requestLine is a copy of the request for a response in place of a late handler, which may change its exchange at any time.
type requestLine struct {
	method, path, query, host, id string
	route                         any
}

const (
	firstIn  = 4 << 10  // bytes of capacity for requests; it grows up to maxHead
	firstOwn = 1 << 10  // bytes of capacity for an answer's body; it grows up to maxOut
	maxOut   = 64 << 10 // bytes of answers that are held back for one write
	largeOut = 16 << 10 // bytes from which a body is written by itself instead of copied
)

var workPool = sync.Pool{New: func() any {
	return &work{in: make([]byte, firstIn), out: make([]byte, 0, firstIn), own: make([]byte, 0, firstOwn)}
}}

func takeWork() *work { return workPool.Get().(*work) }

// put gives the buffers back to the pool after the last response.
func (w *work) put() {
	w.x.Reset()
	w.x.Context, w.x.TLS, w.x.Out = nil, nil, nil
	w.request = requestLine{}
	if cap(w.out) > 2*maxOut {
		w.out = nil
	}
	w.start, w.end, w.unlined, w.out = 0, 0, false, w.out[:0]
	workPool.Put(w)
}

// next prepares the exchange for the next request. The handler may have set Out to bytes of its own, so Out is never kept as a
// buffer: own grows instead, until usual bodies fit.
func (w *work) next() {
	if n := len(w.x.Out); n > cap(w.own) && n <= maxOut {
		w.own = make([]byte, 0, n+n/2)
	}
	w.x.Reset()
	w.x.Out, w.x.Borrowed = w.own, true
}

// compact moves what has not been handled to the front. Strings of the last exchange are invalid after it.
func (w *work) compact() {
	if w.start == 0 {
		return
	}
	w.end = copy(w.in, w.in[w.start:w.end])
	w.start = 0
}

// readSpace returns where to read more bytes to. Call compact before.
func (w *work) readSpace() []byte {
	if w.end == len(w.in) {
		grown := make([]byte, min(4*len(w.in), maxHead))
		copy(grown, w.in)
		w.in = grown
	}
	return w.in[w.end:]
}
