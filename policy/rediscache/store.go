package rediscache

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/native"
	"github.com/sabir-go/sabir/internal/redis"
	"github.com/sabir-go/sabir/internal/replication"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/transport"
)

// Store is a [policy.Store] in Redis. One serves any number of caches, and many goroutines at once.
type Store struct {
	prefix  string
	address *redis.Address
	tls     *tls.Config
	codec   codec.Codec
	limit   int
	timeout time.Duration
	lease   time.Duration
	writes  *replication.Setting // instead of those in the address; nil for those

	mu               sync.Mutex // held while connecting
	closed           bool
	answers          atomic.Pointer[connection] // sends everything but waits for locks
	watcher          rueidis.Client             // is notified when locks end
	backOffUntil     atomic.Int64               // Redis is left alone until then, in nanoseconds since epoch
	lastReply        atomic.Int64               // when a reply came last, in nanoseconds since epoch
	unconfirmedUntil atomic.Int64               // locks do not wait for replicas until then, in nanoseconds since epoch
	background       sync.WaitGroup             // what goes on after its call has returned

	cleanings       atomic.Pointer[cleanings]
	seen            atomic.Uint64 // the latest moment of a cleaning
	learning        sync.Mutex    // held while cleanings is replaced
	missedCleanings missedCleanings
	lockWaiters     lockWaiters
}

// Option is an option of [Open].
type Option func(*Store)

// Format is the codec in which answers are kept. Default: the native one, which is the smallest and fastest. Types
// that it cannot write, such as those with interfaces of types that were not registered, are not cached; JSON takes more.
// All nodes must use the same: answers in different formats are kept apart.
func Format(c codec.Codec) Option { return func(s *Store) { s.codec = c } }

// TLS is the configuration for rediss:// addresses. By default the server needs a certificate that the system trusts.
func TLS(config *tls.Config) Option { return func(s *Store) { s.tls = config } }

// MaxAnswer bounds the bytes of an answer. Default: 1 MiB. Larger ones are not kept, and not read.
func MaxAnswer(bytes int) Option { return func(s *Store) { s.limit = bytes } }

// Timeout bounds the time that a call waits for Redis to answer before it goes on without the store. Default: 500 ms. When
// Redis has answered no call for so long, or cannot be reached, it is left alone for a second, in which calls do not wait at
// all.
func Timeout(d time.Duration) Option { return func(s *Store) { s.timeout = d } }

// Lease sets how long other nodes wait for one that works out an answer and was lost. Default: 5 s. One that is there may
// take longer.
func Lease(d time.Duration) Option { return func(s *Store) { s.lease = d } }

// Replicas sets how many replicas of the server must have a cleaning before Clean returns, and a lock before its holder begins,
// so that neither is lost when one takes over; 0 does not wait. By default all that are online are waited for, and none where
// the server has none or its user may not ask (the commands ROLE and INFO). See the package's description.
func Replicas(n int) Option {
	return func(s *Store) { s.writes = &replication.Setting{Replicas: n} }
}

const (
	defaultLimit   = 1 << 20
	defaultTimeout = 500 * time.Millisecond
	defaultLease   = 5 * time.Second
	backOff        = time.Second
	maxLimit       = 256 << 20
)

// Open makes the store of an application in the Redis at a URL, as in the package's description. Nodes with the same name
// share answers, so the name should distinguish one cluster from others that use the same Redis: letters, digits, "_", "-" and
// dots, 100 at most. Redis need not be there yet. The caller must Close the store when no node uses it any more.
func Open(url, name string, options ...Option) (*Store, error) {
	format, _ := codec.Lookup(native.Name)
	s := &Store{prefix: name + ":", codec: format, lockWaiters: lockWaiters{ringing: make(map[string]*lockWaiter)}, limit: defaultLimit, timeout: defaultTimeout, lease: defaultLease}
	for _, o := range options {
		o(s)
	}
	if err := s.check(name); err != nil {
		return nil, fmt.Errorf("rediscache: %w", err)
	}
	at, err := transport.Parse(url)
	if err != nil {
		return nil, fmt.Errorf("rediscache: want an address such as redis://127.0.0.1:6379: %w", err)
	}
	if at.Scheme != "redis" && at.Scheme != "rediss" {
		return nil, fmt.Errorf("rediscache: the address has the scheme %q: want redis or rediss", at.Scheme)
	}
	if s.address, err = redis.Parse(at, s.tls); err != nil {
		return nil, fmt.Errorf("rediscache: %w", err)
	}
	if s.writes != nil {
		s.address.Writes = *s.writes
	}
	if s.address.Clustered() {
		s.prefix = "{" + name + "}:" // one slot, as scripts need it
	}
	return s, nil
}

func (s *Store) check(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
	switch {
	case name == "" || len(name) > 100 || strings.Trim(name, letters) != "":
		return fmt.Errorf(`the name %.100q: want 1 to 100 letters, digits, "_", "-" and dots`, name)
	case s.codec == nil:
		return errors.New("Format was given nil")
	case s.limit < 1 || s.limit > maxLimit:
		return fmt.Errorf("MaxAnswer(%d): want 1 to %d bytes", s.limit, maxLimit)
	case s.timeout < time.Millisecond:
		return fmt.Errorf("Timeout(%v): want at least 1ms", s.timeout)
	case s.writes != nil && (s.writes.Replicas < 0 || s.writes.Check() != nil):
		return fmt.Errorf("Replicas(%d): want 0 or more", s.writes.Replicas)
	case s.lease < 10*time.Millisecond:
		return fmt.Errorf("Lease(%v): want at least 10ms", s.lease)
	}
	return nil
}

// Codec is the format of answers.
func (s *Store) Codec() codec.Codec { return s.codec }

// Open makes the place for one action's answers.
func (s *Store) Open(action, form string) policy.Bucket {
	return &actionCache{store: s, action: action, form: form,
		answers: s.prefix + "answer:" + action + ":", locks: s.prefix + "lock:" + action + ":", held: make(map[string]*lock)}
}

// Close ends the connections. What goes on then fails, as if Redis were not there.
func (s *Store) Close() {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	s.background.Wait()
	if !first {
		return
	}
	if c := s.answers.Load(); c != nil {
		c.primary.Close()
		c.Close()
	}
	if s.watcher != nil {
		s.watcher.Close()
	}
}

// inBackground runs a function for which no caller waits; Close does.
func (s *Store) inBackground(run func(ctx context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
		defer cancel()
		run(ctx)
	})
}
