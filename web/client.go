package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/secret"
)

// Client calls the actions of a node over HTTP. Make it with [Dial], share it between goroutines, and Close it at the end.
// It is a [sabir.Upstream], so a node made with sabir.WithUpstream(client) calls the other node's public actions with sabir.Call,
// Bind and CallJSON like its own:
//
//	client, err := web.Dial("http://10.0.0.7:3000", web.ClientConfig{Key: secret.New(key)})
//	…
//	node := sabir.NewNode(sabir.WithUpstream(client))
//
// The context's deadline, request id and metadata go with each call. An error of the other node comes back as the same
// *sabir.Error, except for what a node does not send over HTTP (see docs/http.md). A call that did not get through is
// sabir.ErrServiceUnavailable: retryable where no connection could be made, and not where it broke later, because the handler may
// have run.
type Client struct {
	base      *url.URL
	name      string
	key       secret.Secret
	http      *http.Client
	transport *http.Transport
	maxAnswer int64
}

var _ sabir.Upstream = (*Client)(nil)

var jsonCodec = json.Codec

// ClientConfig has the settings of [Dial].
type ClientConfig struct {
	// Key is sent as "Authorization: Bearer <key>" with every request. Over http:// every host on the way can read it. Default: none.
	Key secret.Secret
	// TLS has the authorities and the certificate of a client that calls https://. Default: the authorities of the system.
	TLS *tls.Config
	// MaxAnswer bounds the answers that are read, in bytes. A longer one is an error. Default: 64 MiB.
	MaxAnswer int64
}

const (
	maxClientConns = 512 // to one node at once; further calls wait for one to be free
	clientIdle     = 90 * time.Second
	dialTimeout    = 5 * time.Second
	defaultAnswer  = 64 << 20
)

// Dial makes a client for the node at a URL such as "http://127.0.0.1:3000"; a path in it goes before those of the
// actions. For convenience "127.0.0.1:3000" and ":3000" mean http and this machine. It does not connect: use Ready to find
// out whether the node is there. The error describes what is wrong with the URL.
func Dial(baseURL string, config ClientConfig) (*Client, error) {
	base, err := parseBase(baseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{base: base, name: base.String(), key: config.Key, maxAnswer: max(cmp.Or(config.MaxAnswer, defaultAnswer), 1)}
	c.transport = &http.Transport{
		DialContext:            dial,
		MaxIdleConns:           maxClientConns,
		MaxIdleConnsPerHost:    maxClientConns,
		MaxConnsPerHost:        maxClientConns,
		IdleConnTimeout:        clientIdle, // before the node closes them
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		// HTTP/2 stays on a connection whatever becomes of the calls on it, so that one which carries nothing any more, as after a failover, is found by this only.
		HTTP2: &http.HTTP2Config{SendPingTimeout: dialTimeout, PingTimeout: dialTimeout},
	}
	if config.TLS != nil {
		c.transport.TLSClientConfig = config.TLS.Clone()
	}
	if !visible(string(c.key.Bytes())) {
		return nil, errors.New("web: the key has a space, a line break or a character outside ASCII, which no Authorization header can carry")
	}
	c.http = &http.Client{
		Transport:     c.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the key is for this node
	}
	return c, nil
}

func parseBase(baseURL string) (*url.URL, error) {
	text := baseURL
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("web: %q is not a URL such as http://127.0.0.1:3000", baseURL)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("web: the URL %q is not http:// or https://", u.Redacted())
	case u.User != nil:
		return nil, fmt.Errorf("web: the URL %q has a user: give the key as Key of web.ClientConfig", u.Redacted())
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("web: the URL %q has a query or a fragment: want a node's address such as http://127.0.0.1:3000", u.Redacted())
	case u.Host == "":
		return nil, fmt.Errorf("web: the URL %q names no host", baseURL)
	}
	if u.Hostname() == "" {
		u.Host = "127.0.0.1" + u.Host
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

// unreached marks the errors of calls that were never sent.
type unreached struct{ error }

func (u unreached) Unwrap() error { return u.error }

func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	c, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, unreached{err}
	}
	return c, nil
}

// Name is the URL of the node.
func (c *Client) Name() string { return c.name }

// Close closes the idle connections; calls in flight finish.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Ready asks the node whether it takes calls: nil if so, else why not. It needs no key.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.exchange(ctx, http.MethodGet, "/ready", "readiness", nil)
	return err
}

// Call calls an action by its full name with a JSON document, nil for {}, and returns the answer's. Every error is a
// *sabir.Error.
func (c *Client) Call(ctx context.Context, action string, body []byte) ([]byte, error) {
	if body == nil {
		body = []byte("{}")
	}
	if !sendable(action) {
		return nil, sabir.Errorf(sabir.CodeInvalidArgument, errname.BadName, "%.100q is no name of an action: want words joined by dots, such as users.get", action)
	}
	return c.exchange(ctx, http.MethodPost, actionPath(action), action, body)
}

// Send is the method of sabir.Upstream.
func (c *Client) Send(ctx context.Context, r *sabir.Request) error {
	body, err := r.AppendInput(jsonCodec, nil)
	if err != nil {
		return err
	}
	answer, err := c.Call(ctx, r.Action().Name, body)
	if err != nil {
		return err
	}
	return r.DecodeOutput(jsonCodec, answer)
}

// sendable reports whether a name can be an action's, and its path thus nothing but that.
func sendable(action string) bool {
	for i := range len(action) {
		switch c := action[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.', c == '$' && i == 0:
		default:
			return false
		}
	}
	return len(action) > 0 && len(action) <= maxActionName && !strings.Contains("."+action+".", "..")
}

// exchange sends one request and returns the body of its good answer.
func (c *Client) exchange(ctx context.Context, method, path, what string, body []byte) ([]byte, error) {
	request, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "%s cannot be called: %w", what, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, c.lost(ctx, what, err)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.lost(ctx, what, err)
	}
	defer response.Body.Close()
	if strings.HasPrefix(response.Header.Get("Content-Type"), "application/x-ndjson") {
		return nil, sabir.Errorf(sabir.CodeInvalidArgument, errname.StreamWanted, "%s is a stream, which a call over HTTP cannot read", what)
	}
	answer, err := c.read(response)
	switch {
	case errors.Is(err, errTooLong):
		return nil, sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "the answer of %s is longer than the limit of %d bytes (MaxAnswer of web.ClientConfig sets it)", what, c.maxAnswer)
	case err != nil:
		return nil, c.lost(ctx, what, err)
	case response.StatusCode < 200 || response.StatusCode > 299:
		return nil, errorFromResponse(c.name, response.StatusCode, response.Header.Get("Content-Type"), answer)
	case len(answer) == 0 && response.StatusCode != http.StatusOK:
		return []byte("null"), nil // 204 and 205 have no body
	case !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json"):
		return nil, notSabir(c.name, response.StatusCode, response.Header.Get("Content-Type"))
	}
	return answer, nil
}

func (c *Client) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	u := *c.base
	u.Path += path
	request := (&http.Request{Method: method, URL: &u, Host: u.Host, Header: make(http.Header, 6)}).WithContext(ctx)
	h := request.Header
	if body != nil {
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		h["Content-Type"] = []string{jsonType}
	}
	if len(body) == 0 {
		request.Body = http.NoBody
	}
	if !c.key.None() {
		h["Authorization"] = []string{"Bearer " + string(c.key.Bytes())}
	}
	if id := sabir.InfoFromContext(ctx).RequestID; id != "" && len(id) <= maxRequestID && visible(id) {
		h[requestIDHeader] = []string{id}
	}
	if deadline, ok := ctx.Deadline(); ok {
		h[timeoutHeader] = []string{max(time.Until(deadline), time.Microsecond).String()}
	}
	return request, setMetadata(h, sabir.InfoFromContext(ctx).Metadata)
}

var errTooLong = errors.New("the answer is too long")

// read reads the body of an answer up to the limit. A declared length is trusted only as far as it costs little.
func (c *Client) read(response *http.Response) ([]byte, error) {
	if response.ContentLength > c.maxAnswer {
		return nil, errTooLong
	}
	size := min(max(response.ContentLength, 512), 1<<20) + 1 // one more, to meet the end without growing
	answer, _, err := readAll(make([]byte, 0, size), io.LimitReader(response.Body, c.maxAnswer+1), nil)
	if err == nil && int64(len(answer)) > c.maxAnswer {
		return nil, errTooLong
	}
	return answer, err
}

// lost makes the error of a call without a response.
func (c *Client) lost(ctx context.Context, what string, err error) *sabir.Error {
	cause := err
	if outer, ok := errors.AsType[*url.Error](err); ok {
		cause = outer.Err // without the method and the URL, which this package adds itself
	}
	_, notSent := errors.AsType[unreached](err)
	deadline, timed := ctx.Deadline()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), timed && !time.Now().Before(deadline):
		return sabir.Errorf(sabir.CodeDeadlineExceeded, sabir.ErrDeadlineExceeded.Name, "the deadline passed before %s answered from %s", what, c.name)
	case ctx.Err() != nil:
		return sabir.Errorf(sabir.CodeCanceled, sabir.ErrCanceled.Name, "the caller gave up on %s at %s", what, c.name)
	case notSent:
		return sabir.Errorf(sabir.CodeUnavailable, sabir.ErrServiceUnavailable.Name, "no node answers at %s: %w; is it running?", c.name, cause).AsRetryable()
	}
	return sabir.Errorf(sabir.CodeUnavailable, sabir.ErrServiceUnavailable.Name, "the connection to %s broke before the answer of %s came, which may have run: %w", c.name, what, cause)
}

// notSabir makes the error for a response that no node sends.
func notSabir(where string, status int, contentType string) *sabir.Error {
	e := sabir.Errorf(codeOf(status), errname.NotANode, "%s answered %s with %.60q, which is not how a Sabir node answers: is the address right, or is a proxy in between?",
		where, strings.TrimSpace(strconv.Itoa(status)+" "+http.StatusText(status)), contentType)
	e.Retryable = status == http.StatusTooManyRequests // the others may come after the node has run it
	return e
}
