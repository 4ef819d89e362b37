package mcp

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// The bounds of a stream's writes: a client that takes nothing for writeLimit is cut off, and quietTime after the last message it gets
// a comment, so that proxies in between do not take the stream for dead.
const (
	writeLimit = 10 * time.Second
	quietTime  = 15 * time.Second
)

// largestEvent bounds an answer that is an event though nothing came before it: the SDK for Python refuses events beyond 1 MiB.
const largestEvent = 512 << 10

// eventWriter writes an answer that may go on for long. The server's own time limit of an answer counts from its beginning, so each write
// gets its own here.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController

	requests *inFlight // of the session; nil for none
	single   bool      // the request is one message, whose answer is then the last of the stream

	mu     sync.Mutex // the SDK writes on several goroutines, and so does the heartbeat
	begun  bool
	quiet  *time.Timer // of a stream of events
	closed bool
}

func newEventWriter(w http.ResponseWriter) *eventWriter {
	return &eventWriter{w: w, control: http.NewResponseController(w)}
}

// Header may not be changed after the first write.
func (e *eventWriter) Header() http.Header { return e.w.Header() }

func (e *eventWriter) WriteHeader(status int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.begin()
	e.w.WriteHeader(status)
}

func (e *eventWriter) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return 0, http.ErrHandlerTimeout // the request has been answered
	}
	events := e.ofEvents()
	if events && e.requests != nil && e.requests.unwanted(p) { // the SDK writes each event at once
		e.begin()
		return len(p), nil
	}
	if events && !e.begun && e.single && len(p) > largestEvent {
		if message, _, ok := answerIn(p); ok {
			return len(p), e.writeAlone(message)
		}
	}
	e.begin()
	return e.write(p)
}

// writeAlone writes the only message of an answer as JSON, which servers may send in place of a stream.
func (e *eventWriter) writeAlone(message []byte) error {
	e.w.Header().Set("Content-Type", "application/json")
	e.begin()
	_, err := e.write(message)
	return err
}

// FlushError sends what was written.
func (e *eventWriter) FlushError() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return http.ErrHandlerTimeout
	}
	return e.control.Flush()
}

// Flush is for those who look for an http.Flusher.
func (e *eventWriter) Flush() { _ = e.FlushError() }

func (e *eventWriter) ofEvents() bool {
	return strings.HasPrefix(e.w.Header().Get("Content-Type"), "text/event-stream")
}

// begin starts the heartbeat where the answer is a stream.
func (e *eventWriter) begin() {
	if !e.begun && e.ofEvents() {
		e.quiet = time.AfterFunc(quietTime, e.heartbeat)
	}
	e.begun = true
}

func (e *eventWriter) write(p []byte) (int, error) {
	_ = e.control.SetWriteDeadline(time.Now().Add(writeLimit))
	if e.quiet != nil {
		e.quiet.Reset(quietTime)
	}
	return e.w.Write(p)
}

// heartbeat writes a comment, which clients pass over.
func (e *eventWriter) heartbeat() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	if _, err := e.write([]byte(":\n\n")); err != nil || e.control.Flush() != nil {
		e.quiet.Stop() // the client has gone, which the request's context shows
	}
}

// close ends the heartbeat. Nothing is written after it: net/http uses the connection for the next request then.
func (e *eventWriter) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.quiet != nil {
		e.quiet.Stop()
	}
}
