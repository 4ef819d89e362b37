package httpstream

import (
	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/admission"
)

// ReuseUploadBuffers is the middleware of web.ReuseUploadBuffers.
func ReuseUploadBuffers() sabir.Middleware {
	return sabir.Middleware{Name: "reuse-upload-buffers", Stream: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		a.Annotate(reuseKey{}, true)
		return next
	}}
}

// reuseKey is the key of the annotation of ReuseUploadBuffers.
type reuseKey struct{}

// These constants bound the buffers of an upload.
const (
	// minChunk is the space below which a new buffer is made: small chunks share one.
	minChunk = 4 << 10
	// maxChunkBuffer is the largest buffer that chunks share.
	maxChunkBuffer = 4 * chunk
	// borrowedBuffers is the number of buffers that a handler that borrows needs: the stream's window, the one that the handler
	// works on, and the one that is filled. When Send has returned, the window has that many at the most, so the handler has
	// received what came before them, and is done with what came before that.
	borrowedBuffers = admission.StreamWindow + 2
)

// chunkBuffer holds the buffers that an upload is read into.
type chunkBuffer struct {
	ring [][]byte // buffers used in turn; empty if the handler may keep what it gets
	at   int      // index in ring
	free []byte   // rest of the buffer that chunks share
	size int      // of the next shared buffer
}

func (x *session) newChunkBuffer() *chunkBuffer {
	switch {
	case x.call.Action.In == nil: // another node's: Send has copied when it returns
		return &chunkBuffer{ring: make([][]byte, 1)}
	case x.call.Action.Annotation(reuseKey{}) != nil:
		return &chunkBuffer{ring: make([][]byte, borrowedBuffers)}
	}
	return &chunkBuffer{size: chunk}
}

// next returns the space for the next chunk.
func (r *chunkBuffer) next() []byte {
	if len(r.ring) > 0 {
		if r.ring[r.at] == nil {
			r.ring[r.at] = make([]byte, chunk)
		}
		return r.ring[r.at]
	}
	if len(r.free) < minChunk {
		r.free = make([]byte, r.size)
	}
	return r.free[:min(len(r.free), chunk)]
}

// use returns the chunk of n bytes that was read into the space that next returned. The handler may keep it, unless ring is
// used.
func (r *chunkBuffer) use(n int) []byte {
	if len(r.ring) > 0 {
		c := r.ring[r.at][:n:n]
		r.at = (r.at + 1) % len(r.ring)
		return c
	}
	c := r.free[:n:n] // appending to it gets no part of the next
	r.free = r.free[n:]
	if n == chunk { // it comes fast: fewer buffers, which are larger, take less time
		r.size = min(2*r.size, maxChunkBuffer)
	}
	return c
}
