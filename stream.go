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
	"github.com/sabir-go/sabir/internal/streamgateway"
	"github.com/sabir-go/sabir/validate"
)

// Stream is one end of an open stream: it receives R and sends S. A handler of HandleStream[In, Out] has a
// Stream[In, Out], its caller a Stream[Out, In]. One goroutine may receive while another sends; neither Recv nor Send may
// be called by two at once.
//
// Both directions have back-pressure: Send waits when the other side is 16 values or 256 KiB behind; a larger
// value is sent when no other is under way, and over a link [cluster.Limits] sets the bytes. While the streams of the node hold more
// than their part of [Limits], those whose receivers take nothing are ended with StreamTooSlow.
type Stream[R, S any] struct {
	streamEnd
	received R // Recv and Send have their values here, which so need no place on the heap
	sent     S
}

// streamEnd is one end of an open stream without its types: values are given by pointer.
type streamEnd struct {
	ctx       context.Context
	recv      func(to any) error
	send      func(from any) error
	closeSend func()
	end       func()
}

// streamTypes has the types of the values that the handler of a stream receives and sends.
type streamTypes struct{ in, out reflect.Type }

func streamTypesOf[In, Out any]() streamTypes {
	return streamTypes{reflect.TypeFor[In](), reflect.TypeFor[Out]()}
}

// callerEnd makes the caller's end of a stream that was opened with these types, or returns the error.
func callerEnd[In, Out any](end streamEnd, err error) (*Stream[Out, In], error) {
	if err != nil {
		return nil, err
	}
	return &Stream[Out, In]{streamEnd: end}, nil
}

// Context is the stream's context: the handler's own, or the one the caller opened the stream with.
func (s *Stream[R, S]) Context() context.Context { return s.ctx }

// Recv waits for the next value. It returns io.EOF when the other side has sent its last one; on the caller's side, the
// handler's error if it returned one.
func (s *Stream[R, S]) Recv() (R, error) {
	err := s.recv(&s.received)
	value := s.received
	var none R
	s.received = none
	return value, err
}

// Send sends a value, waiting while the other side is behind. When the stream has ended it returns io.EOF on the
// caller's side, where Recv returns the reason, and the context's error on the handler's.
func (s *Stream[R, S]) Send(value S) error {
	s.sent = value
	err := s.send(&s.sent)
	var none S
	s.sent = none
	return err
}

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
	streamgateway.Link()
	def.apply(s, options, fn != nil)
	def.open = func(a *Action, n *Node, s *Service) (local, error) {
		h := &streamHandler{action: a, types: streamTypesOf[In, Out](), newIn: newStreamQueue[In], newOut: newStreamQueue[Out]}
		h.fn = func(ctx context.Context, end streamEnd) error { return fn(ctx, &Stream[In, Out]{streamEnd: end}) }
		return h, h.compose(n, s, def)
	}
	s.define(def)
}

// OpenStream opens a stream to an action made with HandleStream. In and Out are, in this order, what the handler receives
// and sends, or types that agree with them in shape; the caller's end has them the other way round. The caller must
// Close the stream.
func OpenStream[In, Out any](ctx context.Context, from Caller, action string, options ...CallOption) (*Stream[Out, In], error) {
	return callerEnd[In, Out](openByName(ctx, from, action, streamTypesOf[In, Out](), options))
}

// openByName is OpenStream without the types.
func openByName(ctx context.Context, from Caller, action string, types streamTypes, options []CallOption) (streamEnd, error) {
	n := from.callingNode()
	if n == nil {
		return streamEnd{}, errNoNode(from, action)
	}
	o := gather(options)
	e := n.table.Load().find(action)
	if e == nil && o.anyNode() && n.remote != nil {
		return streamEnd{}, &Error{Code: CodeInvalidArgument, Name: nameNoStream, Node: n.id, Message: "no stream here is called " + action + ", and streams do not go over a Remote"}
	}
	e, err := n.endpointFor(e, action, &o)
	if err != nil {
		return streamEnd{}, err
	}
	return openStreamOf(ctx, e, types, o)
}

// openStreamOf opens a stream to an endpoint.
func openStreamOf(ctx context.Context, e endpoint, types streamTypes, o callOptions) (streamEnd, error) {
	switch e := e.(type) {
	case *streamHandler:
		return e.openAs(ctx, types)
	case *remoteAction:
		return openRemoteStream(ctx, e, types, o)
	}
	return streamEnd{}, noStream(e.operation().node, e.info().Name)
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
type streamHandler struct {
	fn     func(context.Context, streamEnd) error
	types  streamTypes
	newIn  func(*memory.Account, func()) streamQueue
	newOut func(*memory.Account, func()) streamQueue
	action *Action
	op     *operation
	plan   *validate.Plan
	gate   *gate
	chain  Handler
}

func (h *streamHandler) info() *Action         { return h.action }
func (h *streamHandler) operation() *operation { return h.op }

func (h *streamHandler) compose(n *Node, s *Service, def *definition) (err error) {
	h.action.In, h.action.Out = h.types.in, h.types.out
	if err := h.action.annotate(def); err != nil {
		return err
	}
	h.fn = inShape(h.action, h.fn)
	h.op = newOperation(n, h.action.Service, h.action.Name)
	h.op.action = h.action
	h.gate = s.gate
	if h.plan, err = n.compileRules(h.action.In, def.where); err != nil {
		return err
	}
	chain := Handler(func(ctx context.Context, r *Request) error {
		return h.run(ctx, callOf(ctx), r.typed.(*openedStream).end)
	})
	chain, _ = composeCall(h.action, chain, def.middlewares, streamLayer)
	chain, _ = composeCall(h.action, chain, s.middlewares, streamLayer)
	chain, _ = composeCall(h.action, chain, n.middlewares, streamLayer)
	h.chain, _ = composeCall(h.action, chain, n.allowed(s.rules, def.rules), streamLayer)
	return nil
}

func (h *streamHandler) run(ctx context.Context, c *callContext, end streamEnd) (err error) {
	returned := false
	defer func() {
		if !returned {
			err = c.recovered(h.action.Name, recover())
		}
	}()
	err = h.fn(ctx, end)
	if c.hasScope() {
		err = c.closeScope(err)
	}
	if err != nil {
		err = c.handlerError(err)
	}
	returned = true
	return err
}

// check gives an input, which the pointer points to, the defaults in its struct tags, and checks it against the rules there.
func (h *streamHandler) check(in any) error {
	if h.plan == nil {
		return nil
	}
	at := reflect.ValueOf(in).UnsafePointer()
	if h.plan.HasDefaults() {
		h.plan.SetDefaults(at)
	}
	if err := h.plan.Check(at); err != nil {
		return invalid(h.action.node, "the input of "+h.action.Name, err)
	}
	return nil
}

// openStream opens the stream: the end has the handler's types, the other way round.
func (h *streamHandler) openStream(ctx context.Context) (streamEnd, error) {
	ctx, cancel := context.WithCancel(ctx)
	c, failed := h.op.enter(ctx)
	if failed == nil && h.gate != nil && !h.gate.enter() {
		failed = h.op.node.unavailable(h.action.Name)
	}
	if failed != nil {
		cancel()
		return streamEnd{}, failed
	}
	p := &pipe{handler: h, ctx: ctx, cancel: cancel, upDone: make(chan struct{}), ended: make(chan struct{})}
	account := h.op.node.accountOf(ctx)
	p.up, p.down = h.newIn(account, p.tooSlow), h.newOut(account, p.tooSlow)
	r := &openedStream{end: streamEnd{ctx: c, recv: p.handlerRecv, send: p.handlerSend, closeSend: func() {}, end: func() {}}}
	r.action, r.typed = h.action, r
	run := func(context.Context) error { return r.attempt(c, h.chain) }
	forget := context.AfterFunc(h.op.node.ended, cancel)
	go isolateGoroutine(h.action.Name, c, run, func(err error) {
		defer p.up.close()
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
	end := streamEnd{ctx: ctx, recv: p.callerRecv, send: p.callerSend, closeSend: sync.OnceFunc(func() { close(p.upDone) }), end: p.abandon}
	return callerInShape(h.action, end), nil
}

// openedStream is a stream on its way through the middlewares: a request without input and output.
type openedStream struct {
	Request
	end streamEnd
}

func (o *openedStream) input() any         { return nil }
func (o *openedStream) output() any        { return nil }
func (o *openedStream) copyOutput() any    { return nil }
func (o *openedStream) setOutput(any) bool { return false }
func (o *openedStream) validate() error    { return nil }
func (o *openedStream) fork() *Request     { return &o.Request }
func (o *openedStream) adopt(*Request)     {}
func (o *openedStream) drop(*Request)      {}

// openAs opens the stream for a caller with these types. Values of others than the handler's are converted.
func (h *streamHandler) openAs(ctx context.Context, types streamTypes) (streamEnd, error) {
	s, err := h.openStream(ctx)
	if err != nil || types == h.types {
		return s, err
	}
	return h.through(s, func(to, out any) error {
		if err := convertInto(to, out); err != nil {
			return h.op.node.badOutput("a value of "+h.action.Name, h.op.node.id, mismatch(h.action.Out, to), err)
		}
		return nil
	}, convertInto), nil
}

// openEncoded opens the stream for a caller whose values are bytes in a format.
func (h *streamHandler) openEncoded(ctx context.Context, format codec.Codec) (streamEnd, error) {
	s, err := h.openStream(ctx)
	if err != nil {
		return s, err
	}
	return h.through(s, func(to, out any) error {
		data, err := format.Append(nil, out)
		if err != nil {
			return h.op.node.badOutput("a value of "+h.action.Name, h.op.node.id, "cannot be written as "+format.Name(), err)
		}
		*to.(*[]byte) = data
		return nil
	}, func(in, from any) error { return format.Decode(*from.(*[]byte), in) }), nil
}

// through returns a caller's end whose values are read from those of s, and written to them, by functions.
func (h *streamHandler) through(s streamEnd, read, write func(to, from any) error) streamEnd {
	in, out := reflect.New(h.types.in), reflect.New(h.types.out) // used again for each value
	converted := s
	converted.recv = func(to any) error {
		defer out.Elem().SetZero()
		if err := s.recv(out.Interface()); err != nil {
			return err
		}
		return read(to, out.Interface())
	}
	converted.send = func(from any) error {
		defer in.Elem().SetZero()
		if err := write(in.Interface(), from); err != nil {
			return badInput(h.op.node, "a value for "+h.action.Name, err)
		}
		return s.send(in.Interface())
	}
	return converted
}

func (h *streamHandler) callAny(context.Context, any, any, callOptions) error {
	return h.streamWanted()
}

func (h *streamHandler) callJSON(_ context.Context, _, dst []byte, _ callOptions) ([]byte, error) {
	return dst, h.streamWanted()
}

func (h *streamHandler) streamWanted() error {
	return &Error{Code: CodeInvalidArgument, Name: nameStreamWanted, Node: h.op.node.id, Message: h.action.Name + " is a stream: use OpenStream or CallStream"}
}
