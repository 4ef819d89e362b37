package sabir

import "github.com/sabir-go/sabir/internal/wire"

// inboundEvents serves the events that a peer sends in one format to one group, or without a group to all handlers.
type inboundEvents struct {
	node    *Node
	group   string // "" for all
	format  string
	nothing valueFormat // of the answers
}

// Inline is false: handlers of events may block.
func (s *inboundEvents) Inline() bool { return false }

// Serve gives one event to its handlers.
func (s *inboundEvents) Serve(in *wire.Inbound) {
	if refused := s.node.checkFormat(in.Event, nil, s.format); refused != nil {
		in.Fail(s.node.failureOf(refused))
		return
	}
	s.serveFrom(in, new(int))
}

// serveFrom gives the event to its handlers but for the first handled ones, and answers. After a handler that ends the
// goroutine the other handlers run on another, while this one waits for them.
func (s *inboundEvents) serveFrom(in *wire.Inbound, handled *int) {
	returned := false
	defer func() {
		if !returned {
			s.node.panicked(background, "a handler of "+in.Event, recover())
			rest := make(chan struct{})
			go func() {
				defer close(rest)
				s.serveFrom(in, handled)
			}()
			<-rest
		}
	}()
	s.answer(in, s.deliver(in, handled))
	returned = true
}

// answer reports to the emitter that the handlers have run, or the error.
func (s *inboundEvents) answer(in *wire.Inbound, err error) {
	if err != nil {
		in.Fail(s.node.failureOf(s.node.located(err)))
		return
	}
	data, err := s.nothing.append(in.Buf(), s.nothing.schemaNumber(in.Link()), &Empty{})
	if err != nil {
		in.Fail(s.node.failureOf(err))
		return
	}
	in.Reply(data)
}

// deliver gives the event to the handlers but for the first handled ones, and counts those that have it.
func (s *inboundEvents) deliver(in *wire.Inbound, handled *int) error {
	plan, err := s.node.events.plan(in.Event)
	if err != nil {
		return err
	}
	if s.group == "" {
		return s.broadcast(in, plan, handled)
	}
	g := plan.group(s.group)
	if g == nil {
		return &Error{Code: CodeUnavailable, Name: nameGroupGone, Node: s.node.id, Retryable: true,
			Message: "nobody in group " + s.group + " takes " + in.Event + " on node " + s.node.id + " any more"}
	}
	if *handled > 0 {
		return nil
	}
	*handled = 1
	at := g.pick()
	failed := at.receiver.receiveFrom(in, at, s.format)
	if failed == errGroupGone {
		*handled = 0
		return s.deliver(in, handled) // another of the group may still be there
	}
	return failed
}

func (s *inboundEvents) broadcast(in *wire.Inbound, plan *eventPlan, handled *int) (err error) {
	for i, at := range plan.everyone() {
		if i < *handled {
			continue
		}
		*handled++
		if failed := at.receiver.receiveFrom(in, at, s.format); failed != nil && failed != errGroupGone && err == nil {
			err = failed
		}
	}
	return err
}

// ServeStream is never called: no stream is opened on a route of events.
func (s *inboundEvents) ServeStream(stream *wire.Stream) {
	stream.End(&wire.Failure{Code: uint8(CodeInvalidArgument), Name: nameNoStream, Message: "an event is no stream", Node: s.node.id})
}

func (h *eventHandler[T]) receiveFrom(in *wire.Inbound, at *delivery, format string) error {
	payload := new(T)
	c, err := h.own.decode(in, at, format, payload)
	if err != nil {
		return err
	}
	return h.receiveIn(c, c, at, *payload)
}

// decode reads a payload from a link into what the pointer points to, and makes the context of its handler.
func (h *localEvent) decode(in *wire.Inbound, at *delivery, format string, payload any) (*callContext, error) {
	r := h.formats.named(format, h.sub.Type, nothingType)
	err := r.broken
	if err == nil {
		_, err = r.in.decode(in.Payload(), in.Schema(), sharesNothing, &r.reader, payload) // other handlers read it too
	}
	if err != nil {
		return nil, h.unreadable(in.Context(), at, "written as "+format, err)
	}
	c, failed := at.op.enterFromLink(in, nil)
	if failed != nil {
		return nil, failed
	}
	return c, nil
}
