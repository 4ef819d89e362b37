package redissessions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/redact"
	"github.com/sabir-go/sabir/internal/redis"
	"github.com/sabir-go/sabir/internal/replication"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/web/auth"
)

// Config has the settings of a store. URL and Name are needed, the rest has defaults.
type Config struct {
	// URL is the address of the Redis, such as redis://user:password@host:6379.
	URL string
	// Name distinguishes one application from others that use the same Redis; nodes with the same name share sessions. It has letters,
	// digits, "_", "-" and dots, 100 at most.
	Name string
	// TLS is the configuration for rediss:// addresses. By default the server needs a certificate that the system trusts.
	TLS *tls.Config
	// Timeout bounds the time that a request waits for Redis: at least 1 ms. Default: 2 s. Where replicas have to confirm, SignIn
	// and SignOut may take longer. After a failed attempt to connect, requests fail at once for a second.
	Timeout time.Duration
	// MaxSessions bounds the sessions of a subject: those that would end first end at once where there are more. Default: 100.
	MaxSessions int
	// Log gets a warning where the server's settings let it forget sessions. Default: slog.Default().
	Log *slog.Logger
}

// Format prints the settings without the password of the URL.
func (c Config) Format(f fmt.State, verb rune) { redact.Print(f, verb, c.shown()) }

// MarshalJSON writes the settings without the password of the URL.
func (c Config) MarshalJSON() ([]byte, error) {
	//lint:ignore SA1026 where TLS is set the functions in it make this an error, which shows nothing
	return json.Marshal(c.shown())
}

type shownConfig Config

func (c Config) shown() shownConfig {
	c.URL = redact.URL(c.URL)
	return shownConfig(c)
}

// Store is an auth.SessionStore in Redis. It may be used by many goroutines at once, and by any number of auth.Session.
type Store struct {
	address *redis.Address
	prefix  string
	timeout time.Duration
	most    string
	log     *slog.Logger

	mu     sync.Mutex // held while connecting
	server *redis.Server
	closed bool
	retry  time.Time // before it no connection is tried, after one that failed
	failed error
}

var _ auth.SessionStore = (*Store)(nil)

const backOff = time.Second

var errClosed = errors.New("redissessions: the store is closed")

// Open makes a store. Redis need not be there yet. The caller must Close the store when no node uses it any more.
func Open(config Config) (*Store, error) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
	switch {
	case config.Name == "" || len(config.Name) > 100 || strings.Trim(config.Name, letters) != "":
		return nil, fmt.Errorf(`redissessions: the name %.100q: want 1 to 100 letters, digits, "_", "-" and dots`, config.Name)
	case config.Timeout != 0 && config.Timeout < time.Millisecond:
		return nil, fmt.Errorf("redissessions: the Timeout is %v: want at least 1ms", config.Timeout)
	case config.MaxSessions < 0:
		return nil, fmt.Errorf("redissessions: MaxSessions is %d: want at least 1", config.MaxSessions)
	}
	at, err := schemes.Parse(config.URL)
	if err != nil {
		return nil, fmt.Errorf("redissessions: want an address such as redis://127.0.0.1:6379: %w", err)
	}
	if at.Scheme != "redis" && at.Scheme != "rediss" {
		return nil, fmt.Errorf("redissessions: the address has the scheme %q: want redis or rediss", at.Scheme)
	}
	s := &Store{prefix: "{" + config.Name + "}", timeout: cmp.Or(config.Timeout, 2*time.Second), most: strconv.Itoa(cmp.Or(config.MaxSessions, 100)),
		log: cmp.Or(config.Log, slog.Default())}
	if s.address, err = redis.Parse(at, config.TLS); err != nil {
		return nil, fmt.Errorf("redissessions: %w", err)
	}
	s.address.Prefix = s.prefix // one slot of a Redis Cluster
	return s, nil
}

// Close ends the connections. What goes on then fails, as if Redis were not there.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.server != nil {
		s.server.Close()
		s.server = nil
	}
}

// connected is the connection, which is made when it is needed first, for all: so the end of the request that needs it counts for nothing. The client
// makes it again by itself.
func (s *Store) connected(ctx context.Context) (*redis.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errClosed
	case s.server != nil:
		return s.server, nil
	case time.Now().Before(s.retry):
		return nil, s.failed
	}
	o := s.address.Options()
	o.Dialer.Timeout = s.timeout
	o.Dialer.KeepAlive = time.Second // pings too, while answers are awaited
	o.ConnWriteTimeout = s.timeout
	o.PipelineMultiplex = -1 // one connection: commands of all requests share writes
	o.ClientSetInfo = rueidis.DisableClientSetInfo
	o.ClientName = "sabir-sessions"
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	server, err := redis.Open(ctx, s.address, o, s.log)
	if err != nil {
		s.retry, s.failed = time.Now().Add(backOff), s.fault(err)
		return nil, s.failed
	}
	s.server = server
	return server, nil
}

func (s *Store) fault(err error) error {
	return fmt.Errorf("redissessions: Redis at %s: %w", s.address.Name, err)
}

// key returns the key of a subject's sessions in Redis. It shows no name.
func (s *Store) key(subject string) string {
	hash := sha256.Sum256([]byte(subject))
	return s.prefix + ":" + hex.EncodeToString(hash[:16])
}

// set begins or prolongs a session: ARGV[1] is its id, ARGV[2] when it ends, ARGV[3] now, ARGV[4] the most sessions, ARGV[5] whether
// it has to be there. It answers 1, or 0 where it is not.
var set = replication.NewScript(`
if ARGV[5] == 'there' then
	local ends = redis.call('ZSCORE', KEYS[1], ARGV[1])
	if not ends or tonumber(ends) <= tonumber(ARGV[3]) then return 0 end
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[4]))
redis.call('PEXPIREAT', KEYS[1], redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2])
return 1`)

func (s *Store) set(ctx context.Context, subject, id string, ends time.Time, mode string) (bool, error) {
	dial, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	server, err := s.connected(dial)
	if err != nil {
		return false, err
	}
	args := []string{id, strconv.FormatInt(ends.UnixMilli(), 10), strconv.FormatInt(time.Now().UnixMilli(), 10), s.most, mode}
	results, err := server.Primary.Run(s.limit(ctx, server, dial), set, replication.Call{Keys: []string{s.key(subject)}, Args: args})
	there, failed := results[0].AsBool()
	if failed != nil {
		return false, s.fault(failed)
	}
	if err != nil {
		return there, s.fault(err)
	}
	return there, nil
}

// limit is the context for a write: one that replicas confirm has a limit of its own.
func (s *Store) limit(ctx context.Context, server *redis.Server, short context.Context) context.Context {
	if server.Primary.Waits() {
		return ctx
	}
	return short
}

// Begin keeps a session until it ends.
func (s *Store) Begin(ctx context.Context, subject, id string, ends time.Time) error {
	_, err := s.set(ctx, subject, id, ends, "new")
	return err
}

// Use reports whether there is a session that has not ended, and prolongs it. Where Redis can be read and takes no writes, as on a full disk or
// after a failover, or replicas do not confirm it, the session is there with the error.
func (s *Store) Use(ctx context.Context, subject, id string, prolong time.Time) (bool, error) {
	if prolong.IsZero() {
		return s.there(ctx, subject, id)
	}
	there, err := s.set(ctx, subject, id, prolong, "there")
	if _, refused := errors.AsType[*rueidis.RedisError](err); !refused {
		return there, err
	}
	there, failed := s.there(ctx, subject, id)
	if failed != nil || there {
		return there, err
	}
	return false, nil
}

// there reports whether there is a session that has not ended.
func (s *Store) there(ctx context.Context, subject, id string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	server, err := s.connected(ctx)
	if err != nil {
		return false, err
	}
	ends, err := server.Do(ctx, server.B().Zscore().Key(s.key(subject)).Member(id).Build()).AsFloat64()
	if rueidis.IsRedisNil(err) {
		return false, nil
	}
	if err != nil {
		return false, s.fault(err)
	}
	return float64(time.Now().UnixMilli()) < ends, nil
}

// End ends a session.
func (s *Store) End(ctx context.Context, subject, id string) error {
	return s.remove(ctx, func(c rueidis.Client) rueidis.Completed {
		return c.B().Zrem().Key(s.key(subject)).Member(id).Build()
	})
}

// EndAll ends all sessions of a subject.
func (s *Store) EndAll(ctx context.Context, subject string) error {
	return s.remove(ctx, func(c rueidis.Client) rueidis.Completed { return c.B().Del().Key(s.key(subject)).Build() })
}

func (s *Store) remove(ctx context.Context, command func(rueidis.Client) rueidis.Completed) error {
	dial, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	server, err := s.connected(dial)
	if err != nil {
		return err
	}
	results, err := server.Primary.Do(s.limit(ctx, server, dial), command(server.Client))
	if failed := results[0].Error(); failed != nil {
		return s.fault(failed)
	}
	if err != nil {
		return s.fault(err)
	}
	return nil
}
