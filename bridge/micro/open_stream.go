package micro

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
)

// Open implements sabir.ForeignNode. It does not say whether the endpoint is a stream: one that is not answers with its one value, or an error.
func (p *peer) Open(ctx context.Context, action *sabir.Action) (sabir.ForeignStream, error) {
	endpoint := p.endpoints[action.Name]
	if endpoint == "" || p.ctx.Err() != nil {
		return nil, unreachable(action.Name, p.Name(), errors.New("it has gone"))
	}
	if p.record.grpc() {
		return p.openGRPC(ctx, action.Name, endpoint)
	}
	return p.openHTTP(ctx, action.Name, endpoint)
}

// openedHTTP is a stream to a server of go-micro's HTTP transport: see serve_stream.go.
type openedHTTP struct {
	peer   *peer
	action string
	ctx    context.Context
	cancel context.CancelFunc
	unhook func() bool
	conn   net.Conn
	from   *messages
	header http.Header // of each message

	writing sync.Mutex
	closed  bool // by CloseSend
	ended   error
}

func (p *peer) openHTTP(ctx context.Context, action, endpoint string) (sabir.ForeignStream, error) {
	dialer := net.Dialer{Timeout: dialLimit, KeepAliveConfig: keepAlive}
	conn, err := dialer.DialContext(ctx, "tcp", p.record.address)
	if err != nil {
		return nil, p.failed(ctx, action, err)
	}
	s := &openedHTTP{peer: p, action: action, conn: conn, from: newMessages(conn, &p.bridge.bodies), header: make(http.Header)}
	p.setHeaders(ctx, s.header, endpoint)
	s.ctx, s.cancel = context.WithCancel(ctx)
	stop := context.AfterFunc(p.ctx, s.cancel)
	end := context.AfterFunc(s.ctx, func() { conn.Close() })
	s.unhook = func() bool { return stop() && end() }
	if err := s.write(s.header, nil); err != nil { // go-micro leaves out what the first message has
		s.Close()
		return nil, p.failed(ctx, action, err)
	}
	return s, nil
}

// write waits for as long as the handler does not read, as over gRPC. The connection is closed at the end of the context.
func (s *openedHTTP) write(h http.Header, body []byte) error {
	return writeRequest(s.conn, s.peer.record.address, h, body)
}

// Send implements sabir.ForeignStream. Every message has an id of its own.
func (s *openedHTTP) Send(value any) error {
	body, err := s.peer.bridge.format.codec.Append(nil, value)
	if err != nil {
		return err
	}
	if len(body) > maxMessage {
		return tooLarge(int64(len(body)))
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed || s.ctx.Err() != nil || s.write(s.header, body) != nil {
		return io.EOF // for a reason that Recv returns
	}
	return nil
}

// CloseSend implements sabir.ForeignStream. A server of go-micro says nothing at the end of a handler that has read to the end of what the client
// sent. Asked to close the connection, it does so when the handler has returned and all is sent.
func (s *openedHTTP) CloseSend() {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	h := s.header.Clone()
	h.Set(headerError, endOfStream)
	h.Set("Connection", "close")
	s.write(h, nil) // an error is that of Recv
}

// Recv implements sabir.ForeignStream.
func (s *openedHTTP) Recv(value any) error {
	if s.ended != nil {
		return s.ended
	}
	status, h, body, err := s.from.response()
	switch {
	case err != nil:
		s.ended = s.lost(err)
	case !strings.HasPrefix(status, "200 "):
		s.ended = s.peer.stranger(status)
	default:
		switch text := header(h, headerError); text {
		case "":
			return s.peer.bridge.format.codec.Decode(s.peer.bridge.format.input(body), value)
		case endOfStream, "EOF":
			s.ended = io.EOF
		default:
			s.ended = errorFrom(text, s.peer.Name())
		}
	}
	s.Close()
	return s.ended
}

// lost is the reason for which nothing more can be received.
func (s *openedHTTP) lost(err error) error {
	s.writing.Lock()
	closed := s.closed
	s.writing.Unlock()
	if closed && s.ctx.Err() == nil && err == io.EOF {
		return io.EOF // the handler has returned
	}
	return s.peer.failed(s.ctx, s.action, err)
}

// Close implements sabir.ForeignStream.
func (s *openedHTTP) Close() {
	s.cancel()
	s.unhook()
	s.conn.Close()
}

// openedGRPC is a stream to a server of go-micro's gRPC.
type openedGRPC struct {
	peer   *peer
	action string
	ctx    context.Context
	cancel context.CancelFunc
	unhook func() bool
	body   *io.PipeWriter
	answer chan struct{} // closed when response or failed is set

	response *http.Response
	failed   error
	ended    error
}

func (p *peer) openGRPC(ctx context.Context, action, endpoint string) (sabir.ForeignStream, error) {
	s := &openedGRPC{peer: p, action: action, answer: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(ctx)
	from, to := io.Pipe()
	s.body = to
	request, err := http.NewRequestWithContext(s.ctx, http.MethodPost, "http://"+p.record.address+grpcPath(p.record.service, endpoint), from)
	if err != nil {
		s.cancel()
		return nil, unreachable(action, p.Name(), err)
	}
	p.setGRPCHeaders(ctx, request.Header, endpoint)
	s.unhook = context.AfterFunc(p.ctx, s.cancel)
	go func() {
		defer close(s.answer)
		s.response, s.failed = p.bridge.http2.Do(request) //nolint:bodyclose // Close does
		if s.failed != nil {
			from.CloseWithError(io.EOF)
		}
	}()
	return s, nil
}

// Send implements sabir.ForeignStream.
func (s *openedGRPC) Send(value any) error {
	frame, err := s.peer.bridge.format.codec.Append(make([]byte, frameHead), value)
	if err != nil {
		return err
	}
	if len(frame) > maxMessage+frameHead {
		return tooLarge(int64(len(frame)))
	}
	if _, err := s.body.Write(closeFrame(frame)); err != nil {
		return io.EOF // for a reason that Recv returns
	}
	return nil
}

// CloseSend implements sabir.ForeignStream.
func (s *openedGRPC) CloseSend() { s.body.Close() }

// Recv implements sabir.ForeignStream.
func (s *openedGRPC) Recv(value any) error {
	if s.ended != nil {
		return s.ended
	}
	err := s.receive(value)
	if bad, ok := errors.AsType[*valueError](err); ok {
		return bad.error // the stream goes on
	}
	if err != nil {
		s.ended = err
		s.Close()
	}
	return err
}

// valueError is the error of a value that cannot be read.
type valueError struct{ error }

func (s *openedGRPC) receive(value any) error {
	<-s.answer
	p := s.peer
	switch {
	case s.failed != nil:
		return p.failed(s.ctx, s.action, s.failed)
	case s.response.StatusCode != http.StatusOK:
		return p.stranger(s.response.Status)
	}
	data, err := p.bridge.countedFrame(s.response.Body)
	if err == nil {
		if err := p.bridge.format.codec.Decode(p.bridge.format.input(data), value); err != nil {
			return &valueError{err}
		}
		return nil
	}
	if err != io.EOF {
		return p.failed(s.ctx, s.action, err)
	}
	status := s.response.Trailer
	if s.response.Header.Get(grpcStatus) != "" {
		status = s.response.Header // there is no message
	}
	switch err := grpcFailure(status, p.Name()); err.(type) {
	case nil:
		return io.EOF
	case *sabir.Error:
		return err
	default:
		return p.failed(s.ctx, s.action, err)
	}
}

// Close implements sabir.ForeignStream.
func (s *openedGRPC) Close() {
	s.cancel()
	s.unhook()
	s.body.CloseWithError(io.EOF)
	<-s.answer
	if s.response != nil {
		s.response.Body.Close()
	}
}

// setGRPCHeaders sets the headers of a call to a server of gRPC.
func (p *peer) setGRPCHeaders(ctx context.Context, h http.Header, endpoint string) {
	p.setHeaders(ctx, h, endpoint)
	h.Set("Content-Type", grpcType+"+"+p.bridge.format.grpcName())
	h.Set("Te", "trailers")
	h.Del("Accept")
	h.Del(headerStream)
	if deadline, ok := ctx.Deadline(); ok {
		h.Set(grpcTimeout, strconv.FormatInt(min(max(time.Until(deadline).Milliseconds(), 1), 99_999_999), 10)+"m")
	}
}
