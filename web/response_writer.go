package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// responseWriter passes on the response of a mounted handler and records whether it has started. It has the methods that
// handlers commonly look for; http.NewResponseController finds the others by Unwrap.
type responseWriter struct {
	w       http.ResponseWriter
	started bool
}

// writer is a as the handler gets it. Only connections of HTTP/1.1 can be taken over.
func (a *responseWriter) writer() http.ResponseWriter {
	if _, ok := a.w.(http.Hijacker); ok {
		return hijackable{a}
	}
	return a
}

func (a *responseWriter) Unwrap() http.ResponseWriter { return a.w }

func (a *responseWriter) Header() http.Header { return a.w.Header() }

func (a *responseWriter) WriteHeader(status int) {
	a.started = a.started || status >= 200 || status == http.StatusSwitchingProtocols // others go before the answer
	a.w.WriteHeader(status)
}

func (a *responseWriter) Write(p []byte) (int, error) {
	a.started = true
	return a.w.Write(p)
}

func (a *responseWriter) WriteString(s string) (int, error) {
	a.started = true
	return io.WriteString(a.w, s)
}

// ReadFrom lets the system copy files.
func (a *responseWriter) ReadFrom(r io.Reader) (int64, error) {
	a.started = true
	return io.Copy(a.w, r)
}

func (a *responseWriter) Flush() { a.FlushError() }

func (a *responseWriter) FlushError() error {
	a.started = true
	return http.NewResponseController(a.w).Flush()
}

// hijackable is a responseWriter on a connection that can be hijacked.
type hijackable struct{ *responseWriter }

func (h hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	h.started = true
	return http.NewResponseController(h.w).Hijack()
}
