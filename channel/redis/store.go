package redis

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

	"crypto/tls"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/channel"
)

func init() {
	channel.Register("redis", engine{})
	channel.Register("rediss", engine{})
}

type engine struct{}

const (
	dedupWindow = 2 * time.Minute
	patience    = 5 * time.Second // for one answer of the server
)

type store struct {
	client rueidis.Client
	prefix string

	mu    sync.Mutex
	specs map[string]channel.Spec
}

func (engine) Open(ctx context.Context, at *url.URL, config channel.Config) (channel.Store, error) {
	s := &store{prefix: "sabir", specs: make(map[string]channel.Spec)}
	option := rueidis.ClientOption{InitAddress: strings.Split(at.Host, ","), ClientName: "sabir-channels", DisableCache: true, DisableRetry: true, ConnWriteTimeout: patience}
	option.ForceSingleClient = len(option.InitAddress) == 1
	option.Dialer.Timeout = patience
	if end, ok := ctx.Deadline(); ok {
		option.Dialer.Timeout = min(patience, max(time.Until(end), time.Millisecond))
	}
	if at.Port() == "" && !strings.Contains(at.Host, ",") {
		option.InitAddress = []string{at.Hostname() + ":6379"}
	}
	if at.User != nil {
		option.Username = at.User.Username()
		option.Password, _ = at.User.Password()
	}
	if path := strings.Trim(at.Path, "/"); path != "" {
		n, err := strconv.Atoi(path)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("channel: the address %s has the database %q: want a number", at.Redacted(), path)
		}
		option.SelectDB = n
	}
	for name, values := range at.Query() {
		if name != "prefix" || values[0] == "" || strings.ContainsAny(values[0], "{}") {
			return nil, fmt.Errorf("channel: the address %s has the parameter %q; known is prefix, without braces", at.Redacted(), name)
		}
		s.prefix = values[0]
	}
	if at.Scheme == "rediss" {
		option.TLSConfig = config.TLS
		if option.TLSConfig == nil {
			option.TLSConfig = &tls.Config{ServerName: at.Hostname()}
		}
	} else if config.TLS != nil {
		return nil, fmt.Errorf("channel: the address %s would not be encrypted, although there is a TLS configuration: use rediss://", at.Redacted())
	}
	client, err := rueidis.NewClient(option)
	if err != nil {
		return nil, fmt.Errorf("channel: %s: %w", at.Redacted(), failure(err))
	}
	s.client = client
	log := config.Log
	if log == nil {
		log = slog.Default()
	}
	s.warn(ctx, log, at)
	return s, nil
}

// warn tells when Redis is not set to keep what it has. A server that does not say is left alone.
func (s *store) warn(ctx context.Context, log *slog.Logger, at *url.URL) {
	settings, err := s.client.Do(ctx, s.client.B().ConfigGet().Parameter("appendonly").Parameter("appendfsync").Build()).AsStrMap()
	switch {
	case err != nil:
	case settings["appendonly"] == "no":
		log.Warn("channels: this Redis keeps no append-only file: messages are lost when it ends; set appendonly yes", "broker", at.Redacted())
	case settings["appendfsync"] != "always":
		log.Info("channels: this Redis may lose its last messages in a power cut; appendfsync always prevents it", "broker", at.Redacted(), "appendfsync", settings["appendfsync"])
	}
}

func (s *store) Features() channel.Features {
	return channel.Features{Durable: true, Dedup: true, Sequences: true, Lease: true, KeepAge: true, KeepMessages: true}
}

// log is the key of a channel's stream. The braces keep all keys of a channel on one server of a Redis Cluster.
func (s *store) log(name string) string        { return s.prefix + ":{" + name + "}:log" }
func (s *store) due(name, group string) string { return s.prefix + ":{" + name + "}:due:" + group }
func (s *store) id(name, id string) string     { return s.prefix + ":{" + name + "}:id:" + id }

func (s *store) Declare(_ context.Context, spec channel.Spec) error {
	if spec.MaxBytes > 0 {
		return fmt.Errorf("channel %s: a limit of bytes is %w: Redis Streams have limits of age and number", spec.Name, channel.ErrNotOffered)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.specs[spec.Name] = spec
	return nil
}

func (s *store) spec(name string) (channel.Spec, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	spec, ok := s.specs[name]
	if !ok {
		return spec, fmt.Errorf("channel %s was not declared", name)
	}
	return spec, nil
}

func (s *store) Publish(ctx context.Context, name string, batch []*channel.Outgoing) {
	spec, err := s.spec(name)
	if err == nil {
		err = ctx.Err()
	}
	limits := limitsOf(spec)
	var commands rueidis.Commands
	var sent []*channel.Outgoing
	for _, m := range batch {
		var head []byte
		if m.Err = err; err == nil {
			head, m.Err = channel.AppendHead(nil, &m.Head)
		}
		if m.Err == nil && spec.MaxMessage > 0 && len(m.Data) > spec.MaxMessage {
			m.Err = fmt.Errorf("%w: %d bytes, the channel takes %d", channel.ErrTooLarge, len(m.Data), spec.MaxMessage)
		}
		switch {
		case m.Err != nil:
		case m.Dedup:
			s.publishOnce(ctx, name, m, head, limits)
		default:
			add := s.client.B().Arbitrary("XADD").Keys(s.log(name)).Args(limits...).Args("*", "head", rueidis.BinaryString(head), "data", rueidis.BinaryString(m.Data))
			commands, sent = append(commands, add.Build()), append(sent, m)
		}
	}
	if len(commands) == 0 {
		return
	}
	for i, answer := range s.client.DoMulti(ctx, commands...) {
		id, err := answer.ToString()
		sent[i].Err = failure(err)
		sent[i].Sequence, _ = sequenceOf(id)
	}
	if spec.MaxAge > 0 && spec.MaxCount > 0 { // XADD takes one limit only
		_ = s.client.Do(ctx, s.client.B().Xtrim().Key(s.log(name)).Maxlen().Almost().Threshold(strconv.FormatInt(spec.MaxCount, 10)).Build()).Error() // the next one does it
	}
}

// limitsOf is what XADD is told to drop.
func limitsOf(spec channel.Spec) []string {
	switch {
	case spec.MaxAge > 0:
		return []string{"MINID", "~", strconv.FormatInt(time.Now().Add(-spec.MaxAge).UnixMilli(), 10)}
	case spec.MaxCount > 0:
		return []string{"MAXLEN", "~", strconv.FormatInt(spec.MaxCount, 10)}
	}
	return nil
}

func (s *store) publishOnce(ctx context.Context, name string, m *channel.Outgoing, head []byte, limits []string) {
	arguments := append([]string{strconv.FormatInt(dedupWindow.Milliseconds(), 10), rueidis.BinaryString(head), rueidis.BinaryString(m.Data)}, limits...)
	answer, err := publishOnce.Exec(ctx, s.client, []string{s.log(name), s.id(name, m.ID)}, arguments).ToArray()
	if err == nil && len(answer) != 2 {
		err = errors.New("the script answered something else")
	}
	if m.Err = failure(err); err != nil {
		return
	}
	id, _ := answer[0].ToString()
	again, _ := answer[1].AsInt64()
	m.Sequence, m.Err = sequenceOf(id)
	m.Duplicate = again == 1
}

func (s *store) Stats(ctx context.Context, name string) (channel.Stats, error) {
	if _, err := s.spec(name); err != nil {
		return channel.Stats{}, err
	}
	count, err := s.client.Do(ctx, s.client.B().Xlen().Key(s.log(name)).Build()).AsInt64()
	stats := channel.Stats{Messages: uint64(count)}
	if err != nil || count == 0 {
		return stats, failure(err)
	}
	newest, err := s.client.Do(ctx, s.client.B().Xrevrange().Key(s.log(name)).End("+").Start("-").Count(1).Build()).AsXRange()
	if err != nil {
		return stats, failure(err)
	}
	if len(newest) > 0 {
		stats.Last, _ = sequenceOf(newest[0].ID)
	}
	groups, err := s.client.Do(ctx, s.client.B().XinfoGroups().Key(s.log(name)).Build()).ToArray()
	if err != nil {
		return stats, failure(err)
	}
	for _, message := range groups {
		about, err := message.AsMap()
		if err != nil {
			return stats, failure(err)
		}
		g := channel.GroupStats{}
		field := func(key string) uint64 {
			value := about[key]
			n, _ := value.AsUint64() // nil where Redis does not know it
			return n
		}
		nameField := about["name"]
		g.Name, _ = nameField.ToString()
		g.Waiting, g.InFlight = field("lag"), field("pending")
		stats.Groups = append(stats.Groups, g)
	}
	return stats, nil
}

func (s *store) Letters(ctx context.Context, name string, limit int) (list []channel.Letter, err error) {
	if _, err := s.spec(name); err != nil {
		return nil, err
	}
	entries, err := s.client.Do(ctx, s.client.B().Xrange().Key(s.log(name)).Start("-").End("+").Count(int64(limit)).Build()).AsXRange()
	for _, e := range entries {
		letter := channel.Letter{Key: e.ID}
		letter.Data = []byte(e.FieldValues["data"])
		letter.Head, _ = channel.ReadHead([]byte(e.FieldValues["head"])) // one that cannot be read is listed without a head
		list = append(list, letter)
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
	n, err := s.client.Do(ctx, s.client.B().Xdel().Key(s.log(name)).Id(keys...).Build()).AsInt64()
	return int(n), failure(err)
}

func (s *store) Close() error {
	s.client.Close()
	return nil
}

// withinMillisecond is how many bits of a place count messages of one millisecond: Redis makes far fewer.
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
	said, ok := rueidis.IsRedisErr(err)
	if !ok {
		return fmt.Errorf("%w: %w", channel.ErrAway, err) // the connection's, or the context's
	}
	text := said.Error()
	switch {
	case strings.HasPrefix(text, "OOM"), strings.HasPrefix(text, "MISCONF"):
		return fmt.Errorf("%w: %w", channel.ErrFull, err)
	case strings.HasPrefix(text, "LOADING"), strings.HasPrefix(text, "MASTERDOWN"), strings.HasPrefix(text, "READONLY"), strings.HasPrefix(text, "CLUSTERDOWN"), strings.HasPrefix(text, "BUSY "):
		return fmt.Errorf("%w: %w", channel.ErrAway, err)
	}
	return err
}
