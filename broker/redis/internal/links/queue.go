package links

import (
	"sync"
)

const (
	// queueLimit bounds in bytes what waits to be sent. A single message may be larger.
	queueLimit = 1 << 20
	// countLimit bounds how many messages wait, and with it how long the next one does.
	countLimit = 512
)

// queue holds the messages that were published and not sent yet.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond // the queue was taken, or filled, or closed
	pending *batch
	spare   *batch // empty
	sending bool   // a batch was taken and is not done
	down    bool   // nothing is taken in
	closed  bool
	refused error // by the server, and not reported yet
}

// batch is messages, one after the other in one buffer.
type batch struct {
	data     []byte
	messages []message
}

// message is one message of a batch; end is the offset of its end in the batch's data.
type message struct {
	subject string
	end     int
	probe   bool
}

// full reports whether a message of that size must wait.
func (b *batch) full(size int) bool {
	return len(b.messages) > 0 && (len(b.messages) >= countLimit || len(b.data)+size > queueLimit)
}

func newQueue() *queue {
	q := &queue{pending: &batch{}, spare: &batch{}}
	q.changed.L = &q.mu
	return q
}

// put copies a message. It waits while the queue is full.
func (q *queue) put(subject string, data []byte, probe bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && !q.down && q.pending.full(len(data)) {
		q.changed.Wait()
	}
	switch {
	case q.closed:
		return errClosed
	case q.down:
		return errDown
	case q.refused != nil:
		err := q.refused
		q.refused = nil
		return err
	}
	b := q.pending
	b.data = append(b.data, data...)
	b.messages = append(b.messages, message{subject, len(b.data), probe})
	if len(b.messages) == 1 {
		q.changed.Broadcast()
	}
	return nil
}

// take waits for messages. It returns nil when the queue is down or closed. Each batch must be given back by done.
func (q *queue) take() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && !q.down && len(q.pending.messages) == 0 {
		q.changed.Wait()
	}
	if q.closed || q.down {
		return nil
	}
	b := q.pending
	q.pending, q.spare, q.sending = q.spare, nil, true
	q.changed.Broadcast()
	return b
}

// done gives a batch back. refused is the server's error for a message, if any.
func (q *queue) done(b *batch, refused error) {
	clear(b.messages)
	b.data, b.messages = b.data[:0], b.messages[:0]
	if cap(b.data) > 2*queueLimit {
		b.data = nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.spare, q.sending = b, false
	if refused != nil {
		q.refused = refused
	}
	q.changed.Broadcast()
}

// setDown drops the messages that wait, and refuses new ones until setUp.
func (q *queue) setDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.down = true
	clear(q.pending.messages)
	q.pending.data, q.pending.messages = q.pending.data[:0], q.pending.messages[:0]
	q.changed.Broadcast()
}

func (q *queue) setUp() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.down = false
	q.changed.Broadcast()
}

func (q *queue) isDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.down
}

// drain returns when everything was sent, or the queue is down or closed.
func (q *queue) drain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && !q.down && (q.sending || len(q.pending.messages) > 0) {
		q.changed.Wait()
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}
