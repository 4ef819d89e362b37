package dubbo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/internal/errname"
)

// tripleLink is a connection to a provider by tri://.
type tripleLink struct {
	provider *provider
	http     *http.ClientConn
	socket   *watchedConn
	inFlight atomic.Int64
}

// watchedConn notices the end.
type watchedConn struct {
	net.Conn
	closing sync.Once
	ended   chan struct{}
}

// Close implements net.Conn.
func (c *watchedConn) Close() error {
	c.closing.Do(func() { close(c.ended) })
	return c.Conn.Close()
}

func dialTriple(ctx context.Context, p *provider) (session, error) {
	l := &tripleLink{provider: p}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	heartbeat := p.bridge.heartbeat
	transport := &http.Transport{Protocols: protocols, DisableCompression: true, MaxResponseHeaderBytes: maxHead,
		// Java closes a connection that is idle for three heartbeats of its own. More pings would have servers of gRPC close it: see deadconn.
		HTTP2: &http.HTTP2Config{SendPingTimeout: heartbeat, PingTimeout: 2 * heartbeat, WriteByteTimeout: writeLimit},
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			c, err := p.bridge.dial(ctx, address)
			if err != nil {
				return nil, err
			}
			l.socket = &watchedConn{Conn: c, ended: make(chan struct{})}
			return l.socket, nil
		}}
	var err error
	if l.http, err = transport.NewClientConn(ctx, "http", p.address); err != nil {
		return nil, err
	}
	return l, nil
}

// over implements session.
func (l *tripleLink) over() <-chan struct{} { return l.socket.ended }

// stops implements session.
func (l *tripleLink) stops() bool { return l.http.Err() != nil }

// waits implements session.
func (l *tripleLink) waits() bool { return l.inFlight.Load() > 0 }

// silence implements session: a provider may be silent for as long as a call takes, since it is not asked meanwhile.
func (l *tripleLink) silence(time.Time) time.Duration { return 0 }

// beat implements session: HTTP/2 sends a ping by itself.
func (l *tripleLink) beat() {}

// look implements session: HTTP/2 has its own heartbeats.
func (l *tripleLink) look(time.Time, time.Duration) {}

// Close implements session.
func (l *tripleLink) Close() error {
	err := l.http.Close()
	l.socket.Close()
	return err
}

// tripleOutgoing is the codec of a call that is made, whose messages are wrappers.
type tripleOutgoing struct{ outgoing }

// Append implements codec.Codec.
func (o tripleOutgoing) Append(dst []byte, v any) ([]byte, error) {
	to, types := o.to, o.to.types
	if to.stream && types == nil {
		types = []string{""}
	}
	var values []any
	var err error
	if !isEmpty(v) || len(types) > 0 && !to.stream {
		if values, err = arguments(types, v); err != nil {
			return dst, err
		}
	}
	if types == nil { // a generic call: the provider finds the method by its name
		values = []any{to.name, nil, &hessian.List{Type: "[object", Items: values}}
		types = []string{"java.lang.String", "java.lang.String[]", "java.lang.Object[]"}
	}
	each := make([][]byte, len(values))
	for i, value := range values {
		if each[i], err = hessian.Codec.Append(nil, value); err != nil {
			return dst, err
		}
	}
	types = append([]string{}, types[:min(len(types), len(each))]...)
	for i := range types {
		if types[i] == "" {
			types[i] = javaTypeOf(each[i])
		}
	}
	return appendWrapper(dst, each, types), nil
}

// inMessages reports whether the values of a call are messages of Protocol Buffers. input is a pointer to the first.
func (m *method) inMessages(input any) bool {
	if m.of.protobuf {
		return true
	}
	t := reflect.TypeOf(input)
	return t != nil && (isMessage(t) || t.Kind() == reflect.Pointer && isMessage(t.Elem()))
}

// request is one of a method with a body.
func (l *tripleLink) request(ctx context.Context, to calledMethod, body io.Reader) (*http.Request, error) {
	name := to.name
	generic := to.types == nil && !to.stream && !to.of.protobuf
	if generic {
		name = genericMethod
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.provider.address+"/"+to.of.name+"/"+name, body)
	if err != nil {
		return nil, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the call of %s cannot be written: %w", to.action, err)
	}
	h := request.Header
	setCallHeaders(ctx, h, to, l.provider.bridge.applicationName(), l.provider.bridge.Tag)
	h.Set("Content-Type", "application/grpc+proto")
	h.Set("Te", "trailers")
	h.Set("Grpc-Accept-Encoding", "gzip")
	h.Set("User-Agent", "sabir")
	if generic {
		h.Set("Generic", "true")
	}
	return request, nil
}

// call implements session.
func (l *tripleLink) call(ctx context.Context, to calledMethod, r *sabir.Request) error {
	held := buffers.Get().(*[]byte)
	inMessages := to.inMessages(r.Input())
	out, err := (*held)[:0], error(nil)
	if inMessages {
		out, err = r.AppendInput(protobuf.Codec, append(out, 0, 0, 0, 0, 0))
	} else {
		out, err = r.AppendInput(tripleOutgoing{outgoing{to.method}}, append(out, 0, 0, 0, 0, 0))
	}
	if err != nil {
		return err
	}
	if len(out)-messageHead > maxBody {
		return sabir.Errorf(sabir.ErrMessageTooLarge.Code, sabir.ErrMessageTooLarge.Name, "the call of %s has %d bytes: %d is the limit of Triple", to.action, len(out)-messageHead, maxBody)
	}
	setMessageLength(out)
	// The buffer is not used again: the connection may still read from it when the answer is there.
	request, err := l.request(ctx, to, bytes.NewReader(out))
	if err != nil {
		return err
	}
	if inMessages {
		request.URL.Path = "/" + to.of.name + "/" + to.name
		request.Header.Del("Generic")
	}
	response, err := l.roundTrip(request, to.method)
	if err != nil {
		return err
	}
	defer l.inFlight.Add(-1)
	defer response.Body.Close()
	data, err := l.answer(ctx, to.method, response)
	if err != nil {
		return err
	}
	if inMessages {
		return r.DecodeOutput(protobuf.Codec, data)
	}
	w, err := readWrapper(data)
	if err != nil || len(w.values) > 1 {
		return l.badAnswer(to.method, fmt.Errorf("%d values: %w", len(data), err))
	}
	value := []byte{'N'}
	if len(w.values) == 1 {
		value = w.values[0]
	}
	if response.Header.Get(headerException) != "" {
		x := new(hessian.Exception)
		if err := hessian.Codec.Decode(value, x); err != nil {
			return l.badAnswer(to.method, err)
		}
		return errorOf(to.of, x, l.provider.id)
	}
	return r.DecodeOutput(outgoing{to.method}, value)
}

func (l *tripleLink) badAnswer(to *method, err error) *sabir.Error {
	return sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "the answer of %s at the Dubbo provider %s cannot be read: %w", to.action, l.provider.id, err)
}

// roundTrip sends a request and waits for the head of the answer, whose end lowers inFlight.
func (l *tripleLink) roundTrip(request *http.Request, to *method) (*http.Response, error) {
	var sent atomic.Bool
	ctx := request.Context()
	request = request.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}))
	l.inFlight.Add(1)
	response, err := l.http.RoundTrip(request)
	if err != nil {
		l.inFlight.Add(-1)
		return nil, l.failure(ctx, to, err, sent.Load())
	}
	return response, nil
}

// failure is the error of a call that has no answer, or not all of it.
func (l *tripleLink) failure(ctx context.Context, to *method, err error, sent bool) *sabir.Error {
	switch {
	case ctx.Err() != nil:
		return sabir.AsError(ctx.Err())
	case errors.Is(err, errTooLarge), errors.Is(err, errNoMemory), errors.Is(err, errCompression):
		return l.badAnswer(to, err)
	case !sent, isRefused(err):
		return l.provider.unreachable(to.action)
	}
	return l.provider.lost(to.action)
}

// isRefused reports whether a provider certainly has not begun a call that it reset, or that its last GOAWAY leaves out (RFC 9113, section 8.7). The
// errors of net/http for this are known by their texts only.
func isRefused(err error) bool {
	text := err.Error()
	return strings.Contains(text, "REFUSED_STREAM") || strings.Contains(text, "graceful shutdown GOAWAY")
}

// answer reads the one message of an answer, and its end. An error status is an error.
func (l *tripleLink) answer(ctx context.Context, to *method, response *http.Response) ([]byte, error) {
	if response.StatusCode != http.StatusOK {
		return nil, l.statusOf(to, response)
	}
	held := &l.provider.bridge.bodies
	data, err := readMessage(response.Body, response.Header.Get(headerEncoding), held)
	if err == nil {
		held.free(len(data)) // the caller's from here
		var more [1]byte
		if _, end := io.ReadFull(response.Body, more[:]); end == nil {
			err = errors.New("more than one message")
		} else if end != io.EOF {
			err = end
		}
	}
	if err != nil && err != io.EOF {
		return nil, l.failure(ctx, to, err, true)
	}
	collect(ctx, attachmentsOf(response.Header))
	collect(ctx, attachmentsOf(response.Trailer))
	if failed := l.statusOf(to, response); failed != nil {
		return nil, failed
	}
	if err == io.EOF {
		return nil, l.badAnswer(to, errors.New("it has no message"))
	}
	return data, nil
}

// statusOf is the error that an answer ends with; nil for none.
func (l *tripleLink) statusOf(to *method, response *http.Response) error {
	text, of := response.Trailer.Get(headerStatus), response.Trailer
	if text == "" {
		text, of = response.Header.Get(headerStatus), response.Header
	}
	status, err := strconv.ParseUint(text, 10, 8)
	switch {
	case err != nil && response.StatusCode == http.StatusOK:
		return l.badAnswer(to, errors.New("the status of gRPC is missing"))
	case err != nil, status == 0 && response.StatusCode != http.StatusOK:
		return errorOfTriple(statusOfHTTP(response.StatusCode), "the Dubbo provider "+l.provider.id+" answers "+to.action+" with the status "+response.Status+" of HTTP", l.provider.id, to.action)
	case status == 0:
		return nil
	}
	return errorOfTriple(int(status), percentDecode(of.Get(headerMessage)), l.provider.id, to.action)
}

// statusOfHTTP is the status of gRPC for that of an answer without one, as gRPC's clients have it: Dubbo for Go does not know the method, or a
// gateway answers in the provider's place.
func statusOfHTTP(status int) int {
	code := sabir.CodeUnknown
	switch status {
	case http.StatusBadRequest:
		code = sabir.CodeInternal
	case http.StatusUnauthorized:
		code = sabir.CodeUnauthenticated
	case http.StatusForbidden:
		code = sabir.CodePermissionDenied
	case http.StatusNotFound:
		code = sabir.CodeUnimplemented
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		code = sabir.CodeUnavailable
	}
	return code.GRPCStatus()
}

// errorOfTriple is a status of gRPC, as callers here have it.
func errorOfTriple(status int, text, provider, action string) *sabir.Error {
	code := sabir.CodeUnknown
	if status <= sabir.CodeUnauthenticated.GRPCStatus() {
		code = sabir.Code(status)
	}
	name, retryable := code.String(), false
	switch code {
	case sabir.CodeDeadlineExceeded:
		name = sabir.ErrDeadlineExceeded.Name
	case sabir.CodeUnimplemented:
		code, name, retryable = sabir.ErrActionNotFound.Code, sabir.ErrActionNotFound.Name, true
	case sabir.CodeUnavailable:
		name = sabir.ErrServiceUnavailable.Name
	}
	e := sabir.NewError(code, name, firstLine(text))
	if e.Message == "" {
		e.Message = fmt.Sprintf("%s at the Dubbo provider %s: the status is %d", action, provider, status)
	}
	e.Retryable, e.Node = retryable, provider
	return e
}
