package actor

// relay is a process that delivers the values of a topic to some of its subscribers on this node, or to the mirror on another
// node. It does one thing after another in the order in which they happened to the hub, which is why each subscriber gets each
// value once and in order. After relayTurn deliveries it lets others run, so that subscribers handle what they got while it is
// in the processor's cache, and envelopes are reused.
type relay[T any] struct {
	hub *hub[T]
	pid PID

	// The hub's mu guards these.
	pending []T
	changes []change[T]
	awake   bool

	// What it has taken and does now.
	values  []T
	todo    []change[T]
	at, end int  // values[at:end] are being delivered
	next    int  // index of the subscriber that is next
	mirror  *PID // of another node; subs is not used then

	ids  []uint64 // ids of subs, in one slice to iterate over
	subs []*subscription

	ready readyList
	slab  []batch[T]
}

// change is something that happens to a relay between two values: a subscriber joins or leaves, or the topic ends.
type change[T any] struct {
	at     int // index in pending before which it happens
	sub    *subscription
	kept   []T
	leaves bool
	over   error // the topic's end
}

// wakeRelay is the message that wakes a relay.
type wakeRelay struct{}

const (
	relayTurn    = 1024 // envelopes delivered before others run
	readyAtOnce  = 256  // processes scheduled together
	envelopeSlab = 64   // envelopes made at once
)

// relayProcess is the process of a relay, whatever its type of values.
type relayProcess struct{ relaying }

type relaying interface{ turn(p *Process) error }

var relayBehavior = internalProcess(Define("topic-relay", (*relayProcess).Init, OnMessage((*relayProcess).Turn)))

func (r *relayProcess) Init(p *Process, of relaying) error { r.relaying = of; return nil }
func (r *relayProcess) Turn(p *Process, _ wakeRelay) error { return r.turn(p) }

// turn does a part of what there is to do.
func (r *relay[T]) turn(p *Process) error {
	for left := relayTurn; left > 0; {
		switch {
		case r.at < r.end:
			left -= r.handOut(p, left)
		case len(r.todo) > 0 && r.todo[0].at == r.at:
			if over := r.todo[0].over; over != nil {
				return r.finish(p, over)
			}
			if r.mirror != nil && r.todo[0].leaves {
				return ErrNormal // the mirror has ended
			}
			left -= r.change(p, &r.todo[0])
			r.todo[0] = change[T]{}
			r.todo = r.todo[1:]
		case r.at < len(r.values):
			r.end = len(r.values)
			if len(r.todo) > 0 {
				r.end = r.todo[0].at
			}
			r.end = min(r.end, r.at+r.hub.of.length)
		case !r.take():
			r.ready.flush(p.system)
			return nil
		}
	}
	r.ready.flush(p.system)
	p.tired = true
	return Send(p, p.pid, wakeRelay{})
}

// take takes the values that were published and reports whether there are any.
func (r *relay[T]) take() bool {
	h := r.hub
	clear(r.values)
	h.mu.Lock()
	defer h.mu.Unlock()
	r.values, r.pending = r.pending, r.values[:0]
	r.todo, r.changes = r.changes, nil
	r.at, r.end = 0, 0
	if h.spaceFreed != nil {
		close(h.spaceFreed)
		h.spaceFreed = nil
	}
	r.awake = len(r.values) > 0 || len(r.todo) > 0
	return r.awake
}

// handOut delivers the values to as many subscribers as left envelopes reach, and returns how many envelopes it used.
func (r *relay[T]) handOut(p *Process, left int) int {
	values := r.values[r.at:r.end]
	if r.mirror != nil {
		r.at = r.end
		return r.sendRemote(p, values)
	}
	each := r.envelopes(len(values))
	from := r.next
	r.next = min(len(r.ids), from+max(left/each, 1))
	for _, id := range r.ids[from:r.next] {
		r.give(p.system, id, values)
	}
	taken := (r.next - from) * each
	if r.next == len(r.ids) {
		r.at, r.next = r.end, 0
	}
	return max(taken, 1)
}

// sendRemote sends values to the mirror on another node. Its end comes to the topic keeper, as a Down.
func (r *relay[T]) sendRemote(p *Process, values []T) int {
	run := r.run(values)
	p.system.push(*r.mirror, &run.head, p)
	return len(values)
}

// envelopes returns how many envelopes n values take: runs have space for many and would mostly be empty with few.
func (r *relay[T]) envelopes(n int) int {
	if n*4 >= r.hub.of.length {
		return 1
	}
	return n
}

func (r *relay[T]) run(values []T) *batch[T] {
	run := r.hub.of.run()
	run.items = append(run.items, values...)
	run.head.from, run.head.count = r.hub.producer, int32(len(values))
	return run
}

func (r *relay[T]) single(value T) *batch[T] {
	m := r.hub.of
	b, ok := m.single.Get().(*batch[T])
	if !ok {
		if len(r.slab) == 0 {
			r.slab = make([]batch[T], envelopeSlab)
		}
		b, r.slab = &r.slab[0], r.slab[1:]
		b.of, b.head.body, b.head.priority = m, b, PriorityNormal
		b.items = b.one[:0]
	}
	b.items = append(b.items, value)
	b.head.from, b.head.count = r.hub.producer, 1
	return b
}

// give delivers values to one process, at most of.length of them.
func (r *relay[T]) give(s *System, id uint64, values []T) {
	if r.envelopes(len(values)) == 1 && len(values) > 1 {
		r.ready.put(s, id, &r.run(values).head)
		return
	}
	for _, value := range values {
		r.ready.put(s, id, &r.single(value).head)
	}
}

// change adds or removes a subscriber, and returns how many envelopes that took.
func (r *relay[T]) change(p *Process, c *change[T]) int {
	switch {
	case r.mirror != nil:
		for kept := c.kept; len(kept) > 0; {
			n := min(len(kept), r.hub.of.length)
			r.sendRemote(p, kept[:n])
			kept = kept[n:]
		}
		return 1 + len(c.kept)
	case !c.leaves:
		c.sub.at = len(r.ids)
		r.ids = append(r.ids, c.sub.pid.id)
		r.subs = append(r.subs, c.sub)
		envelopes := 1
		for kept := c.kept; len(kept) > 0; {
			n := min(len(kept), r.hub.of.length)
			r.give(p.system, c.sub.pid.id, kept[:n])
			envelopes += r.envelopes(n)
			kept = kept[n:]
		}
		return envelopes
	}
	last := len(r.ids) - 1
	at := c.sub.at
	if at < 0 {
		return 1 // the hub had refused it
	}
	r.ids[at], r.subs[at] = r.ids[last], r.subs[last]
	r.subs[at].at = at
	r.subs[last] = nil
	r.ids, r.subs = r.ids[:last], r.subs[:last]
	return 1
}

// finish notifies the subscribers of the end of the topic. The relay ends when all are notified.
func (r *relay[T]) finish(p *Process, reason error) error {
	s := p.system
	if r.mirror != nil {
		p.box.flush()
		Send(p, *r.mirror, overOf(reason))
		return ErrNormal
	}
	upto := min(r.next+relayTurn, len(r.subs))
	for _, sub := range r.subs[r.next:upto] {
		r.ready.notify(s, sub, sub.over(r.hub.producer, reason))
	}
	r.ready.flush(s)
	if r.next = upto; r.next == len(r.subs) {
		return ErrNormal
	}
	p.tired = true
	return Send(p, p.pid, wakeRelay{})
}
