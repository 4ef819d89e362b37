package sabir

import (
	"context"
	"sync"
)

// OpenAction opens this very stream, as [OpenStream] does by name: for gateways that decide by the action's description
// whether a stream may be opened, and must then reach no other that took over its name meanwhile. In and Out may be
// json.RawMessage, whatever the handler's types are. The caller must Close the stream.
func OpenAction[In, Out any](ctx context.Context, a *Action) (*Stream[Out, In], error) {
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
	case *away:
		return openAway[In, Out](ctx, e, callOptions{})
	case *wrappedAway:
		return openWrapped[In, Out](ctx, e)
	}
	return nil, noStream(a.node, a.Name)
}

// openWrapped opens a stream of another node inside the middlewares that were put around it: they run on a goroutine of
// their own until the caller closes the stream or has received its end.
func openWrapped[In, Out any](ctx context.Context, w *wrappedAway) (*Stream[Out, In], error) {
	own, failed := w.step.enter(ctx)
	if failed != nil {
		return nil, failed
	}
	opened := make(chan *Stream[Out, In], 1)
	closed, unwanted := make(chan struct{}), make(chan struct{})
	o := &opening{open: func(ctx context.Context) error {
		s, err := openAway[In, Out](ctx, w.away, callOptions{})
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
	go func() { refused <- o.attempt(own, w.chain) }()
	select {
	case s := <-opened:
		return s, nil
	case err := <-refused:
		close(unwanted)
		if err == nil {
			err = noStream(w.action.node, w.action.Name) // a middleware that answered in the stream's place
		}
		return nil, w.step.node.located(err)
	}
}

// untilClosed is s, which calls over when it was closed or has no more to receive.
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
func openInside(ctx context.Context, r *Request) error { return r.typed.(*opening).open(ctx) }

// opening is the request for such a stream.
type opening struct {
	jsonRequest
	open func(ctx context.Context) error
}

func (o *opening) fork() *Request { return &o.Request }
func (o *opening) adopt(*Request) {}
