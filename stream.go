package sabir

import (
	"context"
	"io"
	"iter"
	"reflect"
	"sync"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/validate"
)

// Stream is one end of an open stream: it receives R and sends S. A handler of HandleStream[In, Out] has a
// Stream[In, Out], its caller a Stream[Out, In]. One goroutine may receive while another sends; neither Recv nor Send may
// be called by two at once.
//
// Both directions have back-pressure: Send waits when the other side is [gateway.StreamWindow] values or 256 KiB behind; a larger
// value is sent when no other is under way, and over a link [cluster.Limits] sets the bytes. While the streams of the node hold more
// than their part of [BufferLimits], those whose receivers take nothing are ended with [ErrStreamTooSlow].
type Stream[R, S any] struct {
	ctx       context.Context
	recv      func() (R, error)
	send      func(S) error
	closeSend func()
	end       func()
}

// Context is the stream's context: the handler's own, or the one the caller opened the stream with.
func (s *Stream[R, S]) Context() context.Context { return s.ctx }

// Recv waits for the next value. It returns io.EOF when the other side has sent its last one; on the caller's side, the
// handler's error if it returned one.
func (s *Stream[R, S]) Recv() (R, error) { return s.recv() }

// Send sends a value, waiting while the other side is behind. When the stream has ended it returns io.EOF on the
// caller's side, where Recv returns the reason, and the context's error on the handler's.
func (s *Stream[R, S]) Send(value S) error { return s.send(value) }

// CloseSend signals that no more values will be sent; the other side's Recv then returns io.EOF. A handler has no need for it:
// it signals the same by returning.
func (s *Stream[R, S]) CloseSend() { s.closeSend() }

// Close ends the stream: on the caller's side it cancels the handler's context. Call it (with defer) on every stream that
// was opened; closing a stream that has ended does nothing.
func (s *Stream[R, S]) Close() { s.end() }

// All yields what Recv returns until io.EOF. Another error is yielded once, as the last.
func (s *Stream[R, S]) All() iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for {
			value, err := s.Recv()
			if err == io.EOF || !yield(value, err) || err != nil {
				return
			}
		}
	}
}

// HandleStream adds an action that is a stream: fn receives any number of In and sends any number of Out, in any order.
// The stream ends when fn returns, and the caller's Recv returns fn's error. The io.EOF of Recv, returned as it is, is none: the stream
// ends with its input. Each In is checked by its `validate` tags: a bad one ends the stream for both sides. fn runs on a goroutine of its own, and its context ends when the caller
// closes the stream or no longer waits. [ServerStream] and [ClientStream] declare that one value goes one of the ways. HandleStream panics when a node serves s already: it would have no effect.
func HandleStream[In, Out any](s *Service, name string, fn func(context.Context, *Stream[In, Out]) error, options ...ActionOption) {
	handleStream(s, &definition{short: name, where: option.Caller(), stream: true}, fn, options)
}

func handleStream[In, Out any](s *Service, def *definition, fn func(context.Context, *Stream[In, Out]) error, options []ActionOption) {
	def.apply(s, options, fn != nil)
	def.open = func(a *Action, n *Node, s *Service) (local, error) {
		h := &streamHandler[In, Out]{fn: fn, action: a}
		return h, h.compose(n, s, def)
	}
	s.define(def)
}

// OpenStream opens a stream to an action made with HandleStream. In and Out are, in this order, what the handler receives
// and sends, or types that agree with them in shape; the caller's end has them the other way round. The caller must
// Close the stream.
func OpenStream[In, Out any](ctx context.Context, from Caller, action string, options ...CallOption) (*Stream[Out, In], error) {
	n := from.callingNode()
	if n == nil {
		return nil, errNoNode(from, action)
	}
	o := gather(options)
	e := n.table.Load().find(action)
	if e == nil && o.anyNode() && n.remote != nil {
		return nil, &Error{Code: CodeInvalidArgument, Name: nameNoStream, Node: n.id, Message: "no stream here is called " + action + ", and streams do not go over a Remote"}
	}
	e, err := n.endpointFor(e, action, &o)
	if err != nil {
		return nil, err
	}
	return openStreamOf[In, Out](ctx, e, o)
}

// openStreamOf opens a stream to an endpoint.
func openStreamOf[In, Out any](ctx context.Context, e endpoint, o callOptions) (*Stream[Out, In], error) {
	if h, ok := e.(*streamHandler[In, Out]); ok {
		return h.openStream(ctx)
	}
	if a, ok := e.(*remoteAction); ok {
		return openRemoteStream[In, Out](ctx, a, o)
	}
	opener, ok := e.(streamOpener)
	if !ok {
		return nil, noStream(e.operation().node, e.info().Name)
	}
	other, err := opener.openAny(ctx)
	if err != nil {
		return nil, err
	}
	return convertStream[In, Out](other), nil
}

// CallStream opens a stream, sends one value and yields what comes back: the common case of one question and many
// answers. Leaving the loop closes the stream.
//
//	for line, err := range sabir.CallStream[Line](ctx, node, "log.tail", Tail{File: "a.log"}) { … }
func CallStream[Out, In any](ctx context.Context, from Caller, action string, in In, options ...CallOption) iter.Seq2[Out, error] {
	return func(yield func(Out, error) bool) {
		s, err := OpenStream[In, Out](ctx, from, action, options...)
		if err == nil {
			defer s.Close()
			if err = s.Send(in); err == io.EOF {
				err = nil // Recv returns the reason
			}
			s.CloseSend()
		}
		if err != nil {
			var none Out
			yield(none, err)
			return
		}
		s.All()(yield)
	}
}

// streamHandler is a running stream action of this node.
type streamHandler[In, Out any] struct {
	fn     func(context.Context, *Stream[In, Out]) error
	action *Action
	op     *operation
	plan   *validate.Plan
	gate   *gate
	chain  Handler

	measureIn  func(*In) int // see streamQueue
	measureOut func(*Out) int
}

func (h *streamHandler[In, Out]) info() *Action         { return h.action }
func (h *streamHandler[In, Out]) operation() *operation { return h.op }

func (h *streamHandler[In, Out]) compose(n *Node, s *Service, def *definition) (err error) {
	h.action.In, h.action.Out = reflect.TypeFor[In](), reflect.TypeFor[Out]()
	if err := h.action.annotate(def); err != nil {
		return err
	}
	h.fn = inShape(h.action, h.fn)
	h.op = newOperation(n, h.action.Service, h.action.Name)
	h.op.action = h.action
	h.gate = s.gate
	h.measureIn, h.measureOut = memory.Sizer[In](), memory.Sizer[Out]()
	if h.plan, err = n.compileRules(h.action.In, def.where); err != nil {
		return err
	}
	chain := Handler(func(ctx context.Context, r *Request) error {
		return h.run(ctx, callOf(ctx), r.typed.(*openedStream[In, Out]).stream)
	})
	chain, _ = composeCall(h.action, chain, def.middlewares, streamLayer)
	chain, _ = composeCall(h.action, chain, s.middlewares, streamLayer)
	chain, _ = composeCall(h.action, chain, n.middlewares, streamLayer)
	h.chain, _ = composeCall(h.action, chain, n.allowed(s.rules, def.rules), streamLayer)
	return nil
}

func (h *streamHandler[In, Out]) run(ctx context.Context, c *callContext, s *Stream[In, Out]) (err error) {
	returned := false
	defer func() {
		if !returned {
			err = c.recovered(h.action.Name, recover())
		}
	}()
	err = h.fn(ctx, s)
	if c.hasScope() {
		err = c.closeScope(err)
	}
	if err != nil {
		err = c.handlerError(err)
	}
	returned = true
	return err
}

func (h *streamHandler[In, Out]) openStream(ctx context.Context) (*Stream[Out, In], error) {
	ctx, cancel := context.WithCancel(ctx)
	c, failed := h.op.enter(ctx)
	if failed == nil && h.gate != nil && !h.gate.enter() {
		failed = h.op.node.unavailable(h.action.Name)
	}
	if failed != nil {
		cancel()
		return nil, failed
	}
	p := &pipe[In, Out]{handler: h, ctx: ctx, cancel: cancel, upDone: make(chan struct{}), ended: make(chan struct{})}
	account := h.op.node.accountOf(ctx)
	p.up = newStreamQueue(h.measureIn, account, p.tooSlow)
	p.down = newStreamQueue(h.measureOut, account, p.tooSlow)
	r := &openedStream[In, Out]{stream: &Stream[In, Out]{ctx: c, recv: p.handlerRecv, send: p.handlerSend, closeSend: func() {}, end: func() {}}}
	r.action, r.typed = h.action, r
	run := func(context.Context) error { return r.attempt(c, h.chain) }
	forget := context.AfterFunc(h.op.node.ended, cancel)
	go isolateGoroutine(h.action.Name, c, run, func(err error) {
		defer p.up.window.Close()
		defer cancel()
		defer forget()
		defer close(p.ended)
		if h.gate != nil {
			defer h.gate.leave()
		}
		if err != nil {
			p.err = h.op.node.located(err)
		}
	})
	s := &Stream[Out, In]{ctx: ctx, recv: p.callerRecv, send: p.callerSend, closeSend: sync.OnceFunc(func() { close(p.upDone) }), end: p.abandon}
	return callerInShape(h.action, s), nil
}

// openedStream is a stream on its way through the middlewares: a request without input and output.
type openedStream[In, Out any] struct {
	Request
	stream *Stream[In, Out]
}

func (o *openedStream[In, Out]) input() any         { return nil }
func (o *openedStream[In, Out]) output() any        { return nil }
func (o *openedStream[In, Out]) copyOutput() any    { return nil }
func (o *openedStream[In, Out]) setOutput(any) bool { return false }
func (o *openedStream[In, Out]) validate() error    { return nil }
func (o *openedStream[In, Out]) fork() *Request     { return &o.Request }
func (o *openedStream[In, Out]) adopt(*Request)     {}
func (o *openedStream[In, Out]) drop(*Request)      {}

// streamOpener is a stream action for callers that do not know its types.
type streamOpener interface {
	openAny(ctx context.Context) (anyStream, error)
	// openEncoded opens it with values in a format.
	openEncoded(ctx context.Context, format codec.Codec) (*Stream[[]byte, []byte], error)
}

// anyStream is a caller's end whose values are given by pointer.
type anyStream struct {
	ctx       context.Context
	recv      func(out any) error
	send      func(in any) error
	closeSend func()
	end       func()
}

func (h *streamHandler[In, Out]) openAny(ctx context.Context) (anyStream, error) {
	s, err := h.openStream(ctx)
	if err != nil {
		return anyStream{}, err
	}
	return anyStream{
		ctx: s.ctx, closeSend: s.closeSend, end: s.end,
		recv: func(out any) error {
			value, err := s.Recv()
			if err != nil {
				return err
			}
			if err := convertInto(out, &value); err != nil {
				return h.op.node.badOutput("a value of "+h.action.Name, h.op.node.id, mismatch(h.action.Out, out), err)
			}
			return nil
		},
		send: func(in any) error {
			var value In
			if err := convertInto(&value, in); err != nil {
				return badInput(h.op.node, "a value for "+h.action.Name, err)
			}
			return s.Send(value)
		},
	}, nil
}

func (h *streamHandler[In, Out]) openEncoded(ctx context.Context, format codec.Codec) (*Stream[[]byte, []byte], error) {
	s, err := h.openStream(ctx)
	if err != nil {
		return nil, err
	}
	n := h.op.node
	return &Stream[[]byte, []byte]{
		ctx: s.ctx, closeSend: s.closeSend, end: s.end,
		recv: func() ([]byte, error) {
			value, err := s.Recv()
			if err != nil {
				return nil, err
			}
			data, err := format.Append(nil, &value)
			if err != nil {
				return nil, n.badOutput("a value of "+h.action.Name, n.id, "cannot be written as "+format.Name(), err)
			}
			return data, nil
		},
		send: func(data []byte) error {
			var value In
			if err := format.Decode(data, &value); err != nil {
				return badInput(n, "a value for "+h.action.Name, err)
			}
			return s.Send(value)
		},
	}, nil
}

func convertStream[In, Out any](s anyStream) *Stream[Out, In] {
	return &Stream[Out, In]{
		ctx: s.ctx, closeSend: s.closeSend, end: s.end,
		recv: func() (out Out, err error) { err = s.recv(&out); return out, err },
		send: func(in In) error { return s.send(&in) },
	}
}

func (h *streamHandler[In, Out]) callAny(context.Context, any, any, callOptions) error {
	return h.streamWanted()
}

func (h *streamHandler[In, Out]) callJSON(_ context.Context, _, dst []byte, _ callOptions) ([]byte, error) {
	return dst, h.streamWanted()
}

func (h *streamHandler[In, Out]) streamWanted() error {
	return &Error{Code: CodeInvalidArgument, Name: nameStreamWanted, Node: h.op.node.id, Message: h.action.Name + " is a stream: use OpenStream or CallStream"}
}
