package actor

// relay is a process that hands out what an event publishes to some of its subscribers on this node, or to the mirror on another
// node that does so there. One relay does one thing after another, in the order in which they happened to the hub: that is
// why each subscriber gets each value once and in order. After some deliveries others have their turn, so that those who got
// something handle it while it is in the processor's cache, and letters are used again.
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
	at, end int  // values[at:end] are being handed out
	next    int  // to this subscriber
	mirror  *PID // of another node; subs is not used then

	ids  []uint64 // of subs, in one piece to go through
	subs []*subscription

	ready chain
	slab  []batch[T]
}

// change is something that happens to a relay between two values.
type change[T any] struct {
	at     int // values of its batch that come before
	sub    *subscription
	kept   []T
	leaves bool
	over   error // the event's end
}

// turn is what wakes a relay.
type turn struct{}

const (
	relayTurn   = 1024 // letters that a relay hands out before it is another's turn
	readyAtOnce = 256  // processes that are given to the workers together
	letterSlab  = 64   // letters made at once
)

// relayProcess is the process of a relay, whatever its type of values.
type relayProcess struct{ relaying }

type relaying interface{ turn(p *Process) error }

var relayBehavior = unlisted(Define("event-relay", (*relayProcess).Init, On((*relayProcess).Turn)))

func (r *relayProcess) Init(p *Process, of relaying) error { r.relaying = of; return nil }
func (r *relayProcess) Turn(p *Process, _ turn) error      { return r.turn(p) }

// turn does some of what there is to do.
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
	return Send(p, p.pid, turn{})
}

// take takes what was published, and tells whether there is anything.
func (r *relay[T]) take() bool {
	h := r.hub
	clear(r.values)
	h.mu.Lock()
	defer h.mu.Unlock()
	r.values, r.pending = r.pending, r.values[:0]
	r.todo, r.changes = r.changes, nil
	r.at, r.end = 0, 0
	if h.room != nil {
		close(h.room)
		h.room = nil
	}
	r.awake = len(r.values) > 0 || len(r.todo) > 0
	return r.awake
}

// handOut gives the values to subscribers, as many as may be had for left letters, and returns how many letters it took.
func (r *relay[T]) handOut(p *Process, left int) int {
	values := r.values[r.at:r.end]
	if r.mirror != nil {
		r.at = r.end
		return r.sendAway(p, values)
	}
	each := r.letters(len(values))
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

// sendAway gives values to the mirror on another node. That node's end comes as a Down to who looks after mirrors.
func (r *relay[T]) sendAway(p *Process, values []T) int {
	run := r.run(values)
	p.system.push(*r.mirror, &run.head, p)
	return len(values)
}

// letters is how many letters bring n values: runs have room for many, and would mostly be empty with few.
func (r *relay[T]) letters(n int) int {
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
			r.slab = make([]batch[T], letterSlab)
		}
		b, r.slab = &r.slab[0], r.slab[1:]
		b.of, b.head.body, b.head.lane = m, b, PriorityNormal
		b.items = b.one[:0]
	}
	b.items = append(b.items, value)
	b.head.from, b.head.count = r.hub.producer, 1
	return b
}

// give gives values to one process, at most of.length of them.
func (r *relay[T]) give(s *System, id uint64, values []T) {
	if r.letters(len(values)) == 1 && len(values) > 1 {
		r.ready.put(s, id, &r.run(values).head)
		return
	}
	for _, value := range values {
		r.ready.put(s, id, &r.single(value).head)
	}
}

// change lets a subscriber join or leave, and returns how many letters that took.
func (r *relay[T]) change(p *Process, c *change[T]) int {
	switch {
	case r.mirror != nil:
		for kept := c.kept; len(kept) > 0; {
			n := min(len(kept), r.hub.of.length)
			r.sendAway(p, kept[:n])
			kept = kept[n:]
		}
		return 1 + len(c.kept)
	case !c.leaves:
		c.sub.at = len(r.ids)
		r.ids = append(r.ids, c.sub.pid.id)
		r.subs = append(r.subs, c.sub)
		letters := 1
		for kept := c.kept; len(kept) > 0; {
			n := min(len(kept), r.hub.of.length)
			r.give(p.system, c.sub.pid.id, kept[:n])
			letters += r.letters(n)
			kept = kept[n:]
		}
		return letters
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

// finish tells the subscribers that the event is over. When all know, the relay ends.
func (r *relay[T]) finish(p *Process, reason error) error {
	s := p.system
	if r.mirror != nil {
		p.box.flush()
		Send(p, *r.mirror, overOf(reason))
		return ErrNormal
	}
	upto := min(r.next+relayTurn, len(r.subs))
	for _, sub := range r.subs[r.next:upto] {
		r.ready.tell(s, sub, sub.over(r.hub.producer, reason))
	}
	r.ready.flush(s)
	if r.next = upto; r.next == len(r.subs) {
		return ErrNormal
	}
	p.tired = true
	return Send(p, p.pid, turn{})
}
