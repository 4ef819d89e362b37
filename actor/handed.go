package actor

import "context"

// Held is a message or a call that was being handled, kept to be handed on to another process by HandOn: its sender, and of
// a call who waits for the answer. It may be kept and used by any goroutine. The zero Held is a message of nobody.
type Held struct {
	request Request
	ctx     context.Context
	from    PID
	call    bool
	away    bool
}

// Held is what is being handled now. A handler of calls that keeps it returns ErrLater.
func (p *Process) Held() Held {
	l := p.current
	if l == nil {
		return Held{}
	}
	h := Held{from: l.from, away: l.away}
	if c, ok := l.body.(asked); ok {
		h.call, h.request, h.ctx = true, c.asks(), c.context()
	}
	return h
}

// Request is the call that was held, to be answered without handing it on; the zero Request of a message.
func (h Held) Request() Request { return h.request }

// Message is the sender of what was held without the call: who hands that on sends a message, and answers the call itself.
func (h Held) Message() Held { return Held{from: h.from, away: h.away} }

// HandOn gives another process of this node a message in the place of the one that was held: that process sees the sender
// of the one that was held, and if it was a call, the answer goes to who made it. The message goes at once. On error it was
// not taken, and a call was answered with that error.
func HandOn[M any](from Sender, h Held, to PID, message M) error {
	s, p := from.in(), from.process()
	m := messagesOf[M]()
	var l *letter
	if h.call {
		c := m.call(message, h.request)
		c.ctx = h.ctx
		l = &c.head
	} else {
		l = &m.letterOf(message).head
	}
	l.from, l.away = h.from, h.away
	if p != nil {
		p.box.flush()
	}
	if to.home != s.home {
		return s.refuse(l, problem(ErrNoProcess, s.homeName(), "%s is of another node: what was held is handed on here only", to))
	}
	return s.push(to, l, p)
}
