package sabir

import (
	"context"
	"io"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/internal/mesh"
	"github.com/sabir-go/sabir/internal/wire"
)

// openRemoteStream opens a stream to an action of another node: the caller sends In and receives Out. An open that certainly
// never reached its node is sent to another at once, as calls are.
func openRemoteStream[In, Out any](ctx context.Context, a *remoteAction, o callOptions) (opened *Stream[Out, In], err error) {
	defer func() {
		if v := recover(); v != nil { // in what a middleware carries along
			opened, err = nil, a.op.node.panicked(ctx, a.action.Name, v)
		}
	}()
	own, failed := a.op.enter(ctx)
	if failed != nil {
		return nil, failed
	}
	var tried avoided
	for rerouted := 0; ; rerouted++ {
		to, err := a.pick(&o, &tried)
		if err != nil {
			now, err := a.await(ctx, &o, err)
			if err != nil {
				return nil, err
			}
			var isRemote bool
			if a, isRemote = now.(*remoteAction); !isRemote {
				return openStreamOf[In, Out](ctx, now, o)
			}
			continue
		}
		if to.foreign != nil {
			return openForeign[In, Out](ctx, own, a, &to)
		}
		stream, err := openOverLink[In, Out](ctx, own, a, to.peer)
		lost, ok := err.(*wire.LostError)
		if !ok {
			return stream, err
		}
		if lost.Sent || rerouted == maxReroutes || ctx.Err() != nil {
			return nil, a.linkLost(to.peer, lost)
		}
		tried.add(to.id)
	}
}

// openOverLink opens the stream over a link to the peer. own is the context of the operation, ctx the caller's.
func openOverLink[In, Out any](ctx, own context.Context, a *remoteAction, p *mesh.Peer) (*Stream[Out, In], error) {
	n := a.op.node
	link, err := a.connect(ctx, p, 0)
	if err != nil {
		return nil, err
	}
	e := &linkStream[Out, In]{node: n, name: a.action.Name, what: "the input of "}
	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	format, err := n.chooseFormat(a.action, p.ID, mesh.Codecs(link), in, out)
	if err != nil {
		return nil, err
	}
	if e.sends, err = formatOf(in, format); err == nil {
		e.receives, err = formatOf(out, format)
	}
	if err != nil {
		return nil, badInput(n, "the types of a stream of "+a.action.Name, err)
	}
	e.schemaNumber = e.sends.schemaNumber(link)
	if n.carry != nil {
		own = n.carry(own)
	}
	var meta wire.Meta
	fillMeta(&meta, own, a.op)
	meta.Timeout = timeLeft(ctx)
	if e.stream, err = link.Open(ctx, link.Declare(wire.StreamRoute, a.action.Name, format), meta); err != nil {
		return nil, a.callError(p, link, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	e.ctx = ctx
	e.failed = func(err error) error {
		if lost, ok := err.(*wire.LostError); ok {
			return a.linkLost(p, lost)
		}
		if failed := ctx.Err(); failed != nil {
			return a.op.contextError(failed)
		}
		return finalError(a.callError(p, link, err))
	}
	stop := context.AfterFunc(ctx, e.stream.Cancel)
	end := func() {
		stop()
		cancel()
		e.stream.Cancel()
	}
	return callerInShape(a.action, &Stream[Out, In]{ctx: ctx, recv: e.recv, send: e.send, closeSend: e.closeSend, end: end}), nil
}

// keepStreamBuffer is the largest buffer that an end of a stream keeps between two values.
const keepStreamBuffer = 64 << 10

// linkStream is one end of a stream over a link. It receives R and sends S.
type linkStream[R, S any] struct {
	node         *Node
	ctx          context.Context
	name         string // of the action
	what         string // it sends, for errors
	stream       *wire.Stream
	receives     valueFormat
	reader       atomic.Pointer[reader]
	sends        valueFormat
	schemaNumber uint32 // of S's schema on the link
	buf          []byte
	usual        int // size of the last value that was too large for buf to keep
	recvValue    R   // recv and send keep their values here, which so need no place on the heap
	sendValue    S
	closed       atomic.Bool
	failed       func(error) error
}

func (e *linkStream[R, S]) recv() (value R, err error) {
	data, schema, err := e.stream.Recv()
	if err != nil {
		if err != io.EOF {
			err = e.failed(err)
		}
		return value, err
	}
	var none R
	_, err = e.receives.decode(data, schema, sharesIf(e.stream.Owned()), &e.reader, &e.recvValue)
	value, e.recvValue = e.recvValue, none
	if err != nil {
		return value, badInput(e.node, "a value on a stream of "+e.name, err)
	}
	return value, nil
}

func (e *linkStream[R, S]) send(value S) (err error) {
	if e.closed.Load() {
		return &Error{Code: CodeFailedPrecondition, Name: nameStreamEnded, Message: "Send after CloseSend on a stream of " + e.name}
	}
	var none S
	e.sendValue = value
	buf := e.buf
	if e.usual > cap(buf) {
		buf = wire.Buffer(e.usual)
	}
	buf, err = e.sends.append(buf[:0], e.schemaNumber, &e.sendValue)
	if err != nil {
		err = badSent(e.node, e.what+e.name, &e.sendValue, err)
	}
	e.sendValue = none
	if err != nil {
		return err
	}
	err = e.stream.Send(e.ctx, buf)
	if cap(buf) <= keepStreamBuffer {
		e.buf = buf
	} else if e.usual = len(buf); err == nil {
		wire.FreeBuffer(buf)
	}
	if err != nil && err != io.EOF {
		err = e.failed(err)
	}
	return err
}

func (e *linkStream[R, S]) closeSend() {
	if !e.closed.Swap(true) {
		e.stream.CloseSend()
	}
}

func noStream(n *Node, action string) *Error {
	return &Error{Code: CodeInvalidArgument, Name: nameNoStream, Node: n.id, Message: action + " is not a stream: use Call"}
}

// OpenAction opens this very stream, as [OpenStream] does by name: for gateways that decide by the action's description
// whether a stream may be opened, and must then reach no other that took over its name meanwhile. In and Out may be
// json.RawMessage, whatever the handler's types are. The caller must Close the stream.
//
// Where calls wait for so long that further ones are refused, it opens no stream: the error is [ErrTooManyCalls]. While streams hold
// more than their part of [BufferLimits] it waits, and after 2 seconds the error is [ErrTooManyStreams].
func OpenAction[In, Out any](ctx context.Context, a *Action) (*Stream[Out, In], error) {
	return openMeasured(ctx, a, openAction[In, Out])
}

// Open is [OpenAction] for a gateway of a protocol that has a format of its own, which is that of the values. Of in, Limit, Watched, Strict
// and Borrowed do nothing. Of an action of another node only JSON is known here: the error is [ErrNoCommonCodec].
func (a *Action) Open(in gateway.Inbound, format codec.Codec) (*Stream[[]byte, []byte], error) {
	if a.endpoint == nil {
		return nil, a.notHere()
	}
	return openMeasured(a.node.contextFor(&in), a, func(ctx context.Context, a *Action) (*Stream[[]byte, []byte], error) {
		switch e := a.endpoint.(type) {
		case streamOpener:
			return e.openEncoded(ctx, format)
		case *remoteAction:
			return nil, e.onlyJSON(format)
		case *wrappedRemoteAction:
			return nil, e.onlyJSON(format)
		}
		return nil, noStream(a.node, a.Name)
	})
}

// openMeasured opens a stream where the node has place for what will wait in it.
func openMeasured[R, S any](ctx context.Context, a *Action, open func(context.Context, *Action) (*Stream[R, S], error)) (*Stream[R, S], error) {
	n := a.node
	if !n.admission.Fits(0, 0) {
		return nil, n.tooManyCalls()
	}
	known, _ := n.streamsHold.LoadOrStore(a.Name, &memory.Expected{})
	opening, ok := n.accountOf(ctx).OpenExpecting(ctx, known.(*memory.Expected), heldFor<<20)
	if ended := ctx.Err(); !ok && ended != nil {
		return nil, AsError(ended)
	}
	if !ok {
		return nil, n.tooManyWait()
	}
	s, err := open(ctx, a)
	if err != nil {
		opening.Failed()
		return nil, err
	}
	if opening != nil {
		s.recv = whileOpening(s.recv, opening)
	}
	return s, nil
}

// heldFor is how many values of a stream there are while its receiver takes none: one is with the receiver, maybe in another form that is
// several times as large; one is under way, and the handler has the next.
const heldFor = 6

// whileOpening lets the first values of a stream show how much it holds.
func whileOpening[R any](recv func() (R, error), opening *memory.Opening) func() (R, error) {
	measure := memory.Sizer[R]()
	received := 0
	return func() (value R, err error) {
		if received == 1 {
			opening.Begun()
		}
		value, err = recv()
		if received++; received == 1 && err == nil && measure != nil {
			opening.Holds(heldFor * measure(&value))
		}
		return value, err
	}
}

func openAction[In, Out any](ctx context.Context, a *Action) (*Stream[Out, In], error) {
	switch e := a.endpoint.(type) {
	case nil:
		return nil, a.notHere()
	case *streamHandler[In, Out]:
		return e.openStream(ctx)
	case streamOpener:
		other, err := e.openAny(ctx)
		if err != nil {
			return nil, err
		}
		return convertStream[In, Out](other), nil
	case *remoteAction:
		return openRemoteStream[In, Out](ctx, e, callOptions{})
	case *wrappedRemoteAction:
		return openWrapped[In, Out](ctx, e)
	}
	return nil, noStream(a.node, a.Name)
}

// openWrapped opens a stream of another node inside the middlewares that were put around it: they run on a goroutine of
// their own until the caller closes the stream or has received its end.
func openWrapped[In, Out any](ctx context.Context, w *wrappedRemoteAction) (*Stream[Out, In], error) {
	own, failed := w.op.enter(ctx)
	if failed != nil {
		return nil, failed
	}
	opened := make(chan *Stream[Out, In], 1)
	closed, unwanted := make(chan struct{}), make(chan struct{})
	o := &streamOpening{open: func(ctx context.Context) error {
		s, err := openRemoteStream[In, Out](ctx, w.remoteAction, callOptions{})
		if err != nil {
			return err
		}
		opened <- untilClosed(s, sync.OnceFunc(func() { close(closed) }))
		select {
		case <-closed:
		case <-unwanted: // a middleware has answered meanwhile
			s.Close()
		}
		return nil
	}}
	o.action, o.typed = w.action, o
	refused := make(chan error, 1)
	run := func(context.Context) error { return o.attempt(own, w.chain) }
	go isolateGoroutine(w.action.Name, own, run, func(err error) { refused <- err })
	select {
	case s := <-opened:
		return s, nil
	case err := <-refused:
		close(unwanted)
		if err == nil {
			err = noStream(w.action.node, w.action.Name) // a middleware that answered in the stream's place
		}
		return nil, w.op.node.located(err)
	}
}

// untilClosed returns s, but calls over when it is closed or has no more to receive.
func untilClosed[R, S any](s *Stream[R, S], over func()) *Stream[R, S] {
	c := *s
	c.recv = func() (R, error) {
		value, err := s.recv()
		if err != nil {
			over()
		}
		return value, err
	}
	c.end = func() {
		s.end()
		over()
	}
	return &c
}

// openInside is the inner end of the middlewares around a stream of another node.
func openInside(ctx context.Context, r *Request) error { return r.typed.(*streamOpening).open(ctx) }

// streamOpening is the request for such a stream.
type streamOpening struct {
	jsonRequest
	open func(ctx context.Context) error
}

func (o *streamOpening) fork() *Request { return &o.Request }

func (o *streamOpening) adopt(*Request) {}

func (o *streamOpening) drop(*Request) {}
