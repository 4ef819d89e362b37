package sabir

import (
	"context"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/memory"
)

// eventQueue hands the events of a handler with a Buffer to its goroutine.
type eventQueue struct {
	handler *localEvent
	events  chan queuedEvent
	ended   chan struct{} // closed when the goroutine is done
	senders sync.RWMutex  // held for reading while sending, so that no send is on a closed channel
	closed  bool

	bestEffort bool            // events are lost while the queue is full
	closing    context.Context // ends before that, for senders that wait
	close      context.CancelFunc

	memory  *memory.Account
	measure func(any) int // of what a payload holds beside its own memory; nil for nothing
}

type queuedEvent struct {
	ctx     *callContext
	at      *delivery
	payload any // a pointer to it
	size    int // what is counted for it
}

// queueTimeout is the time that an emitter waits at a full queue.
const queueTimeout = 5 * time.Second

func newEventQueue(h *localEvent, length int) *eventQueue {
	q := &eventQueue{handler: h, events: make(chan queuedEvent, length), ended: make(chan struct{}),
		memory: h.node.memory.Queue(), measure: memory.SizerOf(h.sub.Type)}
	q.closing, q.close = context.WithCancel(context.Background())
	return q
}

// drain handles events until the queue is closed and empty. A handler that ends the goroutine makes it continue on another.
func (q *eventQueue) drain() {
	var e queuedEvent
	closed := false
	defer func() {
		if closed {
			close(q.ended)
			return
		}
		q.memory.Give(e.size)
		go q.drain()
		q.handler.node.logEvent(e.ctx, e.at.op, q.handler.sub.Pattern, panicError("the handler of "+e.at.op.name+" in "+q.handler.sub.Service, recover()))
	}()
	for e = range q.events {
		q.handler.handle(e.ctx, e.at, e.payload)
		q.memory.Give(e.size)
	}
	closed = true
}

func (q *eventQueue) push(ctx context.Context, e queuedEvent) error {
	q.senders.RLock()
	defer q.senders.RUnlock()
	if q.closed {
		return errGroupGone
	}
	e.size = q.sizeOf(e.payload)
	if q.memory.Try(e.size) {
		select {
		case q.events <- e:
			return nil
		default:
			q.memory.Give(e.size)
		}
	}
	if q.bestEffort {
		return nil
	}
	return q.wait(ctx, e)
}

// wait is push for an event that there is no space for, by number or by bytes.
func (q *eventQueue) wait(ctx context.Context, e queuedEvent) error {
	waiting, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	defer context.AfterFunc(q.closing, cancel)()
	if q.memory.TakeWithin(waiting, e.size) {
		select {
		case q.events <- e:
			return nil
		case <-waiting.Done():
			q.memory.Give(e.size)
		}
	}
	switch {
	case ctx.Err() != nil:
		return e.at.op.contextError(ctx.Err())
	case q.closing.Err() != nil:
		return errGroupGone
	}
	return &Error{Code: CodeResourceExhausted, Name: nameEventQueueFull, Node: e.at.op.node.id, Retryable: true,
		Message: "the queue of " + q.handler.sub.Service + " for " + q.handler.sub.Pattern + " is full (" + itoa(len(q.events)) + " of " + itoa(cap(q.events)) + " events)"}
}

// sizeOf returns the bytes that a payload holds while it waits.
func (q *eventQueue) sizeOf(payload any) int {
	size := int(q.handler.sub.Type.Size())
	if q.measure != nil {
		size += q.measure(payload)
	}
	return size
}

// finish closes the queue and waits until what is in it was handled, or for the context.
func (q *eventQueue) finish(ctx context.Context) error {
	q.close()
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
