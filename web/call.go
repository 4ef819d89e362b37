package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
)

// call calls the action and answers with its output or its error.
func (x *exchange) call(a *sabir.Action) {
	if a.Stream {
		x.fail(&sabir.Error{Code: sabir.Unimplemented, Name: sabir.ErrStreamWanted.Name, Node: x.node.ID(), Message: a.Name + " is a stream, and streams cannot be opened over HTTP yet"})
		return
	}
	if err := checkJSON(x.r); err != nil {
		x.fail(err)
		return
	}
	limit, err := timeout(x.r.Header, x.limits.call)
	if err != nil {
		x.fail(err)
		return
	}
	ctx, err := withMetadata(sabir.WithRequestID(x.r.Context(), x.id), x.r.Header)
	if err != nil {
		x.fail(err)
		return
	}
	x.inFlight.Add(1)
	defer x.inFlight.Add(-1)
	buf := takeBuffers()
	defer buf.put()
	if err := x.readBody(buf); err != nil {
		x.fail(err)
		return
	}
	// The deadline for the body must not end the call: while it runs, the server reads on to notice when the caller goes.
	http.NewResponseController(x.w).SetReadDeadline(time.Time{})
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, failed := a.AppendJSON(ctx, buf.out[:0], buf.in)
	if failed != nil {
		x.fail(x.public(a, failed))
		return
	}
	buf.out = out
	x.send(http.StatusOK, jsonType, out)
}

// readBody reads the body, whose declared size is checked before anything is allocated for it.
func (x *exchange) readBody(buf *buffers) *sabir.Error {
	size := x.r.ContentLength
	if size == 0 {
		return nil
	}
	body := io.Reader(x.r.Body)
	switch {
	case size > x.limits.body:
		return x.tooLarge()
	case size < 0:
		body = http.MaxBytesReader(x.w, x.r.Body, x.limits.body)
	}
	x.read = true
	in, err := readAll(buf.in[:0], body)
	buf.in = in
	if err != nil {
		if _, over := errors.AsType[*http.MaxBytesError](err); over {
			return x.tooLarge()
		}
		return badBody(err)
	}
	return nil
}

// The bounds of lingering: what a caller may still send after the answer, and for how long.
const (
	lingerBytes = 8 << 20
	lingerTime  = 500 * time.Millisecond
)

// linger reads on for a moment after an answer that did not wait for the body. A connection that is closed with unread
// data is reset, which can take the answer away from a caller who is still sending (RFC 9112, section 9.6).
func (x *exchange) linger() {
	if x.read || x.r.Body == nil || x.r.ContentLength == 0 || x.r.ProtoMajor != 1 || x.r.Header.Get("Expect") != "" {
		return
	}
	control := http.NewResponseController(x.w)
	control.Flush()
	control.SetReadDeadline(time.Now().Add(lingerTime))
	io.CopyN(io.Discard, x.r.Body, lingerBytes)
}

// readAll appends what r has, and grows only as it comes: a large declared length alone costs nothing.
func readAll(dst []byte, r io.Reader) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}

func (x *exchange) tooLarge() *sabir.Error {
	return &sabir.Error{Code: sabir.InvalidArgument, Name: sabir.ErrTooLarge.Name, Node: x.node.ID(), Message: "the body is larger than the limit of " + strconv.FormatInt(x.limits.body, 10) + " bytes"}
}

// badBody is for a body that did not come as announced. Its connection is of no use any more.
func badBody(err error) *sabir.Error {
	if timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && timeout.Timeout() {
		return sabir.NewError(sabir.InvalidArgument, sabir.ErrBadInput.Name, "the body did not come in time")
	}
	return sabir.NewError(sabir.InvalidArgument, sabir.ErrBadInput.Name, "the body ends before its announced length, or its chunks are malformed")
}

// buffers is what a call reads into and writes from.
type buffers struct{ in, out []byte }

const (
	firstBuffer = 4 << 10
	maxPooled   = 64 << 10 // larger buffers are left to the garbage collector
)

var bufferPool = sync.Pool{New: func() any {
	return &buffers{in: make([]byte, 0, firstBuffer), out: make([]byte, 0, firstBuffer)}
}}

func takeBuffers() *buffers { return bufferPool.Get().(*buffers) }

func (b *buffers) put() {
	if cap(b.in) > maxPooled || cap(b.out) > maxPooled {
		return
	}
	b.in, b.out = b.in[:0], b.out[:0]
	bufferPool.Put(b)
}

func itoa(n int) string { return strconv.Itoa(n) }
