package rpc

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/introspect"
)

const (
	// maxStreams bounds the streams of a server.
	maxStreams = 4096
	// streamGrace is for how long a server that stops lets streams go on, so that those with an end come to it.
	streamGrace = 5 * time.Second
	// requestEnd is for how long a stream that has ended waits for the end of a request over HTTP/1.
	requestEnd = 250 * time.Millisecond
)

// streams are those that are open.
type streams struct {
	mu       sync.Mutex
	open     map[*context.CancelCauseFunc]struct{}
	stopping bool
}

// begin counts a stream in. end ends it when the server stops.
func (s *streams) begin(end *context.CancelCauseFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping:
		return stopped()
	case len(s.open) >= maxStreams:
		return sabir.Errorf(sabir.CodeResourceExhausted, errname.TooManyStreams, "the node has %d streams open over gRPC, which is all it takes", maxStreams).AsRetryable()
	}
	s.open[end] = struct{}{}
	return nil
}

func (s *streams) leave(end *context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, end)
}

// stop takes no more streams, and ends those that are open in a while.
func (s *streams) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	if len(s.open) == 0 {
		return
	}
	time.AfterFunc(streamGrace, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for end := range s.open {
			(*end)(stopped())
		}
	})
}

func stopped() *sabir.Error {
	return sabir.NewError(sabir.CodeUnavailable, sabir.ErrServiceUnavailable.Name, "the node stops: open the stream again, on another node").AsRetryable()
}

// streamInterceptor serves streams in place of the handler that it is given to.
type streamInterceptor struct{ streams *streams }

func (i streamInterceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc { return next }

func (i streamInterceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

func (i streamInterceptor) WrapStreamingHandler(connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		c := callOf(ctx)
		err := i.streams.serve(ctx, c, conn)
		header, trailer := c.answer.close()
		merge(conn.ResponseHeader(), header)
		merge(conn.ResponseTrailer(), trailer)
		if c.only != nil && len(header) > 0 {
			c.only.KeepApart()
		}
		return err
	}
}

// serve passes messages on between the connection and the action until one of them ends. It returns the error for the caller.
func (s *streams) serve(request context.Context, c *call, conn connect.StreamingHandlerConn) error {
	// Streams have no deadline but their caller's.
	c.control.SetReadDeadline(time.Time{})
	c.control.SetWriteDeadline(time.Time{})
	if c.http1 {
		c.control.EnableFullDuplex()
	}
	ctx, end := context.WithCancelCause(request)
	defer end(nil)
	if err := s.begin(&end); err != nil {
		return c.failure(request, err)
	}
	defer s.leave(&end)
	defer c.Until(end)()

	in := c.Inbound
	in.Context = gateway.WithAnswer(ctx, &c.answer)
	stream, err := c.Action.Open(in, c.format)
	if err != nil {
		return c.failure(request, err)
	}
	defer stream.Close()
	received := make(chan bool, 1) // whether the whole request was
	go func() {
		pass := receive
		if c.Action.Shape == introspect.ServerStream {
			pass = receiveOne
		}
		whole, err := pass(conn, stream)
		if err != nil {
			end(err)
		}
		received <- whole
	}()
	defer func() {
		end(nil)
		stream.Close()
		if c.endRead(received) {
			conn.ResponseHeader().Set("Connection", "close") // the rest of the request is still to come
		}
	}()
	err = send(c, conn, stream)
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		err = cause // why it was ended here
	}
	return c.failure(request, err) // before endRead, which may end the context of the request
}

// endRead ends the reading of messages that nobody wants any more; received says how it ends by itself. Over HTTP/1 it first gives the end of the
// request time to come: it nearly always has, and net/http, which reads on behind it, would take the interruption for a caller that has
// gone, and end the context of the connection's next request. It returns whether it broke off a request over HTTP/1: connect would
// otherwise wait for the rest of it before it answers, and a caller may wait for the answer before it sends the rest.
func (c *call) endRead(received <-chan bool) (brokenOff bool) {
	if c.http1 {
		select {
		case whole := <-received:
			if !whole {
				c.control.SetReadDeadline(time.Unix(1, 0))
			}
			return !whole
		case <-time.After(requestEnd):
		}
	}
	select {
	case <-received:
		return false
	default:
		c.control.SetReadDeadline(time.Unix(1, 0))
		<-received
		return c.http1
	}
}

// receive passes on what the caller sends. It returns whether that has come to its end.
func receive(conn connect.StreamingHandlerConn, stream *sabir.Stream[[]byte, []byte]) (whole bool, err error) {
	for {
		var message frame
		err := conn.Receive(&message)
		switch {
		case errors.Is(err, io.EOF):
			stream.CloseSend()
			return true, nil
		case err != nil:
			return false, fromConnect(err)
		}
		if err := stream.Send(message.data); err == io.EOF {
			return false, nil // the action has ended, and send returns why
		} else if err != nil {
			return false, err
		}
	}
}

// receiveOne passes on the only message of a caller. None, or more than that, are refused before the action has any. It returns
// whether the request has come to its end.
func receiveOne(conn connect.StreamingHandlerConn, stream *sabir.Stream[[]byte, []byte]) (whole bool, err error) {
	var message, second frame
	switch err := conn.Receive(&message); {
	case errors.Is(err, io.EOF):
		return true, sabir.NewError(sabir.CodeUnimplemented, sabir.CodeUnimplemented.String(), "the method takes one message, and got none")
	case err != nil:
		return false, fromConnect(err)
	}
	switch err := conn.Receive(&second); {
	case err == nil:
		return false, sabir.NewError(sabir.CodeUnimplemented, sabir.CodeUnimplemented.String(), "the method takes one message, and got several")
	case !errors.Is(err, io.EOF):
		return false, fromConnect(err)
	}
	if err := stream.Send(message.data); err != nil && err != io.EOF {
		return true, err
	}
	return true, nil
}

// send passes on what the action sends, and returns its error.
func send(c *call, conn connect.StreamingHandlerConn, stream *sabir.Stream[[]byte, []byte]) error {
	for {
		data, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		merge(conn.ResponseHeader(), c.answer.begin())
		if err := conn.Send(&frame{data}); err != nil {
			return errGone
		}
	}
}
