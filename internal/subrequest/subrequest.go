// Package subrequest makes requests of a server of package web to itself, for doors of other protocols: a client's message is answered by
// requests to actions with the headers of the client's own request, so that all guards hold for them.
package subrequest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// New makes a request to the server itself, such as one for an action, with the headers by which the client's own request passes the
// guards. from is that request. The function ends it.
func New(ctx context.Context, from *http.Request, method, path string, body []byte) (*http.Request, context.CancelFunc) {
	// Only the end of ctx counts: its values are those of another request, such as the connection that net/http watches.
	own, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, cancel)
	r, err := http.NewRequestWithContext(own, method, path, bytes.NewReader(body))
	if err != nil { // a path of the server's own table can be read
		panic(err)
	}
	for name, values := range from.Header {
		if !ofTransport(name) {
			r.Header[name] = values
		}
	}
	r.Host, r.RemoteAddr, r.TLS = from.Host, from.RemoteAddr, from.TLS
	if method != http.MethodGet {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, func() { stop(); cancel() }
}

// ofTransport reports whether a header is about the client's message in its own protocol, and not about what it asks for.
func ofTransport(name string) bool {
	switch name {
	case "Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Last-Event-Id", "Range",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return strings.HasPrefix(name, "Mcp-") || strings.HasPrefix(name, "Trpc-") || strings.HasPrefix(name, "If-")
}

// Answer is the answer to a request to the server itself.
type Answer struct {
	Status int // 0 where the request was broken off before there was one
	Body   []byte
	header http.Header
	write  func([]byte) // takes the body in its place; nil for none
}

// Header implements [http.ResponseWriter].
func (a *Answer) Header() http.Header { return a.header }

// WriteHeader keeps the status. Interim ones, such as 102, count for nothing.
func (a *Answer) WriteHeader(status int) {
	if a.Status == 0 && status >= 200 {
		a.Status = status
	}
}

// Write implements [http.ResponseWriter].
func (a *Answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.write != nil && a.Status == http.StatusOK {
		a.write(p)
	} else {
		a.Body = append(a.Body, p...)
	}
	return len(p), nil
}

// The methods that http.ResponseController looks for. What is written here waits for nobody but the client's own connection, which has
// limits of its own.

func (a *Answer) Flush()                           {}
func (a *Answer) EnableFullDuplex() error          { return nil }
func (a *Answer) SetReadDeadline(time.Time) error  { return nil }
func (a *Answer) SetWriteDeadline(time.Time) error { return nil }

// Do has the server answer the request. write takes the body of an answer 200 as it comes; where it is nil, the whole is kept. The answer to
// a request that was broken off is what came of it.
func Do(server http.Handler, r *http.Request, write func([]byte)) (a *Answer) {
	a = &Answer{header: make(http.Header), write: write}
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			panic(p)
		}
	}()
	server.ServeHTTP(a, r)
	return a
}

// Problem is an error as the server answers it: a problem document (RFC 9457).
type Problem struct {
	Status    int             `json:"status"`
	Code      string          `json:"code"`
	Name      string          `json:"name"`
	Message   string          `json:"message"`
	Data      json.RawMessage `json:"data"`
	Retryable bool            `json:"retryable"`
	RequestID string          `json:"requestId"`
}

// Problem returns the error of the answer; nil for a success.
func (a *Answer) Problem() *Problem {
	if a.Status < 400 && a.Status != 0 {
		return nil
	}
	return ReadProblem(a.Body)
}

// ReadProblem reads a problem document.
func ReadProblem(document []byte) *Problem {
	p := &Problem{}
	if err := json.Unmarshal(document, p); err != nil || p.Message == "" {
		*p = Problem{Status: http.StatusInternalServerError, Code: "Internal", Message: "the call failed without saying why"}
	}
	return p
}
