package channels

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/broker/nats/internal/natsstore"
	"github.com/sabir-go/sabir/internal/engine"
)

// The server counts how often it has handed a message out, and nothing distinguishes failed attempts from messages that were
// lost with their consumer. So failed attempts are counted here: a second stream holds one number for each message that has
// failed, under a subject of the group and the message's place. It is made when the first is needed.

// failedBytes bounds that stream. A number that it drops for lack of space is an attempt more than the message had.
const failedBytes = 64 << 20

// failed is the failed attempts of a group.
type failed struct {
	store   *store
	channel string
	group   string

	mu     sync.Mutex
	stream jetstream.Stream // nil until it is needed
}

func (f *failed) subject(sequence uint64) string {
	return f.store.failedSubjects(f.channel) + durable(f.group) + "." + strconv.FormatUint(sequence, 10)
}

// failedStream and failedSubjects cannot be those of another channel, whose name does not begin with a dot.
func (s *store) failedStream(name string) string { return s.prefix + "==failed=" + durable(name) }
func (s *store) failedSubjects(name string) string {
	return s.prefix + ".failed." + durable(name) + "."
}

func (f *failed) open(ctx context.Context) (jetstream.Stream, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stream != nil {
		return f.stream, nil
	}
	of, err := f.store.stream(f.channel)
	if err != nil {
		return nil, err
	}
	stream, err := f.store.ensure(ctx, f.store.failedStream(f.channel), 0, func(c *jetstream.StreamConfig) {
		c.Description, c.Subjects = "failed attempts of the messages of channel "+f.channel, []string{f.store.failedSubjects(f.channel) + ">"}
		c.Storage, c.Discard, c.AllowDirect, c.MaxMsgsPerSubject = jetstream.FileStorage, jetstream.DiscardOld, true, 1
		c.MaxAge, c.MaxBytes, c.Replicas = of.CachedInfo().Config.MaxAge, failedBytes, cmp.Or(f.store.conn.Address.Replicas, c.Replicas, 1)
	})
	if err == nil {
		f.stream = stream
	}
	return stream, err
}

// count notes that so many attempts of a message have failed.
func (f *failed) count(ctx context.Context, d *engine.Delivery) error {
	if err := f.store.conn.Exhausted(); err != nil { // the server would not answer
		return err
	}
	for again := false; ; again = true {
		if _, err := f.open(ctx); err != nil {
			return err
		}
		_, err := f.store.conn.JetStream.Publish(ctx, f.subject(d.Sequence), strconv.AppendInt(nil, int64(d.Attempt), 10))
		if again || !errors.Is(err, jetstream.ErrNoStreamResponse) {
			return err
		}
		f.mu.Lock()
		f.stream = nil // the server has lost it
		f.mu.Unlock()
	}
}

// of returns the number of failed attempts of a message. Where the server does not answer, there are none.
func (f *failed) of(ctx context.Context, sequence uint64) int {
	stream, err := f.open(ctx)
	if err != nil {
		return 0
	}
	msg, err := stream.GetLastMsgForSubject(ctx, f.subject(sequence))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(string(msg.Data))
	return max(0, min(n, 1<<20)) // any program may have written it
}

// notify sets the attempts of those deliveries that are not their messages' first.
func (f *failed) notify(list []*engine.Delivery) {
	var asked sync.WaitGroup
	for _, d := range list {
		if d.Lost == 0 {
			continue
		}
		asked.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), natsstore.AnswerLimit)
			defer cancel()
			n := f.of(ctx, d.Sequence)
			d.Attempt, d.Lost = 1+n, max(0, d.Lost-n)
		})
	}
	asked.Wait()
}
