package sabir

import (
	"context"
	"sync"
	"time"
)

// eventQueue hands the events of a Buffered handler to its goroutine.
type eventQueue[T any] struct {
	handler *eventHandler[T]
	events  chan queuedEvent[T]
	ended   chan struct{} // closed when the goroutine is done
	senders sync.RWMutex  // held for reading while sending, so that no send is on a closed channel
	closed  bool

	bestEffort bool          // events are lost while the queue is full
	closing    chan struct{} // closed before that, for senders that wait
}

type queuedEvent[T any] struct {
	ctx     *callContext
	at      *delivery
	payload T
}

// queueTimeout is the time that an emitter waits at a full queue.
const queueTimeout = 5 * time.Second

func newEventQueue[T any](h *eventHandler[T], length int) *eventQueue[T] {
	return &eventQueue[T]{handler: h, events: make(chan queuedEvent[T], length), ended: make(chan struct{}), closing: make(chan struct{})}
}

// drain handles events until the queue is closed and empty. A handler that ends the goroutine makes it continue on another.
func (q *eventQueue[T]) drain() {
	var e queuedEvent[T]
	closed := false
	defer func() {
		if closed {
			close(q.ended)
			return
		}
		go q.drain()
		q.handler.node.logEvent(e.ctx, e.at, panicError("the handler of "+e.at.op.name+" in "+q.handler.sub.Service, recover()))
	}()
	for e = range q.events {
		q.handler.handle(e.ctx, e.at, e.payload)
	}
	closed = true
}

func (q *eventQueue[T]) push(ctx context.Context, e queuedEvent[T]) error {
	q.senders.RLock()
	defer q.senders.RUnlock()
	if q.closed {
		return errGroupGone
	}
	select {
	case q.events <- e:
		return nil
	default:
	}
	if q.bestEffort {
		return nil
	}
	timeout := time.NewTimer(queueTimeout)
	defer timeout.Stop()
	select {
	case q.events <- e:
		return nil
	case <-ctx.Done():
		return e.at.op.contextError(ctx.Err())
	case <-q.closing:
		return errGroupGone
	case <-timeout.C:
		return &Error{Code: CodeResourceExhausted, Name: nameEventQueueFull, Node: e.at.op.node.id, Retryable: true,
			Message: "the queue of " + q.handler.sub.Service + " for " + q.handler.sub.Pattern + " is full (" + itoa(cap(q.events)) + " events)"}
	}
}

// finish closes the queue and waits until what is in it was handled, or for the context.
func (q *eventQueue[T]) finish(ctx context.Context) error {
	close(q.closing)
	q.senders.Lock()
	q.closed = true
	close(q.events)
	q.senders.Unlock()
	select {
	case <-q.ended:
		return nil
	case <-ctx.Done():
		return &Error{Code: CodeDeadlineExceeded, Name: nameDeadlineExceeded, cause: ctx.Err(),
			Message: "the queue of " + q.handler.sub.Service + " for " + q.handler.sub.Pattern + " was not empty in time"}
	}
}
