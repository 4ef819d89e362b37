package sabir

import (
	"io"

	"github.com/sabir-go/sabir/internal/wire"
)

// serveStream runs the handler for a stream that another node opened.
func (h *streamHandler) serveStream(s *wire.Stream, format string) {
	if err := h.serveOver(s, format); err != nil {
		s.End(h.op.node.failureOf(h.op.node.located(err)))
		return
	}
	s.End(nil)
}

func (h *streamHandler) serveOver(s *wire.Stream, format string) (err error) {
	e := &linkStream{node: h.op.node, name: h.action.Name, what: "a value of ", stream: s}
	if e.receives, err = formatOf(h.action.In, format); err == nil {
		e.sends, err = formatOf(h.action.Out, format)
	}
	if err != nil {
		return badInput(h.op.node, "the types of a stream of "+h.action.Name, err)
	}
	e.schemaNumber = e.sends.schemaNumber(s.Link())
	c, failed := h.op.enterFromStream(s)
	if failed != nil {
		return failed
	}
	if h.gate != nil {
		if !h.gate.enter() {
			return h.op.node.unavailable(h.action.Name)
		}
		defer h.gate.leave()
	}
	e.ctx = c
	e.failed = func(err error) error {
		if failure, ok := err.(*wire.Failure); ok && c.Err() == nil {
			return fromFailure(failure)
		}
		return h.op.contextError(cause(c.Err()))
	}
	recv := func(to any) error {
		if err := e.recv(to); err != nil {
			return err
		}
		return h.check(to)
	}
	send := func(from any) error {
		err := e.send(from)
		if err == io.EOF { // the caller has gone
			err = h.op.contextError(cause(c.Err()))
		}
		return err
	}
	r := &openedStream{end: streamEnd{ctx: c, recv: recv, send: send, closeSend: func() {}, end: func() {}}}
	r.action, r.typed = h.action, r
	return r.attempt(c, h.chain)
}

// serve refuses a call: the action is a stream.
func (h *streamHandler) serve(in *wire.Inbound, _ string, _ *callContext) {
	in.Fail(h.op.node.failureOf(h.streamWanted()))
}

// serveStream refuses to open a stream: the action is none.
func (h *handler[In, Out]) serveStream(s *wire.Stream, _ string) {
	s.End(h.own.op.node.failureOf(noStream(h.own.op.node, h.own.action.Name)))
}
