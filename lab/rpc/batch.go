package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/sabir-go/sabir/lab/message"
)

// The raw batched echo says what a carrier's library itself reaches when the cost of a write is shared as a link shares it:
// 25 messages of 677 bytes go out as one write or one message and come back as one of 25 of 611 bytes. Nobody waits for
// a single message, and there is no codec.

// batchMessages is how many messages share a write, with 25 callers or more; with fewer, as many as there are callers.
const batchMessages = 25

// batching is a client's side in that mode. It sets up the way back, on which deliver is called with one reply after
// another, and returns what sends a request of some messages. It is called once.
type batching func(messages int, deliver func(reply []byte)) (send func(request []byte) error, err error)

// batchMark is where a batch has its number, in requests and replies.
const batchMark = 8

// answerBatch writes the reply to a request into a buffer and returns it.
func answerBatch(buffer, request []byte) []byte {
	size := len(request) / message.RequestBytes * message.ReplyBytes
	if cap(buffer) < size {
		buffer = make([]byte, size)
	}
	buffer = buffer[:size]
	copy(buffer, request[:batchMark])
	return buffer
}

// batches are sent and come back in one order. One goroutine runs it, another delivers.
type batches struct {
	send     func([]byte) error
	messages int // in each batch
	request  []byte
	sent     uint64
	free     chan struct{}  // one for each batch that may go out
	starts   []atomic.Int64 // when the batches under way were sent, by their number; since started

	started   time.Time
	come      atomic.Uint64
	histogram *hdrhistogram.Histogram
	problem   atomic.Pointer[error]
}

func (l load) newBatches(c *client) (*batches, error) {
	messages := min(l.Callers, batchMessages)
	underWay := l.Callers / messages
	b := &batches{messages: messages, request: make([]byte, messages*message.RequestBytes), started: time.Now(),
		free: make(chan struct{}, underWay), starts: make([]atomic.Int64, underWay)}
	for range underWay {
		b.free <- struct{}{}
	}
	var err error
	b.send, err = c.batch(messages, b.deliver)
	return b, err
}

func (b *batches) deliver(reply []byte) {
	now := time.Since(b.started)
	number := b.come.Load()
	if len(reply) != b.messages*message.ReplyBytes {
		b.fail(fmt.Errorf("a reply of %d bytes, want %d", len(reply), b.messages*message.ReplyBytes))
	} else if got := binary.LittleEndian.Uint64(reply); got != number {
		b.fail(fmt.Errorf("the reply to batch %d, want that to %d", got, number))
	}
	took := min(now-time.Duration(b.starts[number%uint64(len(b.starts))].Load()), maxLatency)
	if b.histogram != nil {
		b.histogram.RecordValue(max(int64(took/latencyUnit), 1))
	}
	b.come.Add(1)
	select {
	case b.free <- struct{}{}:
	default:
		b.fail(errors.New("more replies than requests"))
	}
}

func (b *batches) fail(err error) { b.problem.CompareAndSwap(nil, &err) }

// run sends for some time and returns when all replies are here.
func (b *batches) run(duration time.Duration) error {
	end := time.Now().Add(duration)
	for time.Now().Before(end) && b.problem.Load() == nil {
		<-b.free
		binary.LittleEndian.PutUint64(b.request, b.sent)
		b.starts[b.sent%uint64(len(b.starts))].Store(int64(time.Since(b.started)))
		if err := b.send(b.request); err != nil {
			return err
		}
		b.sent++
	}
	for range cap(b.free) {
		<-b.free
	}
	for range cap(b.free) {
		b.free <- struct{}{}
	}
	if problem := b.problem.Load(); problem != nil {
		return *problem
	}
	return nil
}

func (l load) prepareBatches(c *client) (measure func() (outcome, error), err error) {
	b, err := l.newBatches(c)
	if err != nil {
		return nil, err
	}
	if err := b.run(l.Warmup); err != nil {
		return nil, fmt.Errorf("warm-up: %w", err)
	}
	return func() (outcome, error) {
		before, err := usageNow()
		if err != nil {
			return outcome{}, err
		}
		come := b.come.Load()
		b.histogram = hdrhistogram.New(1, int64(maxLatency/latencyUnit), 3)
		started := time.Now()
		problem := b.run(l.Duration)
		elapsed := time.Since(started)
		after, err := usageNow()
		if err != nil {
			return outcome{}, err
		}
		result := outcome{Elapsed: elapsed, Client: after.since(before)}
		result.setLatencies(b.histogram)
		failed := int64(0)
		if problem != nil {
			failed = 1
		}
		result.add(int64(b.come.Load()-come)*int64(b.messages), failed, problem)
		return result, nil
	}, nil
}
