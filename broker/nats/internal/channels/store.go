package channels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/broker/nats/internal/natsstore"
	"github.com/sabir-go/sabir/internal/engine"
)

func init() { engine.Register("nats", driver{}) }

type driver struct{}

const (
	dedupWindow  = 2 * time.Minute // how long the server remembers IDs
	maxPublished = 4096            // messages on their way to the server
	maxOut       = 65_536          // messages of a group that are handed out or delayed
	headHeader   = "Sabir-Head"
)

// store is the channels of one prefix.
type store struct {
	conn   *natsstore.Connection
	prefix string
	log    *slog.Logger

	refused atomic.Pointer[refusal] // nil after a message was taken

	remaking sync.Mutex // held by who looks for a channel that the server may have lost

	mu      sync.Mutex
	groups  []*group
	streams map[string]jetstream.Stream
	specs   map[string]engine.Spec
}

func (driver) Open(ctx context.Context, at *url.URL, config engine.Config) (engine.Store, error) {
	s := &store{log: config.Log, streams: make(map[string]jetstream.Stream), specs: make(map[string]engine.Spec)}
	if s.log == nil {
		s.log = slog.Default()
	}
	var err error
	s.conn, err = natsstore.Open(ctx, at, natsstore.Config{Name: config.Name, TLS: config.TLS, Secret: config.Secret, Log: config.Log, Restored: s.renew},
		jetstream.WithPublishAsyncMaxPending(maxPublished), jetstream.WithPublishAsyncTimeout(natsstore.AnswerLimit))
	if natsstore.Unreachable(err) {
		err = fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	if err != nil {
		return nil, fmt.Errorf("channel: %w", err)
	}
	s.prefix = s.conn.Address.Prefix
	return s, nil
}

func (s *store) Features() engine.Features {
	return engine.Features{Durable: true, Dedup: true, Sequences: true, Lease: true, KeepAge: true, KeepBytes: true, KeepMessages: true}
}

// streamName and subject are those of a channel. Streams cannot have dots in their names, and channels have no '='.
func (s *store) streamName(name string) string { return s.prefix + "=" + durable(name) }
func (s *store) subject(name string) string    { return s.prefix + ".channel." + name }
func durable(name string) string               { return strings.ReplaceAll(name, ".", "=") }

func (s *store) Declare(ctx context.Context, spec engine.Spec) error { return s.declare(ctx, spec, 0) }

// declare is Declare for a channel whose messages, where it is made, have places from first on; 0 for 1.
func (s *store) declare(ctx context.Context, spec engine.Spec, first uint64) error {
	orNone := func(n int64) int64 {
		if n == 0 {
			return -1
		}
		return n
	}
	stream, err := s.ensure(ctx, s.streamName(spec.Name), first, func(c *jetstream.StreamConfig) {
		c.Description, c.Subjects = "channel "+spec.Name, []string{s.subject(spec.Name)}
		c.Storage, c.Retention, c.Discard = jetstream.FileStorage, jetstream.LimitsPolicy, jetstream.DiscardOld
		c.MaxAge, c.MaxBytes, c.MaxMsgs, c.MaxMsgSize, c.Duplicates = spec.MaxAge, orNone(spec.MaxBytes), orNone(spec.MaxCount), -1, dedupWindow
		if spec.MaxMessage > 0 {
			c.MaxMsgSize = int32(min(spec.MaxMessage+engine.MaxHead, 1<<30))
		}
		if spec.MaxAge > 0 {
			c.Duplicates = min(dedupWindow, spec.MaxAge)
		}
		c.Replicas = cmp.Or(s.conn.Address.Replicas, c.Replicas, 1) // another node may know better, and what it made is left so
	})
	if err != nil {
		return failure(err)
	}
	config := stream.CachedInfo().Config
	if config.Replicas == 1 && s.conn.ConnectedClusterName() != "" {
		s.log.Warn("channels: one server of the cluster keeps this channel, which is not there without it; name replicas=3 in the address", "channel", spec.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[spec.Name] = stream
	s.specs[spec.Name] = spec
	return nil
}

// ensure makes a stream, or changes one that is set up in another way than set does. One that needs no change is not written: the server would write its
// description again at each start of a node, on a disk that may be full, and a power cut at that moment leaves a stream that cannot be read.
func (s *store) ensure(ctx context.Context, name string, first uint64, set func(*jetstream.StreamConfig)) (jetstream.Stream, error) {
	stream, err := s.conn.JetStream.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		config := jetstream.StreamConfig{Name: name, FirstSeq: first}
		set(&config)
		return s.conn.JetStream.CreateOrUpdateStream(ctx, config) // another node may have made it meanwhile
	}
	if err != nil {
		return nil, err
	}
	there := stream.CachedInfo().Config
	config := there
	set(&config)
	if reflect.DeepEqual(config, there) {
		return stream, nil
	}
	return s.conn.JetStream.UpdateStream(ctx, config)
}

// remake makes a channel that was declared anew where the server has lost it, as one has that starts without its files. The places of its
// messages are larger than those of before, which may be in the counts of failed attempts, in dead letters and in programs.
func (s *store) remake(ctx context.Context, name string) error {
	if !s.remaking.TryLock() {
		return nil // somebody else looks; who still finds no channel comes again
	}
	defer s.remaking.Unlock()
	_, err := s.conn.JetStream.Stream(ctx, s.streamName(name))
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return failure(err)
	}
	s.mu.Lock()
	spec, declared := s.specs[name]
	s.mu.Unlock()
	if !declared {
		return failure(err)
	}
	if err := s.declare(ctx, spec, uint64(time.Now().UnixMicro())); err != nil {
		return err
	}
	s.log.Warn("channels: the broker has lost this channel and what it kept; it was made anew", "channel", name, "broker", s.conn.Address.Name)
	return nil
}

func (s *store) Publish(ctx context.Context, name string, batch []*engine.Outgoing) {
	if full := s.full(name, batch); full != nil {
		for _, m := range batch {
			m.Err = full
		}
		return
	}
	ctx, done := s.conn.WhileSpace(ctx)
	defer done()
	answers := make([]jetstream.PubAckFuture, len(batch))
	stream := s.streamName(name)
	for i, m := range batch {
		head, err := engine.AppendHead(nil, &m.Head)
		if err == nil {
			msg := &nats.Msg{Subject: s.subject(name), Data: m.Data,
				Header: nats.Header{jetstream.MsgIDHeader: {m.ID}, jetstream.ExpectedStreamHeader: {stream}, headHeader: {string(head)}}}
			setAttributes(msg.Header, m.Attributes)
			answers[i], err = s.conn.JetStream.PublishMsgAsync(msg, jetstream.WithStallWait(natsstore.AnswerLimit), jetstream.WithRetryAttempts(0))
		}
		m.Err = failure(err)
		if gone := s.conn.Disconnected(); err != nil && gone != nil {
			m.Err = fmt.Errorf("%w: %w", engine.ErrUnreachable, gone)
		}
	}
	lost := false
	for i, m := range batch {
		if m.Err == nil {
			s.await(ctx, m, answers[i])
		}
		lost = lost || errors.Is(m.Err, jetstream.ErrNoStreamResponse)
	}
	if lost {
		_ = s.remake(ctx, name) // whoever publishes has an error already, and tries again
	}
}

// await fills in the answer to a message.
func (s *store) await(ctx context.Context, m *engine.Outgoing, answer jetstream.PubAckFuture) {
	var ack *jetstream.PubAck
	var err error
	select {
	case ack = <-answer.Ok():
	case err = <-answer.Err():
	case <-ctx.Done():
		select { // what has come by now counts
		case ack = <-answer.Ok():
		case err = <-answer.Err():
		default:
			m.Err = fmt.Errorf("%w: it did not answer: %w", engine.ErrUnreachable, ctx.Err())
			if full := s.conn.Full(); full != nil {
				m.Err = fmt.Errorf("%w: %w", engine.ErrFull, full)
			}
			return
		}
	}
	if m.Err = failure(err); err == nil {
		m.Sequence, m.Duplicate = ack.Sequence, ack.Duplicate
		if s.refused.Load() != nil {
			s.refused.Store(nil)
		}
	} else if errors.Is(m.Err, engine.ErrFull) {
		s.refused.Store(&refusal{size: len(m.Data), at: time.Now(), err: m.Err})
	}
}

// refusal is the last message for which the server had no space. There is no question that the server would answer as it would a
// message, so Check goes by this.
type refusal struct {
	size int
	at   time.Time
	err  error
}

// refusalFor is the time for which a refusal by a limit that the server does not tell counts.
const refusalFor = 5 * time.Second

// full returns an ErrFull where the disk of an embedded server has no space for messages of the channel. Those of channels by which
// consumers go on, which have few messages, may use what is kept free of the others.
func (s *store) full(name string, batch []*engine.Outgoing) error {
	s.mu.Lock()
	letters := s.specs[name].DeadLetters
	s.mu.Unlock()
	size := 0
	for _, m := range batch {
		size += len(m.Data)
	}
	err := s.conn.Exhausted()
	if !letters {
		err = s.conn.Claim(size)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", engine.ErrFull, err)
	}
	return nil
}

// Check asks the servers for the channels that were declared: each needs a leader.
func (s *store) Check(ctx context.Context) error {
	if full := s.conn.Full(); full != nil {
		return fmt.Errorf("%w: %w", engine.ErrFull, full)
	}
	if gone := s.conn.Disconnected(); gone != nil {
		return fmt.Errorf("%w: %w", engine.ErrUnreachable, gone)
	}
	account, err := s.conn.JetStream.AccountInfo(ctx)
	if err != nil {
		return failure(err)
	}
	if r := s.refused.Load(); r != nil {
		limit := account.Limits.MaxStore
		if limit > 0 && int64(account.Store)+int64(r.size) > limit || time.Since(r.at) < refusalFor {
			return r.err
		}
	}
	s.mu.Lock()
	streams := slices.Collect(maps.Keys(s.streams))
	s.mu.Unlock()
	for _, name := range streams {
		_, err := s.conn.JetStream.Stream(ctx, s.streamName(name))
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			err = s.remake(ctx, name) // a node that is not ready may get nothing to do, and would not find out
		}
		if err != nil {
			return fmt.Errorf("channel %s: %w", name, failure(err))
		}
	}
	return nil
}

// stream finds the stream of a channel that was declared.
func (s *store) stream(name string) (jetstream.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stream := s.streams[name]; stream != nil {
		return stream, nil
	}
	return nil, fmt.Errorf("channel %s was not declared", name)
}

func (s *store) Stats(ctx context.Context, name string) (engine.Stats, error) {
	stream, err := s.stream(name)
	if err != nil {
		return engine.Stats{}, err
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return engine.Stats{}, failure(err)
	}
	stats := engine.Stats{Messages: info.State.Msgs, Bytes: info.State.Bytes, Last: info.State.LastSeq}
	list := stream.ListConsumers(ctx)
	for c := range list.Info() {
		stats.Groups = append(stats.Groups, engine.GroupStats{Name: strings.ReplaceAll(c.Name, "=", "."),
			Waiting: c.NumPending, InFlight: uint64(c.NumAckPending), Retried: uint64(c.NumRedelivered)})
	}
	slices.SortFunc(stats.Groups, func(a, b engine.GroupStats) int { return strings.Compare(a.Name, b.Name) })
	return stats, failure(list.Err())
}

func (s *store) DeadLetters(ctx context.Context, name string, limit int) (list []engine.DeadLetter, err error) {
	stream, err := s.stream(name)
	if err != nil {
		return nil, err
	}
	next := uint64(1)
	for len(list) < limit {
		raw, err := stream.GetMsg(ctx, next, jetstream.WithGetMsgSubject(s.subject(name)))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return list, failure(err)
		}
		next = raw.Sequence + 1
		dead := engine.DeadLetter{Key: strconv.FormatUint(raw.Sequence, 10)}
		dead.Message, _ = message(raw.Header, raw.Data) // one that cannot be read is listed without a head
		list = append(list, dead)
	}
	return list, nil
}

func (s *store) Remove(ctx context.Context, name string, keys ...string) (removed int, err error) {
	stream, err := s.stream(name)
	if err != nil {
		return 0, err
	}
	for _, key := range keys {
		sequence, err := strconv.ParseUint(key, 10, 64)
		if err != nil {
			continue // nothing has such a key
		}
		err = stream.DeleteMsg(ctx, sequence)
		if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
			if _, gone := stream.GetMsg(ctx, sequence); errors.Is(gone, jetstream.ErrMsgNotFound) {
				continue
			}
		}
		if err != nil {
			return removed, failure(err)
		}
		removed++
	}
	return removed, nil
}

func (s *store) Close() error {
	s.mu.Lock()
	groups := s.groups
	s.groups = nil
	s.mu.Unlock()
	for _, g := range groups {
		_ = g.Close() // it never fails
	}
	if s.conn.IsConnected() {
		_ = s.conn.FlushTimeout(time.Second) // acknowledgements on their way; without them messages come again
	}
	s.conn.Close()
	return nil
}

// renew has all groups ask again: the server that knew of their requests is gone.
func (s *store) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.groups {
		g.renew()
	}
}
