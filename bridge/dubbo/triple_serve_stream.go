package dubbo

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/introspect"
)

// open opens the stream of a request. Its context ends with the caller's time, with the caller and with the server, and by end, which must be
// called. The stream must be closed.
func (c *tripleCall) open(action *sabir.Action, format codec.Codec) (context.Context, context.CancelCauseFunc, *sabir.Stream[[]byte, []byte], error) {
	in, err := c.inv.inbound(c.r.Context(), nil)
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := c.r.Context(), context.CancelFunc(func() {})
	if in.Limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, in.Limit)
	}
	ctx, because := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(c.server.streams, func() { because(context.Cause(c.server.streams)) })
	end := func(cause error) {
		because(cause)
		unhook()
		cancel()
	}
	in.Context = gateway.WithAnswer(ctx, &c.answer)
	stream, err := action.Open(in, format)
	if err != nil {
		end(nil)
		return nil, nil, nil, err
	}
	return ctx, end, stream, nil
}

// endedBy returns why a stream that failed was ended here, where it was, and else its error.
func endedBy(ctx context.Context, err error) error {
	why := context.Cause(ctx)
	if err == nil || why == nil || errors.Is(why, context.Canceled) || errors.Is(why, context.DeadlineExceeded) {
		return err
	}
	return why
}

// serveStream carries a stream until it ends on one side.
func (c *tripleCall) serveStream(action *sabir.Action) error {
	var format codec.Codec = streamFormat{c.m, c.inv.method}
	if c.m.inMessages(action) {
		format = c.form.codec
	}
	ctx, end, stream, err := c.open(action, format)
	if err != nil {
		return inMessages(err)
	}
	defer end(nil)
	defer stream.Close()
	if c.r.ProtoMajor == 1 {
		_ = c.control.EnableFullDuplex()
		c.w.Header().Set("Connection", "close") // what is left of the body of a stream that ends early would be taken for a request
	}
	received := make(chan struct{})
	go func() {
		defer close(received)
		if err := c.receive(stream, action.Shape == introspect.ServerStream); err != nil {
			end(err)
		}
	}()
	err = c.send(stream)
	err = endedBy(ctx, err)
	stream.Close()
	c.control.SetReadDeadline(time.Unix(1, 0)) // ends receive
	<-received
	return inMessages(err)
}

// receive passes on what the caller sends: one value, if takesOne is true. Dubbo for Python sends an empty message behind its last.
func (c *tripleCall) receive(stream *sabir.Stream[[]byte, []byte], takesOne bool) error {
	held := &c.server.bridge.bodies
	for taken := 0; ; taken++ {
		data, err := readMessage(c.r.Body, c.encoding(), held)
		if err == io.EOF {
			stream.CloseSend()
			return nil
		}
		if err != nil {
			return unreadable(err)
		}
		if takesOne && taken > 0 && len(data) == 0 {
			continue
		}
		err = stream.Send(data)
		held.free(len(data))
		if err == io.EOF {
			return nil // Recv says why the stream has ended
		}
		if err != nil {
			return unreadable(err)
		}
	}
}

// send passes on what the handler sends, and returns its error.
func (c *tripleCall) send(stream *sabir.Stream[[]byte, []byte]) error {
	for {
		data, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.write(data); err != nil {
			return err
		}
		if c.control.Flush() != nil {
			return errGone
		}
	}
}

// streamFormat is the codec of the values of a stream, each of which is in a wrapper.
type streamFormat struct {
	of     *mapping
	method string
}

// Name implements codec.Codec.
func (streamFormat) Name() string { return hessian.Codec.Name() }

// Decode implements codec.Codec.
func (s streamFormat) Decode(data []byte, v any) error {
	w, err := readWrapper(data)
	if err != nil {
		return err
	}
	return decodeArguments(nil, w.values, w.types, s.of.declares(s.method, len(w.types)), false, v)
}

// Append implements codec.Codec.
func (streamFormat) Append(dst []byte, v any) ([]byte, error) {
	value, err := hessian.Codec.Append(nil, v)
	if err != nil {
		return dst, err
	}
	return appendWrapper(dst, [][]byte{value}, []string{javaTypeOf(value)}), nil
}
