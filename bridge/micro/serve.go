package micro

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/accept"
	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/internal/requestid"
	"golang.org/x/net/netutil"
)

const (
	maxConnections = 10_000
	maxMessage     = 16 << 20  // bytes of a message
	maxBodies      = 128 << 20 // bytes of all requests that are served at once
	maxHead        = 64 << 10

	headLimit  = 10 * time.Second
	bodyLimit  = 30 * time.Second
	writeLimit = 30 * time.Second
	// idleLimit is longer than the minute for which go-micro's clients keep connections: one that the server ends fails their next call.
	idleLimit = 5 * time.Minute
)

// listenHTTP takes the address, so that it is known before the services start.
func (b *bridge) listenHTTP() error {
	if b.config.Listen == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(b.config.Listen)
	if err != nil {
		return fmt.Errorf("micro.Config: Listen %q: want an address such as \":8080\": %w", b.config.Listen, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fmt.Errorf("micro.Config: Listen: %w", err)
	}
	if own, ok := l.Addr().(*net.TCPAddr); ok && !own.IP.IsLoopback() && !b.config.Open {
		return errors.Join(l.Close(), fmt.Errorf("micro.Config: Listen %q: refusing to listen where other machines could call without proof: set Open where the network restricts "+
			"who reaches it, or leave out the host (\":%s\") to be reached from this machine only", b.config.Listen, port))
	}
	if b.address, err = b.advertised(l.Addr().String()); err != nil {
		return errors.Join(err, l.Close())
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true) // of go-micro's gRPC client
	b.server = &http.Server{Protocols: protocols, Handler: http.HandlerFunc(b.serve), ReadHeaderTimeout: headLimit, ReadTimeout: headLimit + bodyLimit, IdleTimeout: idleLimit,
		MaxHeaderBytes: maxHead, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	httpstrict.MakeSpace(b.server, maxConnections)
	b.listener = netutil.LimitListener(accept.Listener(l, b.node.Log(), "clients of go-micro"), maxConnections)
	return nil
}

// advertised is the address that clients of go-micro get from the registry.
func (b *bridge) advertised(listening string) (string, error) {
	address := b.config.Advertise
	if address == "" {
		address = listening
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("micro.Config: Advertise %q: %w", address, err)
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		return address, nil
	} else if ip != nil {
		return net.JoinHostPort(ownIP(), port), nil
	}
	ips, err := net.LookupIP(host)
	if err != nil {
		return "", fmt.Errorf("micro.Config: Advertise: the registry needs an address in numbers: %w", err)
	}
	return net.JoinHostPort(ips[0].String(), port), nil
}

// ownIP is the machine's address towards its network; nothing is sent to find it.
func ownIP() string {
	c, err := net.Dial("udp4", mdnsGroup.String())
	if err != nil {
		return "127.0.0.1"
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).IP.String()
}

// serve answers a message of a client of go-micro. The status is 200 for errors too: these are in a header.
func (b *bridge) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "clients of go-micro send POST", http.StatusMethodNotAllowed)
		return
	}
	if isPost(r) {
		b.servePost(w, r)
		return
	}
	if r.ProtoMajor == 2 && isGRPC(r.Header) {
		b.serveGRPC(w, r)
		return
	}
	out, f, err := b.call(w, r)
	if err == errTaken {
		return
	}
	h := w.Header()
	for _, name := range []string{headerID, headerService, headerMethod, headerEndpoint} {
		if value := header(r.Header, name); value != "" {
			h.Set(name, value)
			h.Set("X-"+name, value)
		}
	}
	if err != nil {
		text := errorTo(err).header()
		h.Set(headerError, text)
		h.Set("X-"+headerError, text)
		out = f.seal(r.Header, nil, text)
	} else {
		h.Set("Content-Type", f.contentType)
		out = f.seal(r.Header, out, "")
	}
	control := http.NewResponseController(w)
	control.SetWriteDeadline(time.Now().Add(writeLimit))
	w.Write(out) // an error means that the caller is gone
	control.SetWriteDeadline(time.Time{})
}

// call makes the call of a request, and returns the answer in the format in which it has to be sent.
func (b *bridge) call(w http.ResponseWriter, r *http.Request) ([]byte, format, error) {
	service, endpoint := header(r.Header, headerService), header(r.Header, headerEndpoint)
	if endpoint == "" {
		endpoint = header(r.Header, headerMethod)
	}
	if header(r.Header, headerTopic) != "" {
		return nil, format{}, sabir.Errorf(sabir.CodeUnimplemented, "NoEvents", "events come through go-micro's broker, and not as calls")
	}
	f, ok := httpFormatOf(r.Header.Get("Content-Type"))
	if !ok {
		return nil, f, unsupported(r)
	}
	action, missing := b.exposed.Load().find(service, endpoint)
	if missing != nil {
		return nil, f, missing
	}
	if action.Stream && header(r.Header, headerStream) != "" && r.ProtoMajor == 1 {
		return nil, f, b.serveStream(w, r, action, f)
	}
	body, done, err := b.body(w, r, io.ReadAll)
	if err != nil {
		return nil, f, err
	}
	defer done()
	value, err := f.open(body)
	if err != nil {
		return nil, f, err
	}
	in, err := inboundOf(w, r)
	if err != nil {
		return nil, f, err
	}
	out, err := action.Serve(in, f.codec, nil, value)
	return out, f, err
}

func unsupported(r *http.Request) error {
	return &Error{ID: "sabir", Code: http.StatusUnsupportedMediaType, Status: http.StatusText(http.StatusUnsupportedMediaType),
		Detail: fmt.Sprintf("unsupported Content-Type: %.100q", r.Header.Get("Content-Type"))}
}

// body reads the message in the body of a request. The memory for it counts until done is called.
func (b *bridge) body(w http.ResponseWriter, r *http.Request, read func(io.Reader) ([]byte, error)) (body []byte, done func(), err error) {
	if r.ContentLength > maxMessage {
		return nil, nil, tooLarge(r.ContentLength)
	}
	c := &counted{from: http.MaxBytesReader(w, r.Body, maxMessage+frameHead), all: &b.bodies}
	body, err = read(c)
	if err == nil {
		// The deadline for the request must not end the call: the server reads on to notice when the caller goes.
		http.NewResponseController(w).SetReadDeadline(time.Time{})
		return body, c.forget, nil
	}
	c.forget()
	// The server would wait for the rest of a body of which little is left before it answers, up to the deadline for the request.
	http.NewResponseController(w).SetReadDeadline(time.Now())
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, nil, tooLarge(maxMessage + 1)
	}
	if e, ok := errors.AsType[*sabir.Error](err); ok {
		return nil, nil, e
	}
	return nil, nil, sabir.Errorf(sabir.ErrBadInput.Code, sabir.ErrBadInput.Name, "the message did not come as a whole: %w", err)
}

func tooLarge(size int64) error {
	return sabir.Errorf(sabir.ErrMessageTooLarge.Code, sabir.ErrMessageTooLarge.Name, "the message has %d bytes or more: %d is the limit", size, maxMessage)
}

// counted counts what is read among the bytes of all requests, and fails when there are too many.
type counted struct {
	from io.Reader
	all  *atomic.Int64
	own  int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.own += int64(n)
	if c.all.Add(int64(n)) > maxBodies {
		return n, sabir.NewError(sabir.ErrTooManyCalls.Code, sabir.ErrTooManyCalls.Name, "the node serves as many bytes of go-micro's calls as it takes").AsRetryable()
	}
	return n, err
}

func (c *counted) forget() { c.all.Add(-c.own) }

// inboundOf describes a request as a call from outside. It ends when the caller has gone.
func inboundOf(w http.ResponseWriter, r *http.Request) (gateway.Inbound, error) {
	return inboundFrom(r.Context(), r.Header, answer{w})
}

// inboundFrom describes a call or an event with headers as one from outside.
func inboundFrom(ctx context.Context, h http.Header, a gateway.Answer) (gateway.Inbound, error) {
	metadata, err := metadataOf(h)
	id := h.Get(headerRequest)
	if id == "" || len(id) > 255 {
		id = requestid.New()
	}
	from := h.Get(headerFrom)
	return gateway.Inbound{
		Context: context.WithValue(ctx, headersKey{}, h), RequestID: id, Metadata: metadata,
		Level: depthOf(h), CalledBy: strings.ToValidUTF8(from[:min(len(from), 255)], ""), Limit: timeoutOf(h), Answer: a,
	}, err
}

// answer sends what a handler sets by SetHeader and SetTrailer of sabir.Answer, as headers: see [gateway.Answer]. The runtime calls it before the
// call returns.
type answer struct{ w http.ResponseWriter }

func (answer) SetStatus(int) error { return nil }

func (a answer) SetHeader(name, value string) error {
	setMetadata(a.w.Header(), map[string]string{name: value})
	return nil
}

func (a answer) SetTrailer(name, value string) error { return a.SetHeader(name, value) }
