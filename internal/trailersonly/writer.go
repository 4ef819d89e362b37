// Package trailersonly writes errors of gRPC as its clients try them again.
package trailersonly

import (
	"net/http"
	"strings"
)

// Writer answers a call of gRPC that fails before its first message in one block of headers, which the protocol calls Trailers-Only.
// Clients that try again by a policy of their own (grpc-java, grpc-go and the C core below Python and others) take a call for begun, and never
// try it again, once its answer has headers apart from the error. The trailers are those of net/http: with http.TrailerPrefix, or declared.
//
// It holds the headers until there is a body. One goroutine at a time uses it, as any http.ResponseWriter.
type Writer struct {
	http.ResponseWriter
	status  int
	begun   bool
	flushed bool // while the headers were held
	apart   bool
}

// Wrap returns what the answer to a request is to be written to, and what must be called at its end. For requests that are not of gRPC itself, whose
// clients read errors elsewhere, it is w.
func Wrap(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, func()) {
	kind := r.Header.Get("Content-Type")
	if r.ProtoMajor != 2 || !strings.HasPrefix(kind, "application/grpc") || strings.HasPrefix(kind, "application/grpc-web") {
		return w, func() {}
	}
	only := &Writer{ResponseWriter: w}
	return only, only.end
}

// Handler serves requests with [Wrap].
func Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w, end := Wrap(w, r)
		defer end()
		h.ServeHTTP(w, r)
	})
}

// KeepApart sends the headers apart from an error: the handler of a stream has set some, which its client looks for before the error.
func (w *Writer) KeepApart() { w.apart = true }

// Unwrap is for http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w *Writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *Writer) begin() {
	if w.begun {
		return
	}
	w.begun = true
	if w.status != 0 {
		w.ResponseWriter.WriteHeader(w.status)
	}
}

func (w *Writer) Write(p []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(p)
}

// FlushError sends what was written. Headers alone wait for the end, which may add to them.
func (w *Writer) FlushError() error {
	if !w.begun {
		w.flushed = true
		return nil
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is for those who look for an http.Flusher.
func (w *Writer) Flush() { _ = w.FlushError() }

// end makes the trailers of an answer without a body, and with an error, headers of it.
func (w *Writer) end() {
	if w.begun {
		return
	}
	h := w.Header()
	status := h.Get(http.TrailerPrefix + "Grpc-Status")
	if status == "" {
		status = h.Get("Grpc-Status") // declared by the header Trailer
	}
	if status == "" || status == "0" || w.apart {
		w.begin()
		if w.flushed {
			w.Flush()
		}
		return
	}
	h.Del("Trailer")
	for name, values := range h {
		if plain, prefixed := strings.CutPrefix(name, http.TrailerPrefix); prefixed {
			delete(h, name)
			h[plain] = append(h[plain], values...)
		}
	}
	w.begin()
}
