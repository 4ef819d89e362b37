package actor

import (
	"reflect"
)

// Behavior is what a kind of process does: how it begins and what handles its messages. S is its state, of which each
// process has its own, A what it is started with. Make it with Define, usually as a package variable; it does not change.
//
//	type Counter struct{ total int }
//
//	func (c *Counter) Init(p *actor.Process, start int) error { c.total = start; return nil }
//	func (c *Counter) Add(p *actor.Process, m Add) error { c.total += m.N; return nil }
//	func (c *Counter) Total(p *actor.Process, _ Total) (int, error) { return c.total, nil }
//
//	var counter = actor.Define("counter", (*Counter).Init,
//		actor.On((*Counter).Add),
//		actor.Answer((*Counter).Total),
//	)
//
// All callbacks of one process run one at a time, and may block: others are not held up.
//
// Two more are found by their name on *S: Terminate(p *actor.Process, reason error), called when the process ends other than
// by Kill, and Inspect() any, whose result is shown to who asks about the process; it must not change the state.
type Behavior[S, A any] struct {
	d     definition
	begin func(*S, *Process, A) error
}

// definition is the part of a Behavior without types.
type definition struct {
	name     string
	handlers []entry
	any      handler // of OnAny; nil for none
	anyCall  handler // of AnswerAny; nil for none
	exits    bool    // has a handler for Exit
	unlisted bool    // of processes of the runtime itself
}

type entry struct {
	kind    *kind
	handler handler
}

// handler handles the messages of a letter: those from l.at on, until all are done, one fails, or there is a signal.
type handler interface {
	handle(p *Process, l *letter) error
	calls() bool // handles calls, not messages
}

// Handler is what On, Answer and OnAny return, for Define.
type Handler[S any] interface {
	handler
	entry() entry
	of(*S)
}

// Define makes a behaviour. The name is for people and for starting processes on other nodes: letters, digits, and . - _ /.
// init may be nil. Two handlers for one type of messages, or of calls, are a mistake in the program: Define panics.
func Define[S, A any](name string, init func(*S, *Process, A) error, handlers ...Handler[S]) *Behavior[S, A] {
	b := &Behavior[S, A]{d: definition{name: name}, begin: init}
	for _, h := range handlers {
		e := h.entry()
		if e.kind == nil && h.calls() {
			b.d.anyCall = h
			continue
		}
		if e.kind == nil {
			b.d.any = h
			continue
		}
		if b.d.find(e.kind, h.calls()) != nil {
			panic("actor: behaviour " + name + " has two handlers for " + e.kind.name)
		}
		b.d.handlers = append(b.d.handlers, e)
		register(e.kind)
		b.d.exits = b.d.exits || e.kind.of == reflect.TypeFor[Exit]()
	}
	return b
}

// Name is the behaviour's name.
func (b *Behavior[S, A]) Name() string { return b.d.name }

// find is the handler for messages or calls of a type; nil for none.
func (d *definition) find(k *kind, calls bool) handler {
	for i := range d.handlers {
		if e := &d.handlers[i]; e.kind == k && e.handler.calls() == calls {
			return e.handler
		}
	}
	return nil
}

// On handles messages of type M. An error that it returns ends the process with that reason; ErrNormal ends it in peace.
func On[S, M any](fn func(*S, *Process, M) error) Handler[S] {
	return &onMessage[S, M]{fn: fn, of_: messagesOf[M]()}
}

type onMessage[S, M any] struct {
	fn  func(*S, *Process, M) error
	of_ *messages[M]
}

func (h *onMessage[S, M]) of(*S)        {}
func (h *onMessage[S, M]) calls() bool  { return false }
func (h *onMessage[S, M]) entry() entry { return entry{&h.of_.k, h} }

func (h *onMessage[S, M]) handle(p *Process, l *letter) error {
	b, s := l.body.(*batch[M]), p.slot.state.(*S)
	for i := int(l.at); i < len(b.items); i++ {
		l.at++
		if err := h.fn(s, p, b.items[i]); err != nil {
			return err
		}
		if p.slot.signals.Load() != 0 || p.ended != nil {
			break
		}
	}
	return nil
}

// OnAny handles messages for whose type there is no other handler.
func OnAny[S any](fn func(s *S, p *Process, message any) error) Handler[S] {
	return &onAny[S]{fn}
}

type onAny[S any] struct {
	fn func(*S, *Process, any) error
}

func (h *onAny[S]) of(*S)        {}
func (h *onAny[S]) calls() bool  { return false }
func (h *onAny[S]) entry() entry { return entry{nil, h} }

func (h *onAny[S]) handle(p *Process, l *letter) error {
	message := l.body.value(int(l.at))
	l.at++
	return h.fn(p.slot.state.(*S), p, message)
}

// Answer handles calls: what it returns is the caller's answer. An error is the caller's too and does not end the process;
// for that there is Process.Stop. ErrLater means that the answer comes later, by Reply.
func Answer[S, In, Out any](fn func(*S, *Process, In) (Out, error)) Handler[S] {
	return &onCall[S, In, Out]{fn: fn, of_: messagesOf[In]()}
}

type onCall[S, In, Out any] struct {
	fn  func(*S, *Process, In) (Out, error)
	of_ *messages[In]
}

func (h *onCall[S, In, Out]) of(*S)        {}
func (h *onCall[S, In, Out]) calls() bool  { return true }
func (h *onCall[S, In, Out]) entry() entry { return entry{&h.of_.k, h} }

func (h *onCall[S, In, Out]) handle(p *Process, l *letter) error {
	c := l.body.(*call[In])
	l.at++
	out, err := h.fn(p.slot.state.(*S), p, c.in)
	replied(p, c.request, out, err)
	return nil
}

// AnswerAny handles calls for whose type there is no other handler, such as in a process that passes them on. What it
// returns must be of the type that the caller waits for.
func AnswerAny[S any](fn func(s *S, p *Process, in any) (any, error)) Handler[S] {
	return &onAnyCall[S]{fn}
}

type onAnyCall[S any] struct {
	fn func(*S, *Process, any) (any, error)
}

func (h *onAnyCall[S]) of(*S)        {}
func (h *onAnyCall[S]) calls() bool  { return true }
func (h *onAnyCall[S]) entry() entry { return entry{nil, h} }

func (h *onAnyCall[S]) handle(p *Process, l *letter) error {
	r := l.body.(asked).asks()
	in := l.body.value(0)
	l.at++
	out, err := h.fn(p.slot.state.(*S), p, in)
	replied(p, r, out, err)
	return nil
}

// replied is the end of a handler of calls. What it sent goes before the answer, so that the caller finds it done.
func replied[Out any](p *Process, r Request, out Out, err error) {
	switch err {
	case nil:
		p.box.flushHeld()
		answer(p, r, out)
	case error(ErrLater):
		if !p.forwarded {
			p.answerLater(r)
		}
		p.forwarded = false
	default:
		p.box.flushHeld()
		r.fail(err)
	}
}
