package web

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/isolate"
)

// http2Writer makes a time limit of a write what it is over HTTP/1: one of writes. net/http ends a stream of HTTP/2 when its limit has passed, also
// one to which nothing is being written, so an answer that is silent for longer than a write may take would be cut off.
type http2Writer struct {
	http.ResponseWriter
	limited atomic.Bool // there is a limit, for what is written until the next flush
}

// withHTTP2Writer is next with an http2Writer for each request over HTTP/2.
func withHTTP2Writer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 {
			isolate.GrowStack(0) // that of the stream
			w = &http2Writer{ResponseWriter: w}
		}
		next.ServeHTTP(w, r)
	})
}

// Unwrap is for http.ResponseController.
func (w *http2Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// SetWriteDeadline sets the limit of what is written until the next flush, and of the end of the answer.
func (w *http2Writer) SetWriteDeadline(deadline time.Time) error {
	w.limited.Store(!deadline.IsZero())
	return http.NewResponseController(w.ResponseWriter).SetWriteDeadline(deadline)
}

// FlushError returns when what was written has gone to the connection. Then the limit has been kept.
func (w *http2Writer) FlushError() error {
	control := http.NewResponseController(w.ResponseWriter)
	if err := control.Flush(); err != nil {
		return err
	}
	if w.limited.CompareAndSwap(true, false) {
		return control.SetWriteDeadline(time.Time{})
	}
	return nil
}

// Flush is for those who look for an http.Flusher.
func (w *http2Writer) Flush() { _ = w.FlushError() }
