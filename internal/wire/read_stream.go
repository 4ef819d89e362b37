package wire

import "context"

// What the reader does with the frames of streams. Frames of a stream that has ended here are ignored: they were on their
// way.

// open begins a stream of the peer, on a goroutine of its own.
func (r *reader) open(h header, body []byte) error {
	l := r.link
	head := fields{left: body}
	route, err := r.route(head.number(len(r.routes)), true)
	if err != nil {
		return err
	}
	var m Meta
	if err := r.meta(&head, route.Kind, h.flags, &m); err != nil {
		return err
	}
	if l.jobs.full(classOf(route, &m), m.Timeout, r.batch.jobs) {
		return r.refuseStream(h, &Failure{Code: codeResourceExhausted, Retryable: true, Name: NameTooManyCalls, Node: l.config.Node,
			Message: "node " + l.config.Node + " " + l.config.Admission.TooMuch()})
	}
	s := newStream(l, route, m, h.id, false)
	ctx := l.newContext(r.now(), m.Timeout)
	s.ctx, s.end = ctx, ctx.end
	if !l.streams.addTheirs(s, l.config.Limits.Streams) {
		return r.refuseStream(h, l.tooManyStreams(l.config.Node))
	}
	if l.isClosed() { // after it was listed: the code that ends the link sees it, or this does
		s.mu.Lock()
		if !s.ended {
			s.finish(l.lostBy(true))
		}
		s.mu.Unlock()
		ctx.end(context.Canceled)
	}
	go func() {
		returned := false
		defer func() { s.served(returned) }() // deferred for targets that end their goroutine
		if !l.memory.Open(ctx) {
			s.End(&Failure{Code: codeResourceExhausted, Retryable: true, Name: NameTooManyStreams, Node: l.config.Node,
				Message: "the streams of node " + l.config.Node + " hold as much as they may, since their receivers are slow"})
			returned = true
			return
		}
		route.target.ServeStream(s)
		returned = true
	}()
	return nil
}

func (r *reader) refuseStream(h header, f *Failure) error {
	r.link.mu.Lock()
	r.link.append(h.id, kindEnd, flagFailed|flagYours, appendFailure(nil, f))
	r.link.mu.Unlock()
	r.batch.write = true
	return r.checkOutgoing()
}

// served ends a stream whose target is done with it.
func (s *Stream) served(returned bool) {
	if returned {
		s.End(nil)
	} else {
		s.End(&Failure{Code: codeInternal, Name: NameNotAnswered, Node: s.link.config.Node, Message: s.Route.Name + " ended its goroutine"})
	}
	s.in.Close()
	s.sendEnd(0, nil) // where it was cancelled: the opener's number is free only now
}

func (l *Link) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

func (r *reader) stream(h header) *Stream { return r.link.streams.find(h.id, h.flags&flagYours != 0) }

// data is a message of a stream, or a part of one.
func (r *reader) data(h header, body []byte) error {
	s := r.stream(h)
	if s == nil || s.cancelled {
		return nil
	}
	if a := s.part; a != nil {
		if len(a.buf)+len(body) > a.total {
			return protocolError("a message of stream %d is longer than it said", h.id)
		}
		a.make(len(body))
		a.buf = append(a.buf, body...)
		return r.partCame(a, h.flags)
	}
	if h.flags&flagMore == 0 {
		return r.dataCame(s, h.flags, body, false)
	}
	in := fields{left: body}
	a := &assembly{stream: s, total: in.number(maxInt32), flags: h.flags}
	if in.bad {
		return protocolError("the first part of a message cannot be read")
	}
	if err := r.begin(a, in.left); err == errTooMuchAtOnce {
		return protocolError("a message of %d bytes on stream %d, at most %d are accepted", a.total, h.id, r.link.config.Limits.Message)
	} else if err != nil {
		return err
	}
	s.part = a
	return r.partCame(a, h.flags)
}

// partOfStream is the message that a frame of a stream continues; nil for none.
func (r *reader) partOfStream(h header) *assembly {
	if s := r.stream(h); s != nil {
		return s.part
	}
	return nil
}

// dataCame puts a whole message into the stream's inbox.
func (r *reader) dataCame(s *Stream, flags uint8, value []byte, large bool) error {
	s.part = nil
	schema, payload, err := r.value(value)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recvEnd {
		if large {
			s.in.Remove(cap(value))
		}
		return nil
	}
	if s.receiveCredit <= 0 {
		return protocolError("a message on stream %d without credit", s.id)
	}
	s.receiveCredit -= messageCost(len(value))
	m := message{size: len(payload), cost: messageCost(len(value)), flags: flags, schema: schema}
	if large {
		m.large, m.held = value, cap(value) // which the parts have counted
	} else {
		m.held = len(payload)
		s.in.Add(m.held)
		s.inbox.data = append(s.inbox.data, payload...)
	}
	s.inbox.items = append(s.inbox.items, m)
	if s.recvWaits && !s.inBatch {
		s.inBatch = true
		r.batch.streams = append(r.batch.streams, s)
	}
	return nil
}

// credit lets this side send more on a stream.
func (r *reader) credit(h header, body []byte) error {
	in := fields{left: body}
	n := in.number(maxInt32)
	if in.bad || len(in.left) > 0 {
		return protocolError("a credit frame cannot be read")
	}
	s := r.stream(h)
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.credit += int64(n); s.credit > int64(r.link.peer.Limits.Window) {
		return protocolError("more credit on stream %d than its window", h.id)
	}
	if s.waiting {
		s.waiting = false
		select {
		case s.more <- struct{}{}:
		default: // one that waited has gone, and left it
		}
	}
	return nil
}

// endOfStream is the peer's last frame of a stream, or its last message.
func (r *reader) endOfStream(h header, body []byte) error {
	var err error
	if h.flags&flagFailed != 0 {
		f, wrong := parseFailure(body)
		if wrong != nil {
			return wrong
		}
		err = f
	}
	s := r.stream(h)
	if s == nil {
		return nil
	}
	if s.part != nil {
		s.in.Remove(cap(s.part.buf))
		freeLarge(s.part.buf)
		s.part = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case h.flags&flagHalf != 0:
		if !s.recvEnd {
			s.recvEnd = true
			s.wakeReceiver()
		}
		return nil
	case !s.own:
		return protocolError("stream %d ended by the side that opened it", h.id)
	case !s.ended:
		s.finish(err)
	}
	r.link.streams.removeOwn(s)
	return nil
}

// cancelStream is the opener's giving up.
func (r *reader) cancelStream(h header) error {
	if h.flags&flagYours != 0 {
		return protocolError("stream %d cancelled by the side that did not open it", h.id)
	}
	s := r.stream(h)
	if s == nil {
		return nil
	}
	s.part, s.cancelled = nil, true
	s.mu.Lock()
	if !s.ended {
		s.inbox = inbox{}
		s.in.Close()
		s.finish(&Failure{Code: codeCanceled, Name: NameCanceled, Node: r.link.peer.Node, Message: "the stream was cancelled by the side that opened it"})
	}
	s.mu.Unlock()
	s.end(context.Canceled)
	return nil
}
