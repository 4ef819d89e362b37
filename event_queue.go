package sabir

import (
	"context"
	"sync"
	"time"
)

// eventQueue hands the events of a Queued handler to its goroutine.
type eventQueue[T any] struct {
	handler *eventHandler[T]
	events  chan queuedEvent[T]
	ended   chan struct{} // closed when the goroutine is done
	senders sync.RWMutex  // held for reading while sending, so that nobody sends on a closed channel
	closed  bool
	closing chan struct{} // closed before that, for senders that wait for room
}

type queuedEvent[T any] struct {
	ctx     *callContext
	at      *delivery
	payload T
}

// queuePatience is how long an emitter waits for room in a full queue.
const queuePatience = 5 * time.Second

func newEventQueue[T any](h *eventHandler[T], length int) *eventQueue[T] {
	return &eventQueue[T]{handler: h, events: make(chan queuedEvent[T], length), ended: make(chan struct{}), closing: make(chan struct{})}
}

func (q *eventQueue[T]) drain() {
	defer close(q.ended)
	for e := range q.events {
		q.handler.handle(e.ctx, e.at, e.payload)
	}
}

func (q *eventQueue[T]) push(ctx context.Context, e queuedEvent[T]) error {
	q.senders.RLock()
	defer q.senders.RUnlock()
	if q.closed {
		return errGone
	}
	select {
	case q.events <- e:
		return nil
	default:
	}
	patience := time.NewTimer(queuePatience)
	defer patience.Stop()
	select {
	case q.events <- e:
		return nil
	case <-ctx.Done():
		return e.at.step.gaveUp(ctx.Err())
	case <-q.closing:
		return errGone
	case <-patience.C:
		return &Error{Code: ResourceExhausted, Name: nameEventQueueFull, Node: e.at.step.node.id, Retryable: true,
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
		return &Error{Code: DeadlineExceeded, Name: nameDeadline, cause: ctx.Err(),
			Message: "the queue of " + q.handler.sub.Service + " for " + q.handler.sub.Pattern + " was not empty in time"}
	}
}
