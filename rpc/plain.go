package rpc

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/internal/protocol"
)

// Most calls of gRPC have one short message, which is not compressed, and come whole. These are served here, without connect's handler, whose
// layers for all protocols took a fifth of a call's time and a third of its allocations. A call that turns out to be another one goes to connect with all that was read of it, so that what is
// wrong with it is said in one place.

const (
	envelope = 5       // bytes before a message: a flag, and its length in four
	maxPlain = 8 << 10 // bytes of a message and its envelope that are served here
	// compressFrom is the least bytes of an answer that is worth compressing.
	compressFrom = 1 << 10
)

// The values of headers that answers share. Nobody changes them.
var (
	typeDefault  = []string{"application/grpc"}
	typeProto    = []string{"application/grpc+proto"}
	acceptsGzip  = []string{"gzip"}
	isCompressed = []string{"gzip"}
	statusOK     = []string{"0"}
)

// plainType is the Content-Type of the answer to a request for servePlain; nil for any other request.
func plainType(r *http.Request) []string {
	if r.ProtoMajor != 2 || r.Method != http.MethodPost {
		return nil
	}
	if sent := first(r.Header, "Grpc-Encoding"); sent != "" && sent != "identity" {
		return nil
	}
	switch first(r.Header, "Content-Type") {
	case typeDefault[0]:
		return typeDefault
	case typeProto[0]:
		return typeProto
	}
	return nil
}

// first is the first value of a header whose name is in the form that net/http keeps.
func first(h http.Header, name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// timeLimit is how long the caller waits; 0 where it does not say so. ok is false for what connect must read.
func timeLimit(h http.Header) (limit time.Duration, ok bool) {
	text := first(h, "Grpc-Timeout")
	if text == "" {
		return 0, true
	}
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 63)
	if err != nil || len(text) > 9 || n == 0 {
		return 0, false
	}
	switch text[len(text)-1] {
	case 'S':
		return time.Duration(n) * time.Second, true
	case 'm':
		return time.Duration(n) * time.Millisecond, true
	case 'u':
		return time.Duration(n) * time.Microsecond, true
	case 'n':
		return time.Duration(n), true
	}
	return 0, false
}

// plainBuffers have the messages of calls that are served here.
var plainBuffers = sync.Pool{New: func() any { return new(make([]byte, 0, 1<<10)) }}

// servePlain answers a call, or returns the request as it is to be served by connect.
func (d *dispatcher) servePlain(w http.ResponseWriter, r *http.Request, c *protocol.Call, limit int64) *http.Request {
	kind := plainType(r)
	wait, ok := timeLimit(r.Header)
	if kind == nil || !ok {
		return r
	}
	pooled := plainBuffers.Get().(*[]byte)
	defer plainBuffers.Put(pooled)
	read, whole := readPlain((*pooled)[:0], r.Body, limit)
	if *pooled = read; !whole {
		again := new(http.Request)
		*again = *r
		again.Body = unread{io.MultiReader(bytes.NewReader(bytes.Clone(read)), r.Body), r.Body}
		return again
	}
	own := &call{Call: c, format: protobuf.Codec, grpc: true}
	in := c.Inbound
	in.Answer = &own.answer
	if wait > 0 && (in.Limit == 0 || wait < in.Limit) {
		in.Limit = wait
	}
	// The message is decoded before anything is written, and its bytes are not needed then.
	answered := plainBuffers.Get().(*[]byte)
	defer plainBuffers.Put(answered)
	out, err := c.Action.Serve(in, own.format, append((*answered)[:0], 0, 0, 0, 0, 0), read[envelope:])
	if cap(out) <= maxPlain {
		*answered = out
	}
	h := w.Header()
	h["Grpc-Accept-Encoding"] = acceptsGzip
	header, trailer := own.answer.close()
	if err != nil {
		failed := own.failure(in.Context, err)
		merge(failed.Meta(), header)
		merge(failed.Meta(), trailer)
		d.fail(w, r, failed)
		return nil
	}
	h["Content-Type"] = kind
	merge(h, header)
	out, compressed := compress(out, r.Header)
	if compressed {
		h["Grpc-Encoding"] = isCompressed
	}
	w.Write(out) // an error means that the caller is gone
	for name, values := range trailer {
		h[http.TrailerPrefix+name] = values
	}
	h[http.TrailerPrefix+"Grpc-Status"] = statusOK
	return nil
}

// readPlain reads a request to its end. whole is false for any other than one message that is not compressed and not long; then what was read is
// the request's beginning.
func readPlain(into []byte, body io.Reader, limit int64) (read []byte, whole bool) {
	for {
		if len(into) == cap(into) {
			if len(into) >= maxPlain {
				return into, false
			}
			into = append(into, 0)[:len(into)]
		}
		n, err := body.Read(into[len(into):cap(into)])
		into = into[:len(into)+n]
		if err == nil {
			continue
		}
		if err != io.EOF || len(into) < envelope || into[0] != 0 {
			return into, false
		}
		size := int64(binary.BigEndian.Uint32(into[1:envelope]))
		return into, size == int64(len(into)-envelope) && size <= limit
	}
}

// unread is the body of a request of which a part was read.
type unread struct {
	io.Reader
	io.Closer
}

// compress writes the envelope of an answer, and compresses it where the caller reads that and it is worth it.
func compress(out []byte, caller http.Header) (_ []byte, compressed bool) {
	if len(out)-envelope >= compressFrom && readsGzip(first(caller, "Grpc-Accept-Encoding")) {
		var short bytes.Buffer
		short.Write([]byte{1, 0, 0, 0, 0})
		z := compressors.Get().(*gzip.Writer)
		defer compressors.Put(z)
		z.Reset(&short)
		z.Write(out[envelope:])
		z.Close() // writing to memory does not fail
		out, compressed = short.Bytes(), true
	}
	binary.BigEndian.PutUint32(out[1:envelope], uint32(len(out)-envelope))
	return out, compressed
}

var compressors = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

// readsGzip reports whether gzip is among the compressions that a caller names.
func readsGzip(accepted string) bool {
	for accepted != "" {
		var name string
		name, accepted, _ = strings.Cut(accepted, ",")
		if strings.TrimSpace(name) == "gzip" {
			return true
		}
	}
	return false
}
