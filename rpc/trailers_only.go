package rpc

import (
	"net/http"
	"strings"
)

// trailersOnly answers a call of gRPC that fails before its first message in one block of headers, which the protocol calls Trailers-Only.
// Clients that try again by a policy of their own (grpc-java, grpc-go and the C core below Python and others) take a call for begun, and never
// try it again, once its answer has headers apart from the error; connect's has.
//
// It holds the headers until there is a body. One goroutine at a time uses it, as any http.ResponseWriter.
type trailersOnly struct {
	http.ResponseWriter
	status  int
	begun   bool
	flushed bool // while the headers were held
	apart   bool // the handler of a stream has set headers, which its client looks for before the error
}

// Unwrap is for http.ResponseController.
func (w *trailersOnly) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w *trailersOnly) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *trailersOnly) begin() {
	if w.begun {
		return
	}
	w.begun = true
	if w.status != 0 {
		w.ResponseWriter.WriteHeader(w.status)
	}
}

func (w *trailersOnly) Write(p []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(p)
}

// FlushError sends what was written. Headers alone wait for the end, which may add to them.
func (w *trailersOnly) FlushError() error {
	if !w.begun {
		w.flushed = true
		return nil
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is for those who look for an http.Flusher.
func (w *trailersOnly) Flush() { _ = w.FlushError() }

// end makes the trailers of an answer without a body, and with an error, headers of it.
func (w *trailersOnly) end() {
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
