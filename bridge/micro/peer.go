package micro

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/deadconn"
	"github.com/sabir-go/sabir/introspect"
)

// peer is a node of one service of go-micro: a sabir.ForeignNode.
type peer struct {
	bridge    *bridge
	record    record
	endpoints map[string]string // by action
	offer     sabir.ForeignOffer
	ctx       context.Context // ends when the node has gone
	gone      context.CancelFunc
	looked    chan struct{} // closed when the first look has ended

	posts atomic.Int64 // events that it has not taken yet

	up   bool      // guarded by peers.mu, as what follows
	seen time.Time // when it answered, or the registry named it
}

func newPeer(b *bridge, r *record) *peer {
	now := time.Now()
	p := &peer{bridge: b, record: *r, endpoints: make(map[string]string), seen: now, looked: make(chan struct{})}
	p.ctx, p.gone = context.WithCancel(b.ctx)
	p.offer.Node = introspect.Node{Framework: "go-micro", Host: r.address, Since: now}
	p.offer.Services = []introspect.Service{serviceNamed(r.service)}
	for i := range r.subscriptions {
		s := &r.subscriptions[i]
		p.offer.Events = append(p.offer.Events, sabir.Subscription{Service: r.service, Pattern: s.topic, Group: s.group()})
	}
	for _, e := range r.endpoints {
		name, ok := actionOf(r.service, e)
		if _, taken := p.endpoints[name]; !ok || taken {
			continue
		}
		p.endpoints[name] = e
		p.offer.Actions = append(p.offer.Actions, introspect.Action{Name: name, Service: r.service, Visibility: "cluster", Stream: slices.Contains(r.streams, e)})
	}
	return p
}

func serviceNamed(name string) introspect.Service { return introspect.Service{Name: name} }

const (
	dialLimit = 2 * time.Second
	// maxPooled is how many connections to one peer are kept: each carries one call at a time.
	maxPooled = 256
)

// keepAlive finds out that the machine of a peer has gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}

// newClients returns the clients for HTTP/1.1, and for HTTP/2 without TLS.
func newClients() (http1, http2 *http.Client) {
	dialer := &net.Dialer{Timeout: dialLimit, KeepAliveConfig: keepAlive, Control: deadconn.Control}
	client := func(p *http.Protocols) *http.Client {
		return &http.Client{
			Transport: &http.Transport{DialContext: dialer.DialContext, Protocols: p, DisableCompression: true, MaxIdleConns: 4 * maxPooled, MaxIdleConnsPerHost: maxPooled,
				IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 1 << 20},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	one, two := new(http.Protocols), new(http.Protocols)
	one.SetHTTP1(true)
	two.SetUnencryptedHTTP2(true)
	return client(one), client(two)
}

// Name implements sabir.ForeignNode.
func (p *peer) Name() string { return p.record.id }

// Send implements sabir.ForeignNode: it makes a call.
func (p *peer) Send(ctx context.Context, r *sabir.Request) error {
	b, action := p.bridge, r.Action().Name
	var free []byte // for the head of a frame
	if p.record.grpc() {
		free = make([]byte, frameHead)
	}
	body, err := r.AppendInput(b.format.codec, free)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	if p.record.grpc() {
		return p.sendGRPC(ctx, r, body)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.record.address+"/", bytes.NewReader(body))
	if err != nil {
		return unreachable(action, p.Name(), err)
	}
	p.setHeaders(ctx, request.Header, p.endpoints[action])
	response, err := b.client.Do(request)
	if err == nil {
		body, err = read(response)
	}
	if err != nil {
		return p.failed(ctx, action, err)
	}
	if text := header(response.Header, headerError); text != "" {
		return errorFrom(text, p.Name())
	}
	if response.StatusCode != http.StatusOK {
		return p.stranger(response.Status)
	}
	return r.DecodeOutput(b.format.codec, b.format.input(body))
}

// sendGRPC makes a call to a server of go-micro's gRPC.
func (p *peer) sendGRPC(ctx context.Context, r *sabir.Request, frame []byte) error {
	b, action := p.bridge, r.Action().Name
	endpoint := p.endpoints[action]
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.record.address+grpcPath(p.record.service, endpoint), bytes.NewReader(closeFrame(frame)))
	if err != nil {
		return unreachable(action, p.Name(), err)
	}
	p.setGRPCHeaders(ctx, request.Header, endpoint)
	response, err := b.http2.Do(request)
	if err != nil {
		return p.failed(ctx, action, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return p.stranger(response.Status)
	}
	body, failed := readFrame(response.Body)
	if failed == nil || failed == io.EOF {
		_, failed = io.Copy(io.Discard, io.LimitReader(response.Body, maxMessage)) // up to the trailers
	}
	if failed != nil {
		return p.failed(ctx, action, failed)
	}
	status := response.Trailer
	if response.Header.Get(grpcStatus) != "" {
		status = response.Header // there is no message
	}
	if err := grpcFailure(status, p.Name()); err != nil {
		if _, ok := err.(*sabir.Error); !ok {
			return p.failed(ctx, action, err)
		}
		return err
	}
	return r.DecodeOutput(b.format.codec, b.format.input(body))
}

// stranger is the error of an answer that no service of go-micro gives.
func (p *peer) stranger(status string) error {
	return sabir.Errorf(sabir.CodeInternal, sabir.ErrHandlerFailed.Name, "%s answered %s, which no service of go-micro does", p.Name(), status)
}

// setHeaders sets the headers of a call. Each has an id of its own: servers of go-micro lose a request whose id another one on the same
// connection has, for a moment after that one was answered too. They take the id of a stream for it, which a call has as well: its own they look up
// as Micro-ID, which no header of HTTP is called once it was read, so all calls of a connection would have the same.
func (p *peer) setHeaders(ctx context.Context, h http.Header, endpoint string) {
	b := p.bridge
	id := strconv.FormatUint(b.calls.Add(1), 10)
	b.setContext(ctx, h)
	h.Set(headerService, p.record.service)
	h.Set(headerEndpoint, endpoint)
	h.Set(headerMethod, endpoint)
	h.Set(headerID, id)
	h.Set(headerStream, id)
	h.Set("Content-Type", b.format.contentType)
	h.Set("Accept", b.format.contentType)
	h.Set("User-Agent", "") // go-micro takes headers as metadata
}

// setContext sets the headers for what a context carries.
func (b *bridge) setContext(ctx context.Context, h http.Header) {
	info := sabir.InfoFromContext(ctx)
	setMetadata(h, info.Metadata)
	h.Set(headerDepth, strconv.Itoa(max(info.Depth, 1)))
	if validValue(info.CalledBy) && info.CalledBy != "" {
		h.Set(headerFrom, info.CalledBy)
	}
	if validValue(info.RequestID) && info.RequestID != "" {
		h.Set(headerRequest, info.RequestID)
	}
	if deadline, ok := ctx.Deadline(); ok {
		h.Set(headerTimeout, strconv.FormatInt(max(time.Until(deadline).Nanoseconds(), 1), 10))
	}
}

// read reads the body of an answer.
func read(r *http.Response) ([]byte, error) {
	defer r.Body.Close()
	if r.ContentLength > maxMessage {
		return nil, errTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxMessage+1))
	if len(body) > maxMessage {
		return nil, errTooLarge
	}
	return body, err
}

var errTooLarge = fmt.Errorf("the message has more than %d bytes", maxMessage)

// failed is the error of a call that was not answered.
func (p *peer) failed(ctx context.Context, action string, err error) error {
	if errors.Is(err, errTooLarge) {
		return sabir.Errorf(sabir.ErrMessageTooLarge.Code, sabir.ErrMessageTooLarge.Name, "%s: %w", action, err)
	}
	if p.ctx.Err() == nil && ctx.Err() != nil {
		return sabir.AsError(ctx.Err())
	}
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		p.bridge.setUp(p, false)
		return unreachable(action, p.Name(), err)
	}
	return lost(action, p.Name(), err)
}
