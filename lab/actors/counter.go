package main

import (
	"sync/atomic"
	"time"
)

// counter counts the messages of a receiving process, and checks each one's number and value. One goroutine adds at a time;
// any goroutine may call the other methods.
type counter struct {
	want  uint64
	count uint64
	next  uint64 // the number that a message has if none is lost, doubled or overtaken

	seen     atomic.Uint64 // count, published once in publishEvery messages
	disorder atomic.Uint64
	wrong    atomic.Uint64
	extra    atomic.Uint64
	finished time.Time // set before done is closed
	done     chan struct{}
}

// publishEvery is the number of messages between two stores of a counter's progress: an atomic store for each message would
// show in the figures.
const publishEvery = 16

func newCounter(want uint64) *counter { return &counter{want: want, done: make(chan struct{})} }

// add counts one message.
func (c *counter) add(m Message) {
	if m.Sequence != c.next {
		c.disorder.Add(1)
	}
	if m != messageAt(m.Sequence) {
		c.wrong.Add(1)
	}
	c.next = m.Sequence + 1
	c.count++
	if c.count%publishEvery == 0 {
		c.seen.Store(c.count)
	}
	if c.count >= c.want {
		c.full()
	}
}

func (c *counter) full() {
	if c.count > c.want {
		c.extra.Add(1)
		return
	}
	c.seen.Store(c.count)
	c.finished = time.Now()
	close(c.done)
}

// lost returns the number of messages that have not come, to within publishEvery-1.
func (c *counter) lost() uint64 { return c.want - min(c.seen.Load(), c.want) }

// tally counts what many processes do once each: that they have started, or that a publication has reached them.
type tally struct {
	want     int64
	got      atomic.Int64
	wrong    atomic.Int64 // what is not counted: a second time, or another message
	finished time.Time    // set before done is closed
	done     chan struct{}
}

func newTally(want int) *tally { return &tally{want: int64(want), done: make(chan struct{})} }

// add counts one; more than wanted shows in got.
func (t *tally) add() {
	if t.got.Add(1) == t.want {
		t.finished = time.Now()
		close(t.done)
	}
}

// subscriber is the state of a process that subscribes: it takes one publication and no more.
type subscriber struct {
	deliveries *tally
	count      int
}

// take counts a publication, if it is the one and the first.
func (s *subscriber) take(m Message) {
	s.count++
	if s.count > 1 || m != published {
		s.deliveries.wrong.Add(1)
		return
	}
	s.deliveries.add()
}

// published is the one publication.
var published = messageAt(7)
