package admission

// queue is a doubly linked list of tickets. Control.mu guards it.
type queue struct{ first, last *Ticket }

func (c *Control) enqueue(t *Ticket, class Class) {
	q := &c.queues[class]
	t.class, t.queued = class, true
	t.prev, t.next = q.last, nil
	if q.last == nil {
		q.first = t
	} else {
		q.last.next = t
	}
	q.last = t
}

func (c *Control) dequeue(t *Ticket) {
	q := &c.queues[t.class]
	if t.prev == nil {
		q.first = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		q.last = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.queued, t.prev, t.next = false, nil, nil
}

// front is the ticket whose turn it is; nil where none waits.
func (c *Control) front() *Ticket {
	for class := range c.queues {
		if t := c.queues[class].first; t != nil {
			return t
		}
	}
	return nil
}
