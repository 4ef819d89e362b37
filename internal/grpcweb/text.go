// Package grpcweb has the form of gRPC-Web in base64 (PROTOCOL-WEB.md of gRPC), for servers that speak the one in bytes.
package grpcweb

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
)

// The content types of gRPC-Web in bytes and in base64. Pages that use npm's grpc-web send the second unless they
// were generated otherwise, since browsers show them the parts of such an answer as they come.
const (
	Type     = "application/grpc-web"
	textType = "application/grpc-web-text"
)

// isText reports whether the messages of a content type are gRPC-Web in base64.
func isText(contentType string) bool {
	return len(contentType) >= len(textType) && strings.EqualFold(contentType[:len(textType)], textType)
}

// WithoutText turns a request of gRPC-Web in base64 into one in bytes, and a writer of its answer into one that takes bytes; end must be
// called behind the last. Other requests and their writers stay as they are. notText is the error of reading a body that is not in base64.
func WithoutText(w http.ResponseWriter, r *http.Request, notText error) (_ http.ResponseWriter, _ *http.Request, end func()) {
	kind := r.Header.Get("Content-Type")
	if !isText(kind) {
		return w, r, func() {}
	}
	plain := new(http.Request)
	*plain = *r
	plain.Header = r.Header.Clone()
	plain.Header.Set("Content-Type", Type+kind[len(textType):])
	plain.Header.Del("Content-Length")
	plain.ContentLength = -1
	plain.Body = &textReader{ReadCloser: r.Body, notText: notText}
	text := &textWriter{ResponseWriter: w}
	return text, plain, text.close
}

// textReader decodes base64 in one part or in several, each with its own padding.
type textReader struct {
	io.ReadCloser
	text    [1 << 10]byte // what was read and not decoded begins it
	n       int
	decoded [1 << 10]byte
	left    []byte // of decoded
	err     error  // behind left
	notText error
}

// Read implements [io.Reader].
func (t *textReader) Read(p []byte) (int, error) {
	for len(t.left) == 0 && t.err == nil {
		t.fill()
	}
	if len(t.left) == 0 {
		return 0, t.err
	}
	n := copy(p, t.left)
	t.left = t.left[n:]
	return n, nil
}

// fill reads once and decodes the groups of four characters that are whole.
func (t *textReader) fill() {
	n, err := t.ReadCloser.Read(t.text[t.n:])
	t.n += n
	if t.err = err; err == io.EOF && t.n%4 != 0 {
		t.err = t.notText
	}
	whole, size := t.n/4*4, 0
	for i := 0; i < whole; i += 4 {
		n, err := base64.StdEncoding.Strict().Decode(t.decoded[size:], t.text[i:i+4])
		if err != nil {
			t.err = t.notText
			break
		}
		size += n
	}
	t.left = t.decoded[:size]
	t.n = copy(t.text[:], t.text[whole:t.n])
}

// textWriter encodes an answer of gRPC-Web as base64. What is flushed ends with padding, so that the receiver can decode it. Other answers,
// such as a refusal of HTTP, pass as they are.
type textWriter struct {
	http.ResponseWriter
	started bool
	encodes bool
	held    [3]byte // bytes that are no whole group yet
	n       int
	text    []byte
}

// Unwrap gives [http.ResponseController] what lies below.
func (t *textWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (t *textWriter) WriteHeader(status int) {
	if status >= 200 && !t.started {
		t.started = true
		if kind := t.Header().Get("Content-Type"); strings.HasPrefix(kind, Type) {
			t.encodes = true
			t.Header().Set("Content-Type", textType+kind[len(Type):])
			t.Header().Del("Content-Length")
		}
	}
	t.ResponseWriter.WriteHeader(status)
}

// Write implements [io.Writer].
func (t *textWriter) Write(p []byte) (int, error) {
	if !t.started {
		t.WriteHeader(http.StatusOK)
	}
	if !t.encodes {
		return t.ResponseWriter.Write(p)
	}
	size := len(p)
	t.text = t.text[:0]
	if t.n > 0 {
		taken := copy(t.held[t.n:], p)
		t.n, p = t.n+taken, p[taken:]
		if t.n < len(t.held) {
			return size, nil
		}
		t.text = base64.StdEncoding.AppendEncode(t.text, t.held[:])
	}
	whole := len(p) / 3 * 3
	t.text = base64.StdEncoding.AppendEncode(t.text, p[:whole])
	t.n = copy(t.held[:], p[whole:])
	if _, err := t.ResponseWriter.Write(t.text); err != nil {
		return 0, err
	}
	return size, nil
}

// close ends a part of the answer: it writes the bytes that are held, with padding. There may be none, as an error is in headers alone.
func (t *textWriter) close() {
	if !t.started {
		t.WriteHeader(http.StatusOK)
	}
	if t.n > 0 {
		t.ResponseWriter.Write(base64.StdEncoding.AppendEncode(t.text[:0], t.held[:t.n])) // an error means that the caller is gone
		t.n = 0
	}
}

// Flush implements [http.Flusher].
func (t *textWriter) Flush() { t.FlushError() }

// FlushError is Flush for [http.ResponseController].
func (t *textWriter) FlushError() error {
	t.close()
	return http.NewResponseController(t.ResponseWriter).Flush()
}
