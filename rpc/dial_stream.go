package rpc

import (
	"context"
	"errors"
	"io"
	"sync"

	"connectrpc.com/connect"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
)

// foreignStream is a stream to a foreign server. In all protocols it is sent as one both ways, of whatever kind it is.
type foreignStream struct {
	peer   *peer
	action string
	method *method
	stream *connect.BidiStreamForClient[frame, frame]
	ctx    context.Context
	cancel context.CancelFunc
	close  sync.Once
	begun  bool // its headers were passed on
}

// Open implements sabir.ForeignNode.
func (p *peer) Open(ctx context.Context, action *sabir.Action) (sabir.ForeignStream, error) {
	m := p.methods.Load().byAction[action.Name]
	switch {
	case m == nil:
		return nil, sabir.Errorf(sabir.CodeNotFound, sabir.ErrActionNotFound.Name, "the server %s has no %s any more", p.id, action.Name).AsRetryable()
	case !m.isStream():
		return nil, sabir.Errorf(sabir.CodeInvalidArgument, errname.NoStream, "%s is not a stream: use Call", action.Name)
	case p.config.HTTP1:
		return nil, sabir.Errorf(sabir.CodeUnimplemented, errname.NoStream, "%s needs HTTP/2: the server %s is called over HTTP/1.1, by rpc.Foreign.HTTP1", action.Name, p.id)
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &foreignStream{peer: p, action: action.Name, method: m, stream: m.client.CallBidiStream(ctx), ctx: ctx, cancel: cancel}
	p.addHeaders(ctx, s.stream.RequestHeader())
	if m.IsStreamingClient() {
		if err := s.stream.Send(nil); err != nil { // the head alone: the server may be the first to send
			s.Close()
			return nil, p.failure(ctx, action.Name, err)
		}
	}
	return s, nil
}

// Recv implements sabir.ForeignStream.
func (s *foreignStream) Recv(value any) error {
	message, err := s.stream.Receive()
	if !s.begun && s.ctx.Err() == nil {
		s.begun = true
		giveAnswer(s.ctx, s.stream.ResponseHeader(), nil)
	}
	switch {
	case errors.Is(err, io.EOF):
		giveAnswer(s.ctx, nil, s.stream.ResponseTrailer())
		return io.EOF
	case err != nil:
		giveAnswer(s.ctx, nil, s.stream.ResponseTrailer())
		return s.peer.failure(s.ctx, s.action, err)
	}
	if err := s.method.out.Decode(message.data, value); err != nil {
		return sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "a value of %s cannot be read: %w", s.action, err)
	}
	return nil
}

// Send implements sabir.ForeignStream. Behind the one value of a server stream, for whose end the server waits, it ends the sending.
func (s *foreignStream) Send(value any) error {
	data, err := s.method.in.Append(nil, value)
	if err != nil {
		return sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "a value for %s cannot be sent: %w", s.action, err)
	}
	if err := s.stream.Send(&frame{data}); err != nil {
		if errors.Is(err, io.EOF) {
			return io.EOF // the server has ended the stream: Recv says why
		}
		return s.peer.failure(s.ctx, s.action, err)
	}
	if !s.method.IsStreamingClient() {
		s.CloseSend()
	}
	return nil
}

// CloseSend implements sabir.ForeignStream.
func (s *foreignStream) CloseSend() { _ = s.stream.CloseRequest() } // an error is one of the stream, which Recv returns

// Close implements sabir.ForeignStream.
func (s *foreignStream) Close() {
	s.close.Do(func() {
		s.cancel()
		_ = s.stream.CloseRequest()
		_ = s.stream.CloseResponse() // the stream ends in any case
	})
}
