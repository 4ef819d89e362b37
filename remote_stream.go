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

// openRemoteStream opens a stream to an action of another node. An open that certainly never reached its node is sent to another at once, as
// calls are.
func openRemoteStream(ctx context.Context, a *remoteAction, types streamTypes, o callOptions) (opened streamEnd, err error) {
	defer func() {
		if v := recover(); v != nil { // in what a middleware carries along
			opened, err = streamEnd{}, a.op.node.panicked(ctx, a.action.Name, v)
		}
	}()
	own, failed := a.op.enter(ctx)
	if failed != nil {
		return streamEnd{}, failed
	}
	var tried avoided
	for rerouted := 0; ; rerouted++ {
		to, err := a.pick(&o, &tried)
		if err != nil {
			now, err := a.await(ctx, &o, err)
			if err != nil {
				return streamEnd{}, err
			}
			var isRemote bool
			if a, isRemote = now.(*remoteAction); !isRemote {
				return openStreamOf(ctx, now, types, o)
			}
			continue
		}
		if to.foreign != nil {
			return openForeign(ctx, own, a, &to)
		}
		stream, err := to.peer.open(ctx, own, a, types)
		lost, ok := err.(*wire.LostError)
		if !ok {
			return stream, err
		}
		if lost.Sent || rerouted == maxReroutes || ctx.Err() != nil {
			return streamEnd{}, a.linkLost(to.id, lost)
		}
		tried.add(to.id)
	}
}

// openOverLink opens the stream over a link to the peer. own is the context of the operation, ctx the caller's.
func openOverLink(ctx, own context.Context, a *remoteAction, p *mesh.Peer, types streamTypes) (streamEnd, error) {
	n := a.op.node
	link, err := a.connect(ctx, p, 0)
	if err != nil {
		return streamEnd{}, err
	}
	e := &linkStream{node: n, name: a.action.Name, what: "the input of "}
	format, err := n.chooseFormat(a.action, p.ID, mesh.Codecs(link), types.in, types.out)
	if err != nil {
		return streamEnd{}, err
	}
	if e.sends, err = formatOf(types.in, format); err == nil {
		e.receives, err = formatOf(types.out, format)
	}
	if err != nil {
		return streamEnd{}, badInput(n, "the types of a stream of "+a.action.Name, err)
	}
	e.schemaNumber = e.sends.schemaNumber(link)
	if n.carry != nil {
		own = n.carry(own)
	}
	var meta wire.Meta
	fillMeta(&meta, own, a.op)
	meta.Timeout = timeLeft(ctx)
	if e.stream, err = link.Open(ctx, link.Declare(wire.StreamRoute, a.action.Name, format), meta); err != nil {
		return streamEnd{}, a.callError(p, link, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	e.ctx = ctx
	e.failed = func(err error) error {
		if lost, ok := err.(*wire.LostError); ok {
			return a.linkLost(p.ID, lost)
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
	return callerInShape(a.action, streamEnd{ctx: ctx, recv: e.recv, send: e.send, closeSend: e.closeSend, end: end}), nil
}

// keepStreamBuffer is the largest buffer that an end of a stream keeps between two values.
const keepStreamBuffer = 64 << 10

// linkStream is one end of a stream over a link.
type linkStream struct {
	node         *Node
	ctx          context.Context
	name         string // of the action
	what         string // it sends, for errors
	stream       *wire.Stream
	receives     valueFormat
	reader       atomic.Pointer[reader]
	sends        valueFormat
	schemaNumber uint32 // of the schema on the link of what it sends
	buf          []byte
	usual        int // size of the last value that was too large for buf to keep
	closed       atomic.Bool
	failed       func(error) error
}

func (e *linkStream) recv(to any) error {
	data, schema, err := e.stream.Recv()
	if err != nil {
		if err != io.EOF {
			err = e.failed(err)
		}
		return err
	}
	if _, err = e.receives.decode(data, schema, sharesIf(e.stream.Owned()), &e.reader, to); err != nil {
		return badInput(e.node, "a value on a stream of "+e.name, err)
	}
	return nil
}

func (e *linkStream) send(from any) (err error) {
	if e.closed.Load() {
		return &Error{Code: CodeFailedPrecondition, Name: nameStreamEnded, Message: "Send after CloseSend on a stream of " + e.name}
	}
	buf := e.buf
	if e.usual > cap(buf) {
		buf = wire.Buffer(e.usual)
	}
	if buf, err = e.sends.append(buf[:0], e.schemaNumber, from); err != nil {
		return badSent(e.node, e.what+e.name, from, err)
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

func (e *linkStream) closeSend() {
	if !e.closed.Swap(true) {
		e.stream.EndSends()
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
// more than their part of [Limits] it waits, and after 2 seconds the error is TooManyStreams.
func OpenAction[In, Out any](ctx context.Context, a *Action) (*Stream[Out, In], error) {
	types := streamTypesOf[In, Out]()
	return callerEnd[In, Out](openMeasured(ctx, a, types.out, func(ctx context.Context) (streamEnd, error) { return openAction(ctx, a, types) }))
}

// Open is [OpenAction] for a gateway of a protocol that has a format of its own, which is that of the values. Of in, Limit, Watched, Strict
// and Borrowed do nothing. Of an action of another node only JSON is known here: the error is NoCommonCodec.
func (a *Action) Open(in gateway.Inbound, format codec.Codec) (*Stream[[]byte, []byte], error) {
	if a.endpoint == nil {
		return nil, a.notHere()
	}
	return callerEnd[[]byte, []byte](openMeasured(a.node.contextFor(&in), a, reflect.TypeFor[[]byte](), func(ctx context.Context) (streamEnd, error) {
		switch e := a.endpoint.(type) {
		case *streamHandler:
			return e.openEncoded(ctx, format)
		case *remoteAction:
			return streamEnd{}, e.onlyJSON(format)
		case *wrappedRemoteAction:
			return streamEnd{}, e.onlyJSON(format)
		}
		return streamEnd{}, noStream(a.node, a.Name)
	}))
}

// openMeasured opens a stream, whose caller receives values of a type, where the node has place for what will wait in it.
func openMeasured(ctx context.Context, a *Action, receives reflect.Type, open func(context.Context) (streamEnd, error)) (streamEnd, error) {
	n := a.node
	if !n.admission.Fits(0, 0) {
		return streamEnd{}, n.tooManyCalls()
	}
	known, _ := n.streamsHold.LoadOrStore(a.Name, &memory.Expected{})
	opening, ok := n.accountOf(ctx).OpenExpecting(ctx, known.(*memory.Expected), heldFor<<20)
	if ended := ctx.Err(); !ok && ended != nil {
		return streamEnd{}, AsError(ended)
	}
	if !ok {
		return streamEnd{}, n.tooManyWait()
	}
	s, err := open(ctx)
	if err != nil {
		opening.Failed()
		return s, err
	}
	if opening != nil {
		s.recv = whileOpening(s.recv, opening, memory.SizerOf(receives))
	}
	return s, nil
}

// heldFor is how many values of a stream there are while its receiver takes none: one is with the receiver, maybe in another form that is
// several times as large; one is under way, and the handler has the next.
const heldFor = 6

// whileOpening lets the first values of a stream show how much it holds.
func whileOpening(recv func(any) error, opening *memory.Opening, measure func(any) int) func(any) error {
	received := 0
	return func(to any) error {
		if received == 1 {
			opening.Begun()
		}
		err := recv(to)
		if received++; received == 1 && err == nil && measure != nil {
			opening.Holds(heldFor * measure(to))
		}
		return err
	}
}

func openAction(ctx context.Context, a *Action, types streamTypes) (streamEnd, error) {
	switch e := a.endpoint.(type) {
	case nil:
		return streamEnd{}, a.notHere()
	case *wrappedRemoteAction:
		return openWrapped(ctx, e, types)
	default:
		return openStreamOf(ctx, e, types, callOptions{})
	}
}

// openWrapped opens a stream of another node inside the middlewares that were put around it: they run on a goroutine of
// their own until the caller closes the stream or has received its end.
func openWrapped(ctx context.Context, w *wrappedRemoteAction, types streamTypes) (streamEnd, error) {
	own, failed := w.op.enter(ctx)
	if failed != nil {
		return streamEnd{}, failed
	}
	opened := make(chan streamEnd, 1)
	closed, unwanted := make(chan struct{}), make(chan struct{})
	o := &streamOpening{open: func(ctx context.Context) error {
		s, err := openRemoteStream(ctx, w.remoteAction, types, callOptions{})
		if err != nil {
			return err
		}
		opened <- s.untilClosed(sync.OnceFunc(func() { close(closed) }))
		select {
		case <-closed:
		case <-unwanted: // a middleware has answered meanwhile
			s.end()
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
		return streamEnd{}, w.op.node.located(err)
	}
}

// untilClosed returns s, but calls over when it is closed or has no more to receive.
func (s streamEnd) untilClosed(over func()) streamEnd {
	c := s
	c.recv = func(to any) error {
		err := s.recv(to)
		if err != nil {
			over()
		}
		return err
	}
	c.end = func() {
		s.end()
		over()
	}
	return c
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
