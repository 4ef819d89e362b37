// Package directory has what the directories of nodes share: a small client of their HTTP APIs, and the loop that keeps a node entered.
package directory

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/backoff"
)

// MaxAnswer bounds the bytes of one answer.
const MaxAnswer = 16 << 20

// Client sends requests to one of several servers that know the same: to the one that answered last, and to the next where that does not.
type Client struct {
	urls   []string
	http   *http.Client
	header func(http.Header)
	turn   atomic.Uint32
}

// NewClient makes a client of the servers at the addresses. header adds to each request what shows who asks; it may be nil.
func NewClient(urls []string, config *tls.Config, header func(http.Header)) (*Client, error) {
	if len(urls) == 0 {
		return nil, errors.New("URLs is empty: name the addresses of its servers")
	}
	c := &Client{header: header}
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("%q is no URL such as http://10.0.0.9:2379", withoutUser(u, text))
		}
		if u.User != nil {
			return nil, fmt.Errorf("the URL %s has a user in it: set the fields for it", u.Redacted())
		}
		c.urls = append(c.urls, strings.TrimSuffix(text, "/"))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	// HTTP/2 stays on a connection whatever becomes of the requests on it, so that one which carries nothing any more, as after a failover, is found by this only.
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 2 * time.Second, PingTimeout: 3 * time.Second}
	c.http = &http.Client{Transport: transport}
	return c, nil
}

func withoutUser(u *url.URL, text string) string {
	if u == nil || strings.Contains(text, "@") {
		return "(hidden)"
	}
	return text
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Status is the error of an answer that refuses the request.
type Status struct {
	Code int
	Text string
}

// Error implements error.
func (s *Status) Error() string {
	return fmt.Sprintf("it answers %d %s: %s", s.Code, http.StatusText(s.Code), s.Text)
}

// Open sends a request with in as its JSON, nil for none, and returns the answer, whose body the caller closes. One that is no success is a *Status.
func (c *Client) Open(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	turn := c.turn.Load()
	r, err := http.NewRequestWithContext(ctx, method, c.urls[int(turn)%len(c.urls)]+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if c.header != nil {
		c.header(r.Header)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) { // which says nothing of the server
			c.turn.CompareAndSwap(turn, turn+1)
		}
		return nil, err
	}
	if answer.StatusCode/100 != 2 {
		defer answer.Body.Close()
		if answer.StatusCode/100 == 5 {
			c.turn.CompareAndSwap(turn, turn+1)
		}
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 300))
		return nil, &Status{answer.StatusCode, strings.TrimSpace(string(text))}
	}
	return answer, nil
}

// requestTimeout bounds a request that is answered at once.
const requestTimeout = 5 * time.Second

// Do sends a request and reads the JSON of its answer into out, nil for none.
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer, err := c.Open(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return Read(answer.Body, out)
}

// Read reads the JSON of an answer into out; nil reads to the end, so that the connection can be used again.
func Read(body io.Reader, out any) error {
	text, err := io.ReadAll(io.LimitReader(body, MaxAnswer+1))
	switch {
	case err != nil:
		return err
	case len(text) > MaxAnswer:
		return fmt.Errorf("the answer has more than %d bytes", MaxAnswer)
	case out == nil:
		return nil
	}
	return json.Unmarshal(text, out)
}

// pause is the time between two attempts to reach a directory.
var pause = backoff.Backoff{First: 200 * time.Millisecond, Last: 5 * time.Second}

// Keep runs session again and again until ctx ends. A session enters the node and returns when the entry has to be made anew, with the reason. It calls
// working when the entry is made. The log has the first failure of several, others where their reason is another, and that it is over.
func Keep(ctx context.Context, log *slog.Logger, name string, session func(ctx context.Context, working func()) error) {
	failed := 0
	var reasons backoff.Reasons
	working := func() {
		if reasons.End() {
			log.Info("the directory of nodes is reached again", "directory", name)
		}
		failed = 0
	}
	for {
		err := session(ctx, working)
		if ctx.Err() != nil {
			return
		}
		failed++
		if reasons.Due(err) {
			log.Warn("the directory of nodes is not reached: links stay, and nodes that come are not found meanwhile", "directory", name, "error", err)
		}
		if backoff.Sleep(ctx, pause.Wait(failed)) != nil {
			return
		}
	}
}

// goodbyeTimeout bounds what a node does in the directory when it stops.
const goodbyeTimeout = 2 * time.Second

// Goodbye runs what takes an entry back, after ctx has ended.
func Goodbye(ctx context.Context, leave func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeTimeout)
	defer cancel()
	leave(ctx)
}
