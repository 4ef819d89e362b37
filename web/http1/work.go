package http1

import (
	"sync"

	"github.com/sabir-go/sabir/web/exchange"
)

// work is what a connection needs while it has something to do. An idle connection has none.
type work struct {
	in         []byte // what was read; its length is its room
	start, end int    // the part that was not answered yet
	unlined    bool   // that part has no whole head, and more of it is worth a look only with a line's end
	body       []byte // a body that does not fit into in
	out        []byte // answers that were not written yet
	since      uint64 // the tick of the oldest of them
	own        []byte // room for the body of an answer
	x          exchange.Exchange
	asked      asked
}

// asked is what a late call's answer may want to know. The handler can change its exchange at any time.
type asked struct {
	method, path, query, host, id string
	route                         any
}

const (
	firstIn  = 4 << 10  // bytes of room for requests; it grows up to maxHead
	firstOwn = 1 << 10  // bytes of room for an answer's body; it grows up to maxOut
	maxOut   = 64 << 10 // bytes of answers that are held back for one write
	largeOut = 16 << 10 // bytes from which a body is written by itself instead of copied
)

var workPool = sync.Pool{New: func() any {
	return &work{in: make([]byte, firstIn), out: make([]byte, 0, firstIn), own: make([]byte, 0, firstOwn)}
}}

func takeWork() *work { return workPool.Get().(*work) }

// put gives w back when its last request was answered.
func (w *work) put() {
	w.x.Reset()
	w.x.Context, w.x.TLS, w.x.Out = nil, nil, nil
	w.asked = asked{}
	if cap(w.out) > 2*maxOut {
		w.out = nil
	}
	w.start, w.end, w.unlined, w.out = 0, 0, false, w.out[:0]
	workPool.Put(w)
}

// next makes the exchange ready for the next request. The handler may have set Out to bytes that are not the exchange's, so
// its room is never taken over: own grows instead, until bodies of the usual size fit.
func (w *work) next() {
	if n := len(w.x.Out); n > cap(w.own) && n <= maxOut {
		w.own = make([]byte, 0, n+n/2)
	}
	w.x.Reset()
	w.x.Out, w.x.Lent = w.own, true
}

// compact moves what was not answered to the front. The last exchange's strings must not be used any more.
func (w *work) compact() {
	if w.start == 0 {
		return
	}
	w.end = copy(w.in, w.in[w.start:w.end])
	w.start = 0
}

// room is where to read more to. w is compact.
func (w *work) room() []byte {
	if w.end == len(w.in) {
		grown := make([]byte, min(4*len(w.in), maxHead))
		copy(grown, w.in)
		w.in = grown
	}
	return w.in[w.end:]
}
