package micro

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
)

// Over go-micro's HTTP transport a stream has a connection of its own, on which each side writes messages when it likes: the client requests, the
// server responses, of which none answers a certain request. The first request opens the stream, and its body is left out, as go-micro's servers
// do. The header Micro-Error with endOfStream is the last message of a side.
const (
	endOfStream = "EOS"
	// endedLimit is how long the client has to take what was sent, and to close the connection, when its stream has ended.
	endedLimit = 5 * time.Second
)

// serveStream takes a connection over for a stream.
func (b *bridge) serveStream(w http.ResponseWriter, r *http.Request, action *sabir.Action, f format) error {
	_, done, err := b.body(w, r, io.ReadAll)
	if err != nil {
		return err
	}
	done()
	if !b.serving.Begin() {
		return sabir.ErrTooManyCalls
	}
	defer b.serving.End()
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context())) // its end is no sign of the caller's once the connection was taken over
	defer cancel()
	defer context.AfterFunc(b.streaming, cancel)()
	in, err := inboundFrom(ctx, r.Header, nil)
	if err != nil {
		return err
	}
	if in.Limit > 0 { // Open has no limit of its own
		limited, stop := context.WithTimeout(in.Context, in.Limit)
		defer stop()
		in.Context = limited
	}
	stream, err := action.Open(in, f.codec)
	if err != nil {
		return err
	}
	defer stream.Close()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Time{})
	defer context.AfterFunc(in.Context, func() { conn.SetWriteDeadline(time.Now().Add(endedLimit)) })()
	s := &servedStream{bridge: b, conn: conn, from: newMessages(buffered.Reader, &b.bodies), header: answerHeader(r.Header, f), format: f, stream: stream}
	read := make(chan struct{})
	go func() {
		defer close(read)
		if err := s.feed(); err != nil {
			b.drop("a stream of a client of go-micro was ended", conn.RemoteAddr().String(), err)
			s.cause.Store(&err)
			cancel()
		}
	}()
	s.answer(ctx)
	s.over.Store(true)
	conn.SetReadDeadline(time.Now().Add(endedLimit))
	<-read
	return errTaken
}

// errTaken reports that a request was answered on the connection that was taken over.
var errTaken = errors.New("the connection was taken over")

// servedStream is a stream of a client of go-micro's HTTP transport.
type servedStream struct {
	bridge *bridge
	conn   net.Conn
	from   *messages
	header http.Header // of each message
	format format
	stream *sabir.Stream[[]byte, []byte]
	over   atomic.Bool           // the last message was sent
	cause  atomic.Pointer[error] // why the client's half cannot be read
}

// feed gives the handler what the client sends, until the client has sent all or the stream has ended.
func (s *servedStream) feed() error {
	ended := false
	for {
		h, body, err := s.from.request()
		switch {
		case err != nil:
			if s.over.Load() || ended && errors.Is(err, io.EOF) {
				return nil
			}
			return badMessage(err)
		case header(h, headerError) != "":
			s.stream.CloseSend()
			ended = true // it is read on to notice when the client closes
		case ended:
		default:
			value, err := s.format.open(body)
			if err == nil {
				err = give(s.stream, value)
			}
			if err != nil {
				return err
			}
		}
	}
}

// give passes a value on to the handler. The error is what is wrong with the value.
func give(stream *sabir.Stream[[]byte, []byte], value []byte) error {
	if err := stream.Send(value); err != io.EOF && stream.Context().Err() == nil {
		return err
	}
	return nil // it has ended, for a reason that Recv returns
}

// badMessage is the error of a message that cannot be read.
func badMessage(err error) error {
	if e, ok := errors.AsType[*sabir.Error](err); ok {
		return e
	}
	return sabir.Errorf(sabir.ErrBadInput.Code, sabir.ErrBadInput.Name, "the message did not come as a whole: %w", err)
}

// answer sends what the handler sends, and how it ended.
func (s *servedStream) answer(ctx context.Context) {
	for {
		value, err := s.stream.Recv()
		if err == nil {
			err = s.write(s.header, s.format.seal(s.header, value, ""))
			if err == nil {
				continue
			}
			return // the client has gone, which feed notices
		}
		if cause := s.cause.Load(); cause != nil {
			err = *cause
		} else if ctx.Err() != nil && s.bridge.streaming.Err() != nil {
			err = sabir.ErrServiceUnavailable
		}
		h := s.header.Clone()
		h.Set(headerError, endOfStream)
		if err != io.EOF {
			h.Set(headerError, errorTo(err).header())
		}
		h.Set("X-"+headerError, h.Get(headerError))
		s.write(h, s.format.seal(h, nil, h.Get(headerError))) // an error means that the client has gone
		return
	}
}

// write waits for as long as the client does not read. While the handler runs its stream is held in any case.
func (s *servedStream) write(h http.Header, body []byte) error { return writeResponse(s.conn, h, body) }

// answerHeader are the headers of the answers to a request.
func answerHeader(request http.Header, f format) http.Header {
	h := make(http.Header)
	for _, name := range []string{headerID, headerService, headerMethod, headerEndpoint, headerStream} {
		if value := header(request, name); value != "" {
			h.Set(name, value)
			if name != headerStream {
				h.Set("X-"+name, value)
			}
		}
	}
	h.Set("Content-Type", f.contentType)
	return h
}

// serveGRPCStream answers a stream of go-micro's gRPC client.
func (b *bridge) serveGRPCStream(w http.ResponseWriter, r *http.Request, action *sabir.Action, f format) error {
	if !b.serving.Begin() {
		return sabir.ErrTooManyCalls
	}
	defer b.serving.End()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(b.streaming, cancel)()
	in, err := inboundFrom(ctx, r.Header, nil)
	if err != nil {
		return err
	}
	if limit := limitOf(r.Header); limit > 0 {
		limited, stop := context.WithTimeout(in.Context, limit)
		defer stop()
		in.Context = limited
	}
	stream, err := action.Open(in, f.codec)
	if err != nil {
		return err
	}
	defer stream.Close()
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Time{})
	control.SetWriteDeadline(time.Time{})
	limited := make(chan struct{})
	unhook := context.AfterFunc(in.Context, func() {
		defer close(limited)
		control.SetWriteDeadline(time.Now().Add(endedLimit))
	})
	defer func() {
		if !unhook() {
			<-limited // net/http panics where a limit is set behind the end of a handler
		}
	}()
	control.Flush()
	feeding := make(chan struct{})
	var broken error // set before the context is ended for it
	go func() {
		defer close(feeding)
		if err := b.feedFrames(stream, r.Body, &f); err != nil {
			broken = err
			cancel()
		}
	}()
	for {
		value, err := stream.Recv()
		if err == nil {
			_, err = w.Write(closeFrame(append(make([]byte, frameHead, frameHead+len(value)), value...)))
			if err == nil {
				err = control.Flush()
			}
			if err == nil {
				continue
			}
		}
		control.SetReadDeadline(time.Now()) // nothing more is read
		<-feeding
		switch {
		case broken != nil:
			return broken
		case err == io.EOF:
			return nil
		case b.streaming.Err() != nil:
			return sabir.ErrServiceUnavailable
		}
		return err
	}
}

// feedFrames gives the handler what the client sends. The error is what is wrong with a frame.
func (b *bridge) feedFrames(stream *sabir.Stream[[]byte, []byte], body io.Reader, f *format) error {
	for {
		data, err := b.countedFrame(body)
		if err == io.EOF {
			stream.CloseSend()
			return nil
		}
		if err != nil {
			if stream.Context().Err() != nil {
				return nil
			}
			if _, ok := errors.AsType[net.Error](err); ok {
				return nil // the stream has ended
			}
			return badMessage(err)
		}
		if err := give(stream, f.input(data)); err != nil {
			return err
		}
	}
}

// countedFrame reads a frame, whose bytes count among those of all requests while they are read.
func (b *bridge) countedFrame(from io.Reader) ([]byte, error) {
	c := &counted{from: from, all: &b.bodies}
	defer c.forget()
	return readFrame(c)
}
