package sabir

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/sabir-go/sabir/wire"
)

// openAway opens a stream to an action of another node: what the caller sends is In, what it receives Out. What certainly
// never reached its node is opened at another at once, as calls are.
func openAway[In, Out any](ctx context.Context, a *away, o callOptions) (*Stream[Out, In], error) {
	own, failed := a.step.enter(ctx)
	if failed != nil {
		return nil, failed
	}
	var tried []*peer
	for {
		p, err := a.pick(&o, tried)
		if err != nil {
			return nil, err
		}
		stream, err := openOver[In, Out](ctx, own, a, p)
		lost, ok := err.(*wire.LostError)
		if !ok {
			return stream, err
		}
		if lost.Sent || len(tried) == maxReroutes || ctx.Err() != nil {
			return nil, a.lost(p, lost)
		}
		tried = append(tried, p)
	}
}

// openOver opens the stream over a link to the peer. own is the context of the step, ctx the caller's.
func openOver[In, Out any](ctx, own context.Context, a *away, p *peer) (*Stream[Out, In], error) {
	n := a.step.node
	link := p.link()
	if link == nil {
		return nil, &wire.LostError{Node: p.id, Err: wire.ErrClosed}
	}
	e := &farEnd[Out, In]{node: n, name: a.action.Name, what: "the input of "}
	format, err := formatFor[In, Out](n, a.action, p.id, theirFormats(link))
	if err != nil {
		return nil, err
	}
	if e.sends, err = formOf[In](format); err == nil {
		e.receives, err = formOf[Out](format)
	}
	if err != nil {
		return nil, badInput(n, "the types of a stream of "+a.action.Name, err)
	}
	if e.number, err = e.sends.number(link); err != nil {
		return nil, err
	}
	if n.carry != nil {
		own = n.carry(own)
	}
	var meta wire.Meta
	fillMeta(&meta, own, a.step)
	meta.Timeout = timeLeft(ctx)
	if e.stream, err = link.Open(ctx, link.Declare(wire.StreamRoute, a.action.Name, format), meta); err != nil {
		return nil, a.failed(p, link, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	e.ctx = ctx
	e.failed = func(err error) error {
		if lost, ok := err.(*wire.LostError); ok {
			return a.lost(p, lost)
		}
		if failed := ctx.Err(); failed != nil {
			return a.step.gaveUp(failed)
		}
		return nowhere(a.failed(p, link, err))
	}
	stop := context.AfterFunc(ctx, e.stream.Cancel)
	end := func() {
		stop()
		cancel()
		e.stream.Cancel()
	}
	return &Stream[Out, In]{ctx: ctx, recv: e.recv, send: e.send, closeSend: e.closeSend, end: end}, nil
}

// farEnd is one end of a stream over a link, which receives R and sends S.
type farEnd[R, S any] struct {
	node     *Node
	ctx      context.Context
	name     string // of the action
	what     string // it sends, for errors
	stream   *wire.Stream
	receives form[R]
	reader   atomic.Pointer[reader[R]]
	sends    form[S]
	number   uint32 // of S's schema on the link
	buf      []byte
	got      R // of recv and put of send: where their values do not have to move to the heap
	put      S
	closed   atomic.Bool
	failed   func(error) error
}

func (e *farEnd[R, S]) recv() (value R, err error) {
	data, schema, err := e.stream.Recv()
	if err != nil {
		if err != io.EOF {
			err = e.failed(err)
		}
		return value, err
	}
	var none R
	_, err = e.receives.decode(data, schema, e.stream.Owned(), &e.reader, &e.got)
	value, e.got = e.got, none
	if err != nil {
		return value, badInput(e.node, "a value on a stream of "+e.name, err)
	}
	return value, nil
}

func (e *farEnd[R, S]) send(value S) (err error) {
	if e.closed.Load() {
		return &Error{Code: FailedPrecondition, Name: nameStreamEnded, Message: "Send after CloseSend on a stream of " + e.name}
	}
	var none S
	e.put = value
	e.buf, err = e.sends.append(e.buf[:0], e.number, &e.put)
	e.put = none
	if err != nil {
		return badInput(e.node, e.what+e.name, err)
	}
	if err = e.stream.Send(e.ctx, e.buf); err != nil && err != io.EOF {
		err = e.failed(err)
	}
	return err
}

func (e *farEnd[R, S]) closeSend() {
	if !e.closed.Swap(true) {
		e.stream.CloseSend()
	}
}

// serveStream runs the handler for a stream that another node opened.
func (h *streamHandler[In, Out]) serveStream(s *wire.Stream, format string) {
	if err := h.serveEnd(s, format); err != nil {
		s.End(failureOf(h.step.node.located(err)))
		return
	}
	s.End(nil)
}

func (h *streamHandler[In, Out]) serveEnd(s *wire.Stream, format string) (err error) {
	e := &farEnd[In, Out]{node: h.step.node, name: h.action.Name, what: "a value of ", stream: s}
	if e.receives, err = formOf[In](format); err == nil {
		e.sends, err = formOf[Out](format)
	}
	if err == nil {
		e.number, err = e.sends.number(s.Link())
	}
	if err != nil {
		return badInput(h.step.node, "the types of a stream of "+h.action.Name, err)
	}
	c, failed := h.step.enterStream(s)
	if failed != nil {
		return failed
	}
	if h.gate != nil {
		if !h.gate.enter() {
			return h.step.node.unavailable(h.action.Name)
		}
		defer h.gate.leave()
	}
	e.ctx = c
	e.failed = func(err error) error {
		if failure, ok := err.(*wire.Failure); ok && c.Err() == nil {
			return fromFailure(failure)
		}
		return h.step.gaveUp(cause(c.Err()))
	}
	recv := e.recv
	if h.plan != nil {
		recv = func() (In, error) {
			in, err := e.recv()
			if err == nil {
				err = checkRules(h.plan, h.action, &in)
			}
			return in, err
		}
	}
	send := func(value Out) error {
		err := e.send(value)
		if err == io.EOF { // the caller has gone
			err = h.step.gaveUp(cause(c.Err()))
		}
		return err
	}
	r := &openedStream[In, Out]{stream: &Stream[In, Out]{ctx: c, recv: recv, send: send, closeSend: func() {}, end: func() {}}}
	r.action, r.typed = h.action, r
	return r.attempt(c, h.chain)
}

// serve answers a call of what is a stream.
func (h *streamHandler[In, Out]) serve(in *wire.Inbound, _ string, _ *callContext) {
	in.Fail(failureOf(h.streamWanted()))
}

// serveStream answers the opening of what is no stream.
func (h *handler[In, Out]) serveStream(s *wire.Stream, _ string) {
	s.End(failureOf(noStream(h.step.node, h.action.Name)))
}

func noStream(n *Node, action string) *Error {
	return &Error{Code: InvalidArgument, Name: nameNoStream, Node: n.id, Message: action + " is not a stream: use Call"}
}
