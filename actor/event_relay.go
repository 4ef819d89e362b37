package actor

import "iter"

// relay is a process that delivers the values of a topic to some of its subscribers on this node, or to the mirror on another
// node. It does one thing after another in the order in which they happened to the hub, which is why each subscriber gets each
// value once and in order. After relayTurn deliveries it lets others run, so that subscribers handle what they got while it is
// in the processor's cache, and envelopes are reused.
type relay struct {
	hub *hub
	pid PID

	// The hub's mu guards these.
	pending topicValues
	changes []change
	awake   bool

	// What it has taken and does now.
	values  topicValues
	todo    []change
	at, end int  // of the values that are being delivered
	next    int  // index of the subscriber that is next
	mirror  *PID // of another node; subs is not used then

	ids  []uint64 // ids of subs, in one slice to iterate over
	subs []*subscription

	ready readyList
}

// change is something that happens to a relay between two values: a subscriber joins or leaves, or the topic ends.
type change struct {
	at     int // index in pending before which it happens
	sub    *subscription
	kept   topicValues // nil for none
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
func (r *relay) turn(p *Process) error {
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
			r.todo[0] = change{}
			r.todo = r.todo[1:]
		case r.at < r.values.len():
			r.end = r.values.len()
			if len(r.todo) > 0 {
				r.end = r.todo[0].at
			}
			r.end = min(r.end, r.at+r.values.run())
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
func (r *relay) take() bool {
	h := r.hub
	r.values.clear()
	h.mu.Lock()
	defer h.mu.Unlock()
	r.values, r.pending = r.pending, r.values
	r.todo, r.changes = r.changes, nil
	r.at, r.end = 0, 0
	if h.spaceFreed != nil {
		close(h.spaceFreed)
		h.spaceFreed = nil
	}
	r.awake = r.values.len() > 0 || len(r.todo) > 0
	return r.awake
}

// handOut delivers the values to as many subscribers as left envelopes reach, and returns how many envelopes it used.
func (r *relay) handOut(p *Process, left int) int {
	first := r.at
	if r.mirror != nil {
		r.at = r.end
		return r.sendRemote(p, r.values, first, r.end)
	}
	each := r.envelopes(r.end - first)
	from := r.next
	r.next = min(len(r.ids), from+max(left/each, 1))
	r.give(p.system, r.ids[from:r.next], r.values, first, r.end)
	taken := (r.next - from) * each
	if r.next == len(r.ids) {
		r.at, r.next = r.end, 0
	}
	return max(taken, 1)
}

// sendRemote sends values to the mirror on another node. Its end comes to the topic keeper, as a Down.
func (r *relay) sendRemote(p *Process, values topicValues, first, end int) int {
	p.system.push(*r.mirror, values.sendRun(r.hub.producer, first, end), p)
	return end - first
}

// envelopes returns how many envelopes n values take: runs have space for many and would mostly be empty with few.
func (r *relay) envelopes(n int) int {
	if n*4 >= r.values.run() {
		return 1
	}
	return n
}

// give delivers values to each process, at most a run of them.
func (r *relay) give(s *System, to []uint64, values topicValues, first, end int) {
	together := end-first > 1 && r.envelopes(end-first) == 1
	values.give(s, to, &r.ready, r.hub.producer, first, end, together)
}

// change adds or removes a subscriber, and returns how many envelopes that took.
func (r *relay) change(p *Process, c *change) int {
	switch {
	case r.mirror != nil:
		sent := 0
		for first, end := range r.runs(c.kept) {
			sent += r.sendRemote(p, c.kept, first, end)
		}
		return 1 + sent
	case !c.leaves:
		c.sub.at = len(r.ids)
		r.ids = append(r.ids, c.sub.pid.id)
		r.subs = append(r.subs, c.sub)
		envelopes := 1
		for first, end := range r.runs(c.kept) {
			r.give(p.system, r.ids[c.sub.at:], c.kept, first, end)
			envelopes += r.envelopes(end - first)
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

// runs yields the beginning and the end of each part that fits into an envelope; nothing for nil.
func (r *relay) runs(values topicValues) iter.Seq2[int, int] {
	return func(yield func(first, end int) bool) {
		if values == nil {
			return
		}
		for first := 0; first < values.len(); first += values.run() {
			if !yield(first, min(first+values.run(), values.len())) {
				return
			}
		}
	}
}

// finish notifies the subscribers of the end of the topic. The relay ends when all are notified.
func (r *relay) finish(p *Process, reason error) error {
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
