package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// request makes a request of the server itself for a client: one of an action, with the headers by which the client's own request
// passes the guards. from is that request.
func request(ctx context.Context, from *http.Request, method, path string, body []byte) (*http.Request, context.CancelFunc) {
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

// ofTransport reports whether a header is about the client's message of MCP, and not about what it asks for.
func ofTransport(name string) bool {
	switch name {
	case "Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Last-Event-Id", "Range",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return strings.HasPrefix(name, "Mcp-") || strings.HasPrefix(name, "If-")
}

// answer takes the answer to a request of the server itself.
type answer struct {
	header http.Header
	status int
	body   []byte
	write  func([]byte) // takes the body in its place; nil for none
}

func (a *answer) Header() http.Header { return a.header }

// WriteHeader keeps the status. Interim ones, such as 102, count for nothing.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.write != nil && a.status == http.StatusOK {
		a.write(p)
	} else {
		a.body = append(a.body, p...)
	}
	return len(p), nil
}

// The methods that http.ResponseController looks for. What is written here waits for nobody but the client's own connection, which has
// limits of its own.

func (a *answer) Flush()                           {}
func (a *answer) EnableFullDuplex() error          { return nil }
func (a *answer) SetReadDeadline(time.Time) error  { return nil }
func (a *answer) SetWriteDeadline(time.Time) error { return nil }

// do makes the request. The answer of one that was broken off is what came of it.
func (s *server) do(r *http.Request, write func([]byte)) (a *answer) {
	a = &answer{header: make(http.Header), write: write}
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			panic(p)
		}
	}()
	s.site.Handler.ServeHTTP(a, r)
	return a
}

// problem is an error as the server answers it: a problem document (RFC 9457).
type problem struct {
	Code      string          `json:"code"`
	Name      string          `json:"name"`
	Message   string          `json:"message"`
	Detail    string          `json:"detail"`
	Data      json.RawMessage `json:"data"`
	Retryable bool            `json:"retryable"`
}

// problem returns the error of the answer; nil for a success.
func (a *answer) problem() *problem {
	if a.status < 400 && a.status != 0 {
		return nil
	}
	return readProblem(a.body)
}

func readProblem(document []byte) *problem {
	p := &problem{}
	if err := json.Unmarshal(document, p); err != nil || p.Message == "" {
		*p = problem{Code: "Internal", Message: "the call failed without saying why"}
	}
	return p
}
