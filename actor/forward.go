package actor

import "context"

// Forward passes the message or call being handled on to another process, as if its sender had sent it there: Sender is the
// original one, and the answer to a call goes straight to the caller. The handler of a call returns ErrNoReply after it. A
// process of another node sees the sender only if that is a process of this node; otherwise it sees the zero PID. The answer to
// a call of another node comes back through this one: the caller gets ErrNoConnection if either node is lost before.
//
// On an error nothing was passed on, and the caller gets the error. Outside of handlers there is nothing to forward:
// ErrNotHandled.
func Forward[A Address](p *Process, to A) error {
	if p.current == nil {
		return problem(ErrNotHandled, p.system.nodeName(), "%s handles nothing that could be forwarded", p.pid)
	}
	envelope := p.current.body.(interface{ copied() *envelope }).copied()
	pid, err := resolve(p.system, to)
	if err != nil {
		return p.system.refuse(envelope, err)
	}
	if pid.home != p.system.home && envelope.from.home != p.system.home {
		envelope.from = PID{}
	}
	p.forwarded = envelope.call
	p.box.flush() // what this process has sent there before goes before
	return p.system.push(pid, envelope, p)
}

// copied copies the message being handled into an envelope of its own.
func (b *batch[T]) copied() *envelope {
	l := &b.of.envelopeOf(b.items[b.head.at-1]).head
	l.from, l.priority = b.head.from, b.head.priority
	return l
}

// copied copies the call.
func (c *call[In]) copied() *envelope {
	other := c.of.call(c.in, c.request)
	other.ctx, other.head.from, other.head.priority = c.ctx, c.head.from, c.head.priority
	return &other.head
}

// Pending is a message or a call that was being handled, kept so that Redeliver can give it to another process: its sender, and for a
// call the caller that waits. You may keep it and use it in any goroutine. The zero Pending is a message without a sender.
type Pending struct {
	request Request
	ctx     context.Context
	from    PID
	call    bool
	remote  bool
}

// Pending returns the message or call being handled. A handler of calls that keeps it returns ErrNoReply.
func (p *Process) Pending() Pending {
	l := p.current
	if l == nil {
		return Pending{}
	}
	h := Pending{from: l.from, remote: l.remote}
	if c, ok := l.body.(callBody); ok {
		h.call, h.request, h.ctx = true, c.replyTo(), c.context()
	}
	return h
}

// Request returns the call that was held, to answer it without handing it on; the zero Request for a message.
func (h Pending) Request() Request { return h.request }

// Message returns the sender of what was pending, without the call: use it to hand on a message and to answer the call yourself.
func (h Pending) Message() Pending { return Pending{from: h.from, remote: h.remote} }

// Redeliver gives another process of this node a message in place of the one that was held. That process sees the original sender,
// and the answer to a call goes to the original caller. The message goes at once. On an error it was not accepted, and a call
// has failed with that error.
func Redeliver[M any](from Sender, h Pending, to PID, message M) error {
	s, p := from.in(), from.process()
	m := messagesOf[M]()
	var l *envelope
	if h.call {
		c := m.call(message, h.request)
		c.ctx = h.ctx
		l = &c.head
	} else {
		l = &m.envelopeOf(message).head
	}
	l.from, l.remote = h.from, h.remote
	if p != nil {
		p.box.flush()
	}
	if to.home != s.home {
		return s.refuse(l, problem(ErrNoProcess, s.nodeName(), "%s is of another node: what was pending is handed on here only", to))
	}
	return s.push(to, l, p)
}
