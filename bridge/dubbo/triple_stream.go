package dubbo

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/introspect"
)

// tripleStream is a stream that was opened to a provider.
type tripleStream struct {
	link   *tripleLink
	to     *method
	ctx    context.Context
	cancel context.CancelFunc
	out    *io.PipeWriter
	begun  chan struct{} // response or failed is there
	close  sync.Once

	response *http.Response
	failed   error

	mu       sync.Mutex
	messages bool // of Protocol Buffers, as the first value shows
	known    bool
}

// open implements session.
func (l *tripleLink) open(ctx context.Context, to calledMethod) (sabir.ForeignStream, error) {
	ctx, cancel := context.WithCancel(ctx)
	in, out := io.Pipe()
	request, err := l.request(ctx, to, in)
	if err != nil {
		cancel()
		return nil, err
	}
	s := &tripleStream{link: l, to: to.method, ctx: ctx, cancel: cancel, out: out, begun: make(chan struct{})}
	go func() { // the provider may send nothing until something was sent to it
		defer close(s.begun)
		s.response, s.failed = l.roundTrip(request, to.method) //nolint:bodyclose // the end of the context closes it
		if s.failed != nil {
			out.CloseWithError(io.EOF)
			return
		}
		context.AfterFunc(ctx, func() {
			s.response.Body.Close()
			l.inFlight.Add(-1)
		})
	}()
	return s, nil
}

// inMessages reports whether the values are messages of Protocol Buffers. sample is a pointer to one.
func (s *tripleStream) inMessages(sample any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		s.known, s.messages = true, s.to.inMessages(sample)
	}
	return s.messages
}

// Send implements sabir.ForeignStream. Behind the one value of a stream of answers it ends the sending.
func (s *tripleStream) Send(value any) error {
	var format codec.Codec = tripleOutgoing{outgoing{s.to}}
	if s.inMessages(value) {
		format = protobuf.Codec
	}
	data, err := format.Append(make([]byte, messageHead, 256), value)
	if err != nil {
		return sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "a value for %s cannot be sent: %w", s.to.action, err)
	}
	if len(data)-messageHead > maxBody {
		return sabir.Errorf(sabir.ErrMessageTooLarge.Code, sabir.ErrMessageTooLarge.Name, "a value for %s has %d bytes: %d is the limit of Triple", s.to.action, len(data)-messageHead, maxBody)
	}
	if _, err := s.out.Write(setMessageLength(data)); err != nil {
		return io.EOF // Recv says why
	}
	if s.to.shape == introspect.ServerStream {
		s.CloseSend()
	}
	return nil
}

// Recv implements sabir.ForeignStream.
func (s *tripleStream) Recv(value any) error {
	select {
	case <-s.begun:
	case <-s.ctx.Done():
		return sabir.AsError(s.ctx.Err())
	}
	if s.failed != nil {
		return s.failed
	}
	if s.response.StatusCode != http.StatusOK {
		return s.link.statusOf(s.to, s.response)
	}
	held := &s.link.provider.bridge.bodies
	data, err := readMessage(s.response.Body, s.response.Header.Get(headerEncoding), held)
	if err == io.EOF {
		collect(s.ctx, attachmentsOf(s.response.Trailer))
		if failed := s.link.statusOf(s.to, s.response); failed != nil {
			return failed
		}
		return io.EOF
	}
	if err != nil {
		return s.link.failure(s.ctx, s.to, err, true)
	}
	defer held.free(len(data))
	if s.inMessages(value) {
		err = protobuf.Codec.Decode(data, value)
	} else {
		err = decodeWrapped(data, value)
	}
	if err != nil {
		return sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "a value of %s cannot be read: %w", s.to.action, err)
	}
	return nil
}

func decodeWrapped(data []byte, value any) error {
	w, err := readWrapper(data)
	if err != nil {
		return err
	}
	if len(w.values) != 1 {
		return errNoWrapper
	}
	return hessian.Codec.Decode(w.values[0], value)
}

// CloseSend implements sabir.ForeignStream.
func (s *tripleStream) CloseSend() { s.out.Close() }

// Close implements sabir.ForeignStream.
func (s *tripleStream) Close() {
	s.close.Do(func() {
		s.out.CloseWithError(context.Canceled) // which resets the stream, if its sending has not ended
		s.cancel()
	})
}
