package channels

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/redis"
	"github.com/sabir-go/sabir/internal/replication"
)

func init() {
	engine.Register("redis", driver{})
	engine.Register("rediss", driver{})
}

type driver struct{}

const (
	dedupWindow = 2 * time.Minute
	answerLimit = 5 * time.Second // for one answer of the server
)

type store struct {
	server *redis.Server
	prefix string

	mu    sync.Mutex
	specs map[string]engine.Spec
}

func (driver) Open(ctx context.Context, at *url.URL, config engine.Config) (engine.Store, error) {
	a, err := redis.Parse(at, config.TLS)
	if err != nil {
		return nil, fmt.Errorf("channel: %w", err)
	}
	log := config.Log
	if log == nil {
		log = slog.Default()
	}
	option := a.Options()
	option.ClientName, option.ConnWriteTimeout, option.Dialer.Timeout = "sabir-channels", answerLimit, answerLimit
	server, err := redis.Open(ctx, a, option, log)
	if err != nil {
		if !errors.Is(err, replication.ErrNotOffered) {
			err = failure(err)
		}
		return nil, fmt.Errorf("channel: %s: %w", a.Name, err)
	}
	return &store{server: server, prefix: a.Prefix, specs: make(map[string]engine.Spec)}, nil
}

func (s *store) Features() engine.Features {
	return engine.Features{Durable: true, Dedup: true, Sequences: true, Lease: true, KeepAge: true, KeepMessages: true}
}

// log is the key of a channel's stream. The braces keep all keys of a channel on one server of a Redis Cluster.
func (s *store) log(name string) string        { return s.prefix + ":{" + name + "}:log" }
func (s *store) due(name, group string) string { return s.prefix + ":{" + name + "}:due:" + group }

// failed is the key with the numbers of failed attempts of a group's messages, by the id of those of which one has.
func (s *store) failed(name, group string) string {
	return s.prefix + ":{" + name + "}:failed:" + group
}
func (s *store) id(name, id string) string { return s.prefix + ":{" + name + "}:id:" + id }
func (s *store) mark(name string) string   { return s.prefix + ":{" + name + "}:confirm" }

func (s *store) Declare(_ context.Context, spec engine.Spec) error {
	if spec.MaxBytes > 0 {
		return fmt.Errorf("channel %s: a limit of bytes is %w: Redis Streams have limits of age and number", spec.Name, engine.ErrNotOffered)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.specs[spec.Name] = spec
	return nil
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

func (s *store) Publish(ctx context.Context, name string, batch []*engine.Outgoing) {
	spec, err := s.spec(name)
	if err == nil {
		err = ctx.Err()
	}
	limits := limitsOf(spec)
	var plain, once publishing
	for _, m := range batch {
		var head []byte
		if m.Err = err; err == nil {
			head, m.Err = engine.AppendHead(nil, &m.Head)
		}
		if m.Err == nil && spec.MaxMessage > 0 && len(m.Data) > spec.MaxMessage {
			m.Err = fmt.Errorf("%w: %d bytes, the channel takes %d", engine.ErrTooLarge, len(m.Data), spec.MaxMessage)
		}
		switch {
		case m.Err != nil:
		case m.Dedup:
			arguments := append([]string{strconv.FormatInt(dedupWindow.Milliseconds(), 10), strconv.Itoa(len(limits))}, limits...)
			arguments = append(arguments, fields(head, &m.Message)...)
			once.calls = append(once.calls, replication.Call{Keys: []string{s.log(name), s.id(name, m.ID)}, Args: arguments})
			once.sent = append(once.sent, m)
		default:
			add := s.server.B().Arbitrary("XADD").Keys(s.log(name)).Args(limits...).Args("*").Args(fields(head, &m.Message)...)
			plain.commands, plain.sent = append(plain.commands, add.Build()), append(plain.sent, m)
		}
	}
	if len(plain.sent) > 0 {
		results, unconfirmed := s.server.Primary.Do(ctx, plain.commands...)
		plain.answered(results, unconfirmed, added)
	}
	if len(once.sent) > 0 {
		results, unconfirmed := s.server.Primary.Run(ctx, publishOnce, once.calls...)
		once.answered(results, unconfirmed, addedOnce)
	}
	if len(plain.sent)+len(once.sent) > 0 && spec.MaxAge > 0 && spec.MaxCount > 0 { // XADD takes one limit only
		_ = s.server.Do(ctx, s.server.B().Xtrim().Key(s.log(name)).Maxlen().Almost().Threshold(strconv.FormatInt(spec.MaxCount, 10)).Build()).Error() // the next one does it
	}
}

// publishing is messages that go to the server together.
type publishing struct {
	sent     []*engine.Outgoing
	commands rueidis.Commands
	calls    []replication.Call
}

// answered sets the result of each message. What is not confirmed by replicas may be lost with the primary: it has the
// error ErrUnreachable, as it may have been kept.
func (p *publishing) answered(results []rueidis.RedisResult, unconfirmed error, read func(*engine.Outgoing, rueidis.RedisResult) error) {
	for i, m := range p.sent {
		m.Err = read(m, results[i])
		if m.Err == nil {
			m.Err = failure(unconfirmed)
		}
	}
}

// added reads the answer to XADD.
func added(m *engine.Outgoing, result rueidis.RedisResult) error {
	id, err := result.ToString()
	if err != nil {
		return failure(err)
	}
	m.Sequence, err = sequenceOf(id)
	return err
}

// addedOnce reads the answer of the script publishOnce.
func addedOnce(m *engine.Outgoing, result rueidis.RedisResult) error {
	answer, err := result.ToArray()
	if err == nil && len(answer) != 2 {
		err = errors.New("the script answered something else")
	}
	if err != nil {
		return failure(err)
	}
	id, _ := answer[0].ToString()
	again, _ := answer[1].AsInt64()
	m.Duplicate = again == 1
	m.Sequence, err = sequenceOf(id)
	return err
}

// limitsOf returns the limits at which XADD drops messages.
func limitsOf(spec engine.Spec) []string {
	switch {
	case spec.MaxAge > 0:
		return []string{"MINID", "~", strconv.FormatInt(time.Now().Add(-spec.MaxAge).UnixMilli(), 10)}
	case spec.MaxCount > 0:
		return []string{"MAXLEN", "~", strconv.FormatInt(spec.MaxCount, 10)}
	}
	return nil
}

func (s *store) Stats(ctx context.Context, name string) (engine.Stats, error) {
	if _, err := s.spec(name); err != nil {
		return engine.Stats{}, err
	}
	count, err := s.server.Do(ctx, s.server.B().Xlen().Key(s.log(name)).Build()).AsInt64()
	stats := engine.Stats{Messages: uint64(count)}
	if err != nil || count == 0 {
		return stats, failure(err)
	}
	newest, err := s.server.Do(ctx, s.server.B().Xrevrange().Key(s.log(name)).End("+").Start("-").Count(1).Build()).AsXRange()
	if err != nil {
		return stats, failure(err)
	}
	if len(newest) > 0 {
		stats.Last, _ = sequenceOf(newest[0].ID)
	}
	groups, err := s.server.Do(ctx, s.server.B().XinfoGroups().Key(s.log(name)).Build()).ToArray()
	if err != nil {
		return stats, failure(err)
	}
	for _, message := range groups {
		fields, err := message.AsMap()
		if err != nil {
			return stats, failure(err)
		}
		g := engine.GroupStats{}
		field := func(key string) uint64 {
			value := fields[key]
			n, _ := value.AsUint64() // nil where Redis does not know it
			return n
		}
		nameField := fields["name"]
		g.Name, _ = nameField.ToString()
		g.Waiting, g.InFlight = field("lag"), field("pending")
		stats.Groups = append(stats.Groups, g)
	}
	return stats, nil
}

func (s *store) DeadLetters(ctx context.Context, name string, limit int) (list []engine.DeadLetter, err error) {
	if _, err := s.spec(name); err != nil {
		return nil, err
	}
	entries, err := s.server.Do(ctx, s.server.B().Xrange().Key(s.log(name)).Start("-").End("+").Count(int64(limit)).Build()).AsXRange()
	for _, e := range entries {
		dead := engine.DeadLetter{Key: e.ID}
		dead.Message, _ = readMessage(e.FieldValues) // one that cannot be read is listed without a head
		list = append(list, dead)
	}
	return list, failure(err)
}

func (s *store) Remove(ctx context.Context, name string, keys ...string) (int, error) {
	if _, err := s.spec(name); err != nil || len(keys) == 0 {
		return 0, err
	}
	for _, key := range keys {
		if _, err := sequenceOf(key); err != nil {
			return 0, err
		}
	}
	n, err := s.server.Do(ctx, s.server.B().Xdel().Key(s.log(name)).Id(keys...).Build()).AsInt64()
	return int(n), failure(err)
}

// Check makes a write that replicas have to confirm too.
func (s *store) Check(ctx context.Context) error {
	results, unconfirmed := s.server.Primary.Do(ctx, s.server.B().Set().Key(s.prefix+":confirm").Value("").Px(time.Second).Build())
	if err := results[0].Error(); err != nil {
		return failure(err)
	}
	return failure(unconfirmed)
}

func (s *store) Close() error {
	s.server.Close()
	return nil
}

// withinMillisecond is the number of bits of a place that count messages of one millisecond: Redis makes far fewer.
const withinMillisecond = 20

// sequenceOf is the place of an entry.
func sequenceOf(id string) (uint64, error) {
	first, second, _ := strings.Cut(id, "-")
	ms, err := strconv.ParseUint(first, 10, 64-withinMillisecond)
	if err != nil {
		return 0, fmt.Errorf("channel: %q is no id of a stream's entry", id)
	}
	n, err := strconv.ParseUint(second, 10, withinMillisecond)
	if err != nil {
		return 0, fmt.Errorf("channel: %q is no id of a stream's entry", id)
	}
	return ms<<withinMillisecond | n, nil
}

// before is the id that comes right before a place.
func before(sequence uint64) string {
	if sequence == 0 {
		return "0"
	}
	sequence--
	return fmt.Sprintf("%d-%d", sequence>>withinMillisecond, sequence&(1<<withinMillisecond-1))
}

// failure makes the channel's error of the client's.
func failure(err error) error {
	if err == nil {
		return nil
	}
	switch redis.RefusalOf(err) {
	case redis.NoRefusal:
		return fmt.Errorf("%w: %w", engine.ErrUnreachable, err) // the connection's, or the context's
	case redis.Full:
		return fmt.Errorf("%w: %w", engine.ErrFull, err)
	case redis.NotReady:
		return fmt.Errorf("%w: %w", engine.ErrNotReady, err)
	}
	return err
}
