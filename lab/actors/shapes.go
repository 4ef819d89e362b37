package main

import (
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// handler handles a message in the turn of the process with the number self, and may send others by out.
type handler func(self int, m Message, out outbox)

// outbox sends from within a process, whose it is for the turn.
type outbox interface{ send(to int, m Message) }

// shape describes processes that send to each other, each with a number from 0, and how the work begins and ends.
type shape struct {
	processes int
	messages  int64
	begin     func(tell func(to int, m Message) error) error
	handle    handler
	await     func() (time.Time, faults)
	figures   func() map[string]float64
}

// The shapes, by the names that an order has. Order.Size is the number of messages, Order.Callers that of processes where it matters.
var shapes = map[string]func(o child.Order) shape{
	"from-outside":       fromOutside,
	backlogWork:          backlog,
	"many-to-one":        func(o child.Order) shape { return manyToOne(o.Size, 0) },
	"many-to-one-work":   func(o child.Order) shape { return manyToOne(o.Size, rounds) },
	"one-to-many":        oneToMany,
	"ping-pong":          func(o child.Order) shape { return passing(o.Size, 2, 1, 0, func(self, _ int) int { return 1 - self }) },
	"ring":               func(o child.Order) shape { return ring(o.Size, 0) },
	"ring-work":          func(o child.Order) shape { return ring(o.Size, rounds) },
	"random":             random,
	"sent-while-working": sentWhileWorking,
}

// shapeHere measures a shape, with processes of its own for each measurement.
func shapeHere(n node, o child.Order, inside *problems) (child.Job, bool) {
	of, there := shapes[o.Work]
	return child.Job{Measure: func(time.Duration) (child.Sample, error) {
		s := of(o)
		tell, err := n.pass(s.processes, s.handle)
		if err != nil {
			return child.Sample{}, err
		}
		sample, err := counted(s.messages, inside, func() error { return s.begin(tell) }, s.await)
		if s.figures != nil {
			for key, figure := range s.figures() {
				sample.Figures[key] = figure
			}
		}
		return sample, err
	}}, there
}

// rounds of work take about a microsecond.
const rounds = 600

// work computes for a while: each round needs the result of the one before, so that no processor can do several at once.
func work(v uint64, rounds int) uint64 {
	for range rounds {
		v = v*6364136223846793005 + 1442695040888963407
		v ^= v >> 29
	}
	return v
}

// Where a message has two numbers, the first is that of its sender or token.
const secondBits = 40

func twoNumbers(first, second int) Message {
	return messageAt(uint64(first)<<secondBits | uint64(second))
}

func (m Message) numbers() (first, second int) {
	return int(m.Sequence >> secondBits), int(m.Sequence & (1<<secondBits - 1))
}

// order counts what one process gets from another, and whether it comes in order.
type order struct {
	next            int
	disorder, wrong uint64
	result          uint64
	_               [64]byte
}

func (s *order) take(m Message, number, rounds int) {
	if m != messageAt(m.Sequence) {
		s.wrong++
	}
	if number != s.next {
		s.disorder++
	}
	s.next = number + 1
	s.result += work(m.Sequence, rounds)
}

// awaitTally waits for all that is counted, and sums up what went wrong.
func awaitTally(t *tally, all []order) func() (time.Time, faults) {
	return func() (time.Time, faults) {
		var found faults
		if !settle(t.done, func() uint64 { return uint64(t.got.Load()) }) {
			return time.Now(), faults{Lost: uint64(t.want - t.got.Load())} // the processes may still be writing
		}
		for i := range all {
			found = found.add(faults{Disorder: all[i].disorder, Wrong: all[i].wrong})
		}
		return t.finished, found
	}
}

// fromOutside has a goroutine that is no process send to one.
func fromOutside(o child.Order) shape {
	c := newCounter(uint64(o.Size))
	return shape{
		processes: 1, messages: int64(o.Size),
		begin: func(tell func(int, Message) error) error {
			for i := range uint64(o.Size) {
				if err := tell(0, messageAt(i)); err != nil {
					return err
				}
			}
			return nil
		},
		handle: func(_ int, m Message, _ outbox) { c.add(m) },
		await:  func() (time.Time, faults) { return awaitAll([]*counter{c}) },
	}
}

const backlogWork = "backlog"

// backlogged is the number of messages that wait at once. With as many that come meanwhile there are fewer than Sabir's mailbox holds.
const backlogged = 30_000

// backlog has a goroutine send to a process that stands still until a number of messages wait for it, again and again.
func backlog(o child.Order) shape {
	c := newCounter(uint64(o.Size))
	gates := make([]chan struct{}, (o.Size+backlogged-1)/backlogged)
	for i := range gates {
		gates[i] = make(chan struct{})
	}
	return shape{
		processes: 1, messages: int64(o.Size),
		begin: func(tell func(int, Message) error) error {
			for i := range uint64(o.Size) {
				if i > 0 && i%backlogged == 0 {
					close(gates[i/backlogged-1])
				}
				if err := tell(0, messageAt(i)); err != nil {
					return err
				}
			}
			close(gates[len(gates)-1])
			return nil
		},
		handle: func(_ int, m Message, _ outbox) {
			if m.Sequence%backlogged == 0 {
				<-gates[m.Sequence/backlogged]
			}
			c.add(m)
		},
		await: func() (time.Time, faults) { return awaitAll([]*counter{c}) },
	}
}

const senders = 100

// manyToOne has a hundred processes send to one.
func manyToOne(messages, rounds int) shape {
	each := messages / senders
	from, all := make([]order, senders+1), newTally(senders)
	return shape{
		processes: senders + 1, messages: int64(each * senders),
		begin: toldTo(1, senders, 1),
		handle: func(self int, m Message, out outbox) {
			if self > 0 {
				for i := range each {
					out.send(0, twoNumbers(self, i))
				}
				return
			}
			sender, number := m.numbers()
			if from[sender].take(m, number, rounds); number == each-1 {
				all.add()
			}
		},
		await: awaitTally(all, from),
	}
}

const receivers = 1000

// oneToMany has one process send to a thousand in turn.
func oneToMany(o child.Order) shape {
	each := o.Size / receivers
	of, all := make([]order, receivers+1), newTally(receivers)
	return shape{
		processes: receivers + 1, messages: int64(each * receivers),
		begin: toldTo(0, 1, 1),
		handle: func(self int, m Message, out outbox) {
			if self == 0 {
				for i := range each {
					for to := range receivers {
						out.send(to+1, twoNumbers(0, i))
					}
				}
				return
			}
			_, number := m.numbers()
			if of[self].take(m, number, 0); number == each-1 {
				all.add()
			}
		},
		await: awaitTally(all, of),
	}
}

// toldTo begins with a message from outside to each of some processes.
func toldTo(first, processes, each int) func(tell func(int, Message) error) error {
	return func(tell func(int, Message) error) error {
		for i := range processes * each {
			if err := tell(first+i%processes, twoNumbers(i, 0)); err != nil {
				return err
			}
		}
		return nil
	}
}

// passing has tokens that go from process to process, each so often that all together are the messages.
func passing(messages, processes, tokens, rounds int, next func(self, hop int) int) shape {
	hops := messages / tokens
	of, all := make([]order, tokens), newTally(tokens)
	return shape{
		processes: processes, messages: int64(hops * tokens),
		begin: func(tell func(int, Message) error) error {
			for token := range tokens {
				if err := tell(token*(processes/tokens), twoNumbers(token, 0)); err != nil {
					return err
				}
			}
			return nil
		},
		handle: func(self int, m Message, out outbox) {
			token, hop := m.numbers()
			if of[token].take(m, hop, rounds); hop == hops-1 {
				all.add()
				return
			}
			out.send(next(self, hop), twoNumbers(token, hop+1))
		},
		await: awaitTally(all, of),
	}
}

// ring is a thousand processes of which each sends to the next, with a hundred tokens under way.
func ring(messages, rounds int) shape {
	const processes, tokens = 1000, 100
	return passing(messages, processes, tokens, rounds, func(self, _ int) int { return (self + 1) % processes })
}

// random is many processes of which each sends to any other, with a thousand tokens under way.
func random(o child.Order) shape {
	const tokens = 1000
	return passing(o.Size, o.Callers, tokens, 0, func(self, hop int) int { return int(work(uint64(self)<<32|uint64(hop), 1) % uint64(o.Callers)) })
}

// sentWhileWorking has a process send twice and then go on working for a while. The figure "delay" is how long the second message takes.
func sentWhileWorking(o child.Order) shape {
	const working = 20 * time.Millisecond
	all, delays := newTally(o.Size), child.NewHistogram()
	var sent time.Time // written before the message is sent, and read by the process that gets it
	return shape{
		processes: 2, messages: int64(o.Size),
		begin: toldTo(0, 1, 1),
		handle: func(self int, m Message, out outbox) {
			number, part := m.numbers()
			switch {
			case self == 0:
				out.send(1, twoNumbers(number, 1))
				sent = time.Now()
				out.send(1, twoNumbers(number, 2))
				for time.Since(sent) < working {
					work(1, rounds)
				}
			case part == 2:
				delays.Record(time.Since(sent))
				all.add()
				if number+1 < o.Size {
					out.send(0, twoNumbers(number+1, 0))
				}
			}
		},
		await: awaitTally(all, nil),
		figures: func() map[string]float64 {
			return map[string]float64{"delay": float64(delays.Quantile(.5)), "delay99": float64(delays.Quantile(.99))}
		},
	}
}
