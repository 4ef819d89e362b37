package work

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/message"
)

// The raw batched echo says what a carrier's library itself reaches when the cost of a write is shared as a link shares it:
// 25 messages of 677 bytes go out as one write or one message and come back as one of 25 of 611 bytes. Nobody waits for
// a single message, and there is no codec.

// BatchMessages is the number of messages that share a write, with 25 callers or more; with fewer, it is the number of callers.
const BatchMessages = 25

// Batching is a client's side of it. It sets up the way back, on which deliver is called with one reply after another, and
// returns what sends a request of some messages. It is called once.
type Batching func(messages int, deliver func(reply []byte)) (send func(request []byte) error, err error)

// batchMark is the length of the number that stands first in a batch, in requests and replies.
const batchMark = 8

// AnswerBatch writes the reply to a request into a buffer and returns it.
func AnswerBatch(buffer, request []byte) []byte {
	size := len(request) / message.RequestBytes * message.ReplyBytes
	if cap(buffer) < size {
		buffer = make([]byte, size)
	}
	buffer = buffer[:size]
	copy(buffer, request[:batchMark])
	return buffer
}

// batches are sent and come back in one order. One goroutine sends, another delivers.
type batches struct {
	send     func([]byte) error
	messages int // in each batch
	request  []byte
	sent     uint64
	free     chan struct{}  // one for each batch that may go out
	starts   []atomic.Int64 // when the batches under way were sent, by their number; since started

	started   time.Time
	come      atomic.Uint64
	latencies atomic.Pointer[child.Histogram]
	problem   atomic.Pointer[error]
}

func newBatches(c *Client, callers int) (*batches, error) {
	messages := min(callers, BatchMessages)
	underWay := callers / messages
	b := &batches{messages: messages, request: make([]byte, messages*message.RequestBytes), started: time.Now(),
		free: make(chan struct{}, underWay), starts: make([]atomic.Int64, underWay)}
	b.latencies.Store(child.NewHistogram())
	for range underWay {
		b.free <- struct{}{}
	}
	var err error
	b.send, err = c.Batch(messages, b.deliver)
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
	b.latencies.Load().Record(now - time.Duration(b.starts[number%uint64(len(b.starts))].Load()))
	b.come.Add(1)
	select {
	case b.free <- struct{}{}:
	default:
		b.fail(errors.New("more replies than requests"))
	}
}

func (b *batches) fail(err error) { b.problem.CompareAndSwap(nil, &err) }

// run sends for some time, at least one batch, and returns when all replies are here.
func (b *batches) run(d time.Duration) error {
	end := time.Now().Add(d)
	for more := true; more && b.problem.Load() == nil; more = time.Now().Before(end) {
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

// measure counts messages; a latency is that of a whole batch.
func (b *batches) measure(d time.Duration) (child.Sample, error) {
	before, err := child.CPU()
	if err != nil {
		return child.Sample{}, err
	}
	come := b.come.Load()
	b.latencies.Store(child.NewHistogram())
	started := time.Now()
	problem := b.run(d)
	s := child.Sample{Elapsed: time.Since(started), Operations: int64(b.come.Load()-come) * int64(b.messages)}
	after, err := child.CPU()
	if err != nil {
		return child.Sample{}, err
	}
	s.CPU, s.Latencies = after-before, b.latencies.Load().Latencies()
	if problem != nil {
		s.Wrong, s.Problem = 1, problem.Error()
	}
	return s, nil
}
