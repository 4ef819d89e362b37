package lease

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/backoff"
)

// Option gives the leases to a node, which then runs the services that were made with [sabir.Once] as the leases decide:
//
//	mailer := sabir.NewService("mailer", sabir.Once())
//	node := sabir.NewNode(sabir.Serve(mailer), leases.Option(), sabir.Join("tcp://:7700"))
//
// A node that gets the lease "service NAME" starts the service, start hooks included. When it loses the lease, new calls are refused with
// [ErrLost], retryable, and the contexts of those that run end; then the service stops, and the node waits for the lease again. If the
// service cannot start, the lease goes to the next node, and this one waits before it tries again. All handlers and hooks find the
// lease, with its fencing token, by [FromContext].
func (l *Leases) Option() sabir.NodeOption { return sabir.WithExtension(&extension{leases: l}) }

// extension is the leases of one node.
type extension struct {
	leases *Leases
	node   *sabir.Node

	mu       sync.Mutex
	services map[*sabir.Service]*once
}

func (e *extension) Name() string { return "leases" }

func (e *extension) Start(_ context.Context, n *sabir.Node) error {
	if e.leases.wrong != nil {
		return e.leases.wrong
	}
	e.leases.of(n)
	e.node, e.services = n, make(map[*sabir.Service]*once)
	return nil
}

// Stop is called when the services have stopped. It does not wait for the goroutines that run them: those may be in a start or stop, which
// wait for the end of the node's stop, and then fail.
func (e *extension) Stop(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, o := range e.services {
		o.stop()
		if h := o.held.Load(); h != nil {
			h.releaseInTime(ctx)
		}
	}
	return nil
}

// RunOnce runs a service of the node whenever the node has its lease.
func (e *extension) RunOnce(s *sabir.Service, start, stop func(context.Context) error) (end func(context.Context) error, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	o := e.services[s]
	if o == nil {
		o = &once{leases: e.leases, node: e.node, name: "service " + s.Name()}
		if err := e.leases.check(o.name, ""); err != nil {
			return nil, err
		}
		s.Use(o.guard())
		e.services[s] = o
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	o.stop = cancel
	go func() {
		defer close(ended)
		o.run(ctx, start, stop)
	}()
	return func(ctx context.Context) error {
		cancel()
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, nil
}

// once is a service that runs on this node while it has the lease.
type once struct {
	leases *Leases
	node   *sabir.Node
	name   string
	held   atomic.Pointer[Lease] // the last one
	stop   context.CancelFunc
}

// restart is the time between attempts to start the service on this node.
var restart = backoff.Backoff{First: time.Second, Last: 30 * time.Second}

// run starts the service whenever this node has the lease.
func (o *once) run(ctx context.Context, start, stop func(context.Context) error) {
	for failed := 0; backoff.Sleep(ctx, restart.Wait(failed)) == nil && !stops(o.node); {
		h, err := o.leases.Acquire(ctx, o.name, o.node.ID())
		if err == nil {
			err = o.term(ctx, h, start, stop)
		}
		if failed++; err == nil {
			failed = 0
		} else if ctx.Err() == nil {
			o.node.Log().Warn("lease: the service does not run here", "lease", o.name, "error", err)
		}
	}
}

// stops reports whether a node stops, or has stopped.
func stops(n *sabir.Node) bool { return n.State() == "stopping" || n.State() == "stopped" }

// term runs the service under one lease, until the lease is lost or ctx ends.
func (o *once) term(ctx context.Context, h *Lease, start, stop func(context.Context) error) error {
	defer h.releaseInTime(ctx)
	o.held.Store(h)
	starting, cancel := h.Context(ctx)
	err := start(starting)
	cancel()
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		if o.node.State() != "running" {
			return nil // the service has stopped with the node
		}
	case <-h.Done():
	}
	// The contexts of what runs have ended with the lease, so what does not heed them is not waited for longer than that.
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.leases.ttl)
	defer cancel()
	return stop(stopping)
}

// guard lets handlers run only under the lease.
func (o *once) guard() sabir.Middleware {
	call := func(_ *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			return o.under(ctx, func(ctx context.Context) error { return next(ctx, r) })
		}
	}
	return sabir.Middleware{Name: "lease", Local: call, Stream: call,
		Event: func(_ *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
			return func(ctx context.Context, e *sabir.Event) error {
				return o.under(ctx, func(ctx context.Context) error { return next(ctx, e) })
			}
		},
		Lifecycle: func(_ sabir.Stage, next func(context.Context) error) func(context.Context) error {
			return func(ctx context.Context) error { return next(context.WithValue(ctx, leaseKey{}, o.held.Load())) }
		},
	}
}

// under runs a handler in a context that ends with the lease.
func (o *once) under(ctx context.Context, handle func(context.Context) error) error {
	h := o.held.Load()
	if !h.Valid() {
		return ErrLost.AsRetryable()
	}
	held, cancel := h.Context(ctx)
	defer cancel()
	err := handle(held)
	if err != nil && errors.Is(context.Cause(held), ErrLost) && errors.Is(err, context.Canceled) {
		return ErrLost // not retryable: the handler had begun
	}
	return err
}
