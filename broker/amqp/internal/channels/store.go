package channels

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/sabir-go/sabir/internal/amqp"
	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/transport"
)

func init() {
	engine.Register("amqp", driver{})
	engine.Register("amqps", driver{})
}

type driver struct{}

const (
	headHeader      = "Sabir-Head"
	attemptHeader   = "Sabir-Attempts" // how often a message was handed out before it waited
	segment         = 64 << 20         // bytes of a log's files
	maxDeadMessages = 100_000          // that are looked through for those to remove
)

type store struct {
	address *amqp.Address
	prefix  string
	name    string
	log     *slog.Logger

	ended          context.Context
	end            context.CancelFunc
	reconnectEnded chan struct{} // closed when keep has ended
	current        atomic.Pointer[session]
	failed         backoff.LastFailure // to connect again

	mu     sync.Mutex
	specs  map[string]engine.Spec
	groups []*group
}

func (driver) Open(ctx context.Context, at *url.URL, config engine.Config) (engine.Store, error) {
	s := &store{name: config.Name, log: config.Log, reconnectEnded: make(chan struct{}), specs: make(map[string]engine.Spec)}
	if s.log == nil {
		s.log = slog.Default()
	}
	address, err := amqp.Parse(at, transport.Config{TLS: config.TLS, DialTimeout: answerLimit})
	if err != nil {
		return nil, fmt.Errorf("channel: %w", err)
	}
	s.address, s.prefix = address, address.Prefix
	first, err := dial(ctx, s.address, s.name)
	if err != nil {
		return nil, fmt.Errorf("channel: %s: %w", s.address.Name, err)
	}
	s.ended, s.end = context.WithCancel(context.Background())
	s.current.Store(first)
	go s.reconnect()
	return s, nil
}

func (s *store) Features() engine.Features {
	return engine.Features{Durable: true, KeepAge: true, KeepBytes: true}
}

func (s *store) exchange(name string) string    { return s.prefix + ":" + name }
func (s *store) logOf(name string) string       { return s.prefix + ":log:" + name }
func (s *store) deadQueueOf(name string) string { return s.prefix + ":letters:" + name }
func (s *store) queueOf(spec engine.Spec) string {
	if spec.DeadLetters {
		return s.deadQueueOf(spec.Name)
	}
	return s.logOf(spec.Name)
}
func (s *store) queue(name, group string) string { return s.prefix + ":group:" + name + ":" + group }

func (s *store) Declare(ctx context.Context, spec engine.Spec) error {
	if spec.MaxCount > 0 {
		return fmt.Errorf("channel %s: a limit of number is %w: RabbitMQ's streams have limits of age and bytes", spec.Name, engine.ErrNotOffered)
	}
	session, err := s.session()
	if err == nil {
		err = s.declare(ctx, session, spec)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.specs[spec.Name] = spec
	return nil
}

func (s *store) declare(ctx context.Context, session *session, spec engine.Spec) error {
	queue, arguments := s.logOf(spec.Name), amqp091.Table{amqp091.QueueTypeArg: amqp091.QueueTypeStream, amqp091.StreamMaxSegmentSizeBytesArg: segment}
	if spec.MaxAge > 0 {
		arguments[amqp091.StreamMaxAgeArg] = fmt.Sprintf("%ds", max(1, int64(spec.MaxAge.Seconds())))
	}
	if spec.MaxBytes > 0 {
		arguments[amqp091.StreamMaxLenBytesArg] = spec.MaxBytes
	}
	if spec.DeadLetters {
		queue, arguments = s.deadQueueOf(spec.Name), quorum()
	}
	err := session.createQueue(ctx, queue, arguments)
	if said, ok := errors.AsType[*amqp091.Error](err); ok && said.Code == amqp091.PreconditionFailed {
		s.log.Warn("channels: the channel keeps the limits that it was made with; a policy of the server can change them", "channel", spec.Name, "reason", said.Reason)
		err = nil
	}
	if err != nil {
		return err
	}
	return session.withChannel(func(ch *amqp091.Channel) error {
		if err := ch.ExchangeDeclare(s.exchange(spec.Name), "fanout", true, false, false, false, nil); err != nil {
			return err
		}
		return ch.QueueBind(queue, "", s.exchange(spec.Name), false, nil)
	})
}

// quorum is the arguments of a queue that keeps its messages. RabbitMQ 4 would drop one that came back 20 times.
func quorum() amqp091.Table {
	return amqp091.Table{amqp091.QueueTypeArg: amqp091.QueueTypeQuorum, "x-delivery-limit": int64(1 << 30)}
}

func (s *store) spec(name string) (engine.Spec, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	spec, ok := s.specs[name]
	if !ok {
		return spec, fmt.Errorf("channel %s was not declared", name)
	}
	return spec, nil
}

// Publish needs no buffer of its own: each caller waits for the answers to what it published.
func (s *store) Publish(ctx context.Context, name string, batch []*engine.Outgoing) {
	spec, err := s.spec(name)
	if err == nil {
		err = ctx.Err()
	}
	session, lost := s.session()
	if err == nil {
		err = lost
	}
	var list []amqp091.Publishing
	var sent []*engine.Outgoing
	for _, m := range batch {
		if m.Err = err; err != nil {
			continue
		}
		if spec.MaxMessage > 0 && len(m.Data) > spec.MaxMessage {
			m.Err = fmt.Errorf("%w: %d bytes, the channel takes %d", engine.ErrTooLarge, len(m.Data), spec.MaxMessage)
			continue
		}
		p, failed := publishing(&m.Message)
		if m.Err = failed; failed == nil {
			list, sent = append(list, p), append(sent, m)
		}
	}
	if len(sent) == 0 {
		return
	}
	errs := make([]error, len(sent))
	session.publishing.publish(ctx, s.exchange(name), "", list, errs)
	for i, m := range sent {
		m.Err = errs[i]
	}
	if slices.ContainsFunc(errs, notFound) {
		_ = s.restore(ctx, session, name) // whoever publishes has an error already, and tries again
	}
}

// Stats counts, of what is handed out, only what this store's own consumers hold.
func (s *store) Stats(_ context.Context, name string) (stats engine.Stats, err error) {
	spec, err := s.spec(name)
	if err != nil {
		return stats, err
	}
	session, err := s.session()
	if err != nil {
		return stats, err
	}
	count, _, err := session.exists(s.queueOf(spec))
	if err != nil {
		return stats, err
	}
	stats.Messages = uint64(count)
	s.mu.Lock()
	groups := slices.Clone(s.groups)
	s.mu.Unlock()
	for _, g := range groups {
		if g.spec.Channel != name || slices.ContainsFunc(stats.Groups, func(other engine.GroupStats) bool { return other.Name == g.spec.Name }) {
			continue
		}
		ready, _, err := session.exists(g.queue)
		if err != nil {
			return stats, err
		}
		delayed, err := g.delayed(session)
		if err != nil {
			return stats, err
		}
		stats.Groups = append(stats.Groups, engine.GroupStats{Name: g.spec.Name, Waiting: uint64(ready), InFlight: uint64(max(0, g.held.Load())), Delayed: delayed})
	}
	slices.SortFunc(stats.Groups, func(a, b engine.GroupStats) int { return strings.Compare(a.Name, b.Name) })
	return stats, nil
}

// browse passes dead messages to see, which decides whether to take each out and whether to go on. The others go back.
func (s *store) browse(name string, see func(engine.Message) (take, more bool)) error {
	spec, err := s.spec(name)
	if err != nil {
		return err
	}
	if !spec.DeadLetters {
		return fmt.Errorf("channel %s is no channel of dead letters: listing and removing its messages is %w", name, engine.ErrNotOffered)
	}
	session, err := s.session()
	if err != nil {
		return err
	}
	return session.withChannel(func(ch *amqp091.Channel) error {
		for range maxDeadMessages {
			d, ok, err := ch.Get(s.deadQueueOf(name), false)
			if err != nil || !ok {
				return err
			}
			m, _ := messageOf(&d) // one that cannot be read is listed without a head
			take, more := see(m)
			if take {
				err = d.Ack(false)
			}
			if err != nil || !more {
				return err
			}
		}
		return nil
	})
}

// DeadLetters sorts the dead letters by time: RabbitMQ may return messages in another order after they were browsed once.
func (s *store) DeadLetters(_ context.Context, name string, limit int) (list []engine.DeadLetter, err error) {
	err = s.browse(name, func(m engine.Message) (take, more bool) {
		list = append(list, engine.DeadLetter{Key: m.ID, Message: m})
		return false, len(list) < limit
	})
	slices.SortStableFunc(list, func(a, b engine.DeadLetter) int { return a.Time.Compare(b.Time) })
	return list, err
}

func (s *store) Remove(_ context.Context, name string, keys ...string) (removed int, err error) {
	wanted := make(map[string]bool)
	for _, key := range keys {
		wanted[key] = true
	}
	err = s.browse(name, func(m engine.Message) (take, more bool) {
		if wanted[m.ID] {
			delete(wanted, m.ID)
			removed++
			return true, len(wanted) > 0
		}
		return false, true
	})
	return removed, err
}

// Check publishes a message that goes to no queue.
func (s *store) Check(ctx context.Context) error {
	session, err := s.session()
	if err != nil {
		return err
	}
	return session.publishing.check(ctx, s.prefix)
}

func (s *store) Close() error {
	s.end()
	<-s.reconnectEnded
	s.mu.Lock()
	groups := s.groups
	s.groups = nil
	s.mu.Unlock()
	for _, g := range groups {
		_ = g.Close() // it never fails
	}
	s.current.Load().close()
	return nil
}
