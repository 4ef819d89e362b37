package actor

import (
	"reflect"
)

// Behavior defines a sort of process: how it begins and which functions handle its messages. S is its state, of which each
// process has its own; A is the argument of Init. Make it with Define, usually as a package variable; it does not change.
//
//	type Counter struct{ total int }
//
//	func (c *Counter) Init(p *actor.Process, start int) error { c.total = start; return nil }
//	func (c *Counter) Add(p *actor.Process, m Add) error { c.total += m.N; return nil }
//	func (c *Counter) Total(p *actor.Process, _ Total) (int, error) { return c.total, nil }
//
//	var counter = actor.Define("counter", (*Counter).Init,
//		actor.OnMessage((*Counter).Add),
//		actor.OnCall((*Counter).Total),
//	)
//
// All callbacks of one process run one at a time. They may block without holding up other processes.
//
// Two more callbacks are found by their name on *S:
//   - Terminate(p *actor.Process, reason error) runs as the last one when the process ends other than by Kill. It may send, but not
//     start anything.
//   - Inspect() any returns something to show about the process, see System.Inspect. It runs between two messages, and must not change
//     the state nor keep what is in it: others read what it returns.
type Behavior[S, A any] struct {
	d    definition
	init func(*S, *Process, A) error
}

// definition is the part of a Behavior that does not depend on its types.
type definition struct {
	name            string
	handlers        []handlerEntry
	any             handler // of OnAnyMessage; nil for none
	anyCall         handler // of OnAnyCall; nil for none
	canceledCall    handler // of OnCanceledCall; nil for none
	exits           bool    // has a handler for Exit
	internalProcess bool    // of processes of the runtime itself
}

type handlerEntry struct {
	kind    *kind
	calls   bool // it handles calls, not messages
	handler handler
	ended   bool // it handles calls that nobody waits for
}

// handler handles the messages of an envelope from l.at on, until all are done, one fails, or there is a signal.
type handler interface {
	handle(p *Process, l *envelope) error
}

// Handler is the result of OnMessage, OnCall and OnAnyMessage, and an argument of Define.
type Handler[S any] interface {
	handler
	handlerEntry() handlerEntry
	of(*S)
}

// Define makes a behaviour. The name is for logs and for starting processes on other nodes: letters, digits, and . - _ /.
// init may be nil. Two handlers for one type of messages, or of calls, are a mistake in the program: Define panics.
//
// The variable of a behaviour whose callbacks start processes of the same one is set in a func init: Go refuses a variable whose value
// refers to itself.
func Define[S, A any](name string, init func(*S, *Process, A) error, handlers ...Handler[S]) *Behavior[S, A] {
	b := &Behavior[S, A]{d: definition{name: name}, init: init}
	for _, h := range handlers {
		e := h.handlerEntry()
		if e.ended {
			b.d.canceledCall = h
			continue
		}
		if e.kind == nil && e.calls {
			b.d.anyCall = h
			continue
		}
		if e.kind == nil {
			b.d.any = h
			continue
		}
		if b.d.find(e.kind, e.calls) != nil {
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

// find returns the handler for messages or calls of a type; nil if there is none.
func (d *definition) find(k *kind, calls bool) handler {
	for i := range d.handlers {
		if e := &d.handlers[i]; e.kind == k && e.calls == calls {
			return e.handler
		}
	}
	return nil
}

// handler returns the handler for messages or calls of a type, which may be the one for all other types; nil if there is none.
func (d *definition) handler(k *kind, calls bool) handler {
	if h := d.find(k, calls); h != nil {
		return h
	}
	if calls {
		return d.anyCall
	}
	return d.any
}

// OnMessage handles messages of type M. An error that it returns ends the process with that reason; ErrNormal ends it normally.
func OnMessage[S, M any](fn func(*S, *Process, M) error) Handler[S] {
	return &onMessage[S, M]{fn: fn, of_: messagesOf[M]()}
}

type onMessage[S, M any] struct {
	fn  func(*S, *Process, M) error
	of_ *messages[M]
}

func (h *onMessage[S, M]) of(*S) {}
func (h *onMessage[S, M]) handlerEntry() handlerEntry {
	return handlerEntry{kind: &h.of_.k, handler: h}
}

func (h *onMessage[S, M]) handle(p *Process, l *envelope) error {
	b, s := l.body.(*batch[M]), p.entry.state.(*S)
	for i := int(l.at); i < len(b.items); i++ {
		l.at++
		if err := h.fn(s, p, b.items[i]); err != nil {
			return err
		}
		if p.entry.signals.Load() != 0 || p.ended != nil {
			break
		}
	}
	return nil
}

// OnAnyMessage handles messages for whose type there is no other handler.
func OnAnyMessage[S any](fn func(s *S, p *Process, message any) error) Handler[S] {
	return &onAny[S]{fn}
}

type onAny[S any] struct {
	fn func(*S, *Process, any) error
}

func (h *onAny[S]) of(*S)                      {}
func (h *onAny[S]) handlerEntry() handlerEntry { return handlerEntry{handler: h} }

func (h *onAny[S]) handle(p *Process, l *envelope) error {
	message := l.body.value(int(l.at))
	l.at++
	return h.fn(p.entry.state.(*S), p, message)
}

// OnCall handles calls: what it returns is the caller's answer. An error is the caller's too and does not end the process;
// for that there is Process.Stop. ErrNoReply means that the answer comes later, by Reply.
func OnCall[S, In, Out any](fn func(*S, *Process, In) (Out, error)) Handler[S] {
	return &onCall[S, In, Out]{fn: fn, of_: messagesOf[In]()}
}

type onCall[S, In, Out any] struct {
	fn  func(*S, *Process, In) (Out, error)
	of_ *messages[In]
}

func (h *onCall[S, In, Out]) of(*S) {}
func (h *onCall[S, In, Out]) handlerEntry() handlerEntry {
	return handlerEntry{kind: &h.of_.k, calls: true, handler: h}
}

func (h *onCall[S, In, Out]) handle(p *Process, l *envelope) error {
	c := l.body.(*call[In])
	l.at++
	out, err := h.fn(p.entry.state.(*S), p, c.in)
	replied(p, c.request, out, err)
	return nil
}

// OnAnyCall handles calls for whose type there is no other handler, such as in a process that passes them on. What it
// returns must be of the type that the caller waits for.
func OnAnyCall[S any](fn func(s *S, p *Process, in any) (any, error)) Handler[S] {
	return &onAnyCall[S]{fn}
}

type onAnyCall[S any] struct {
	fn func(*S, *Process, any) (any, error)
}

func (h *onAnyCall[S]) of(*S)                      {}
func (h *onAnyCall[S]) handlerEntry() handlerEntry { return handlerEntry{calls: true, handler: h} }

func (h *onAnyCall[S]) handle(p *Process, l *envelope) error {
	r := l.body.(callBody).replyTo()
	in := l.body.value(0)
	l.at++
	out, err := h.fn(p.entry.state.(*S), p, in)
	replied(p, r, out, err)
	return nil
}

// OnCanceledCall runs in place of the handler of a call for whose answer nobody waits any more: its deadline has passed, or its caller
// has cancelled it or ended. It gets what the call was sent with. Without it, such a call is dropped. It is for processes that
// keep count of the calls in their mailbox.
func OnCanceledCall[S any](fn func(s *S, p *Process, in any)) Handler[S] {
	return &onCanceledCall[S]{fn}
}

type onCanceledCall[S any] struct {
	fn func(*S, *Process, any)
}

func (h *onCanceledCall[S]) of(*S)                      {}
func (h *onCanceledCall[S]) handlerEntry() handlerEntry { return handlerEntry{handler: h, ended: true} }

func (h *onCanceledCall[S]) handle(p *Process, l *envelope) error {
	in := l.body.value(0)
	l.at++
	h.fn(p.entry.state.(*S), p, in)
	return nil
}

// replied ends a handler of calls. Messages that the handler sent go out before the answer, so that the caller finds their
// effects.
func replied[Out any](p *Process, r Request, out Out, err error) {
	switch err {
	case nil:
		p.box.flushHeld()
		answer(p, r, out)
	case ErrNoReply:
		if !p.forwarded {
			p.answerLater(r)
		}
		p.forwarded = false
	default:
		p.box.flushHeld()
		r.fail(err)
	}
}

// internalProcess marks the behaviour of processes of the runtime itself, such as those that deliver events. They are neither
// counted nor listed.
func internalProcess[S, A any](b *Behavior[S, A]) *Behavior[S, A] {
	b.d.internalProcess = true
	return b
}
