package rediscache

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/redact"
	"github.com/sabir-go/sabir/internal/redis"
	"github.com/sabir-go/sabir/internal/replication"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/policy"
)

// Store is a [policy.Store] in Redis. One serves any number of caches, and many goroutines at once.
type Store struct {
	prefix  string
	address *redis.Address
	codec   codec.Codec
	limit   int
	timeout time.Duration
	lease   time.Duration

	mu               sync.Mutex // held while connecting
	closed           bool
	answers          atomic.Pointer[connection] // sends everything but waits for locks
	watcher          rueidis.Client             // is notified when locks end
	backOffUntil     atomic.Int64               // Redis is left alone until then, in nanoseconds since epoch
	lastReply        atomic.Int64               // when a reply came last, in nanoseconds since epoch
	unconfirmedUntil atomic.Int64               // locks do not wait for replicas until then, in nanoseconds since epoch
	background       sync.WaitGroup             // what goes on after its call has returned
	unreleased       atomic.Int32               // locks that Redis is asked again to release

	cleanings       atomic.Pointer[cleanings]
	seen            atomic.Uint64 // the latest moment of a cleaning
	learning        sync.Mutex    // held while cleanings is replaced
	missedCleanings missedCleanings
	lockWaiters     lockWaiters
}

// Config has the settings of a store. URL and Name are needed, the rest has defaults.
type Config struct {
	// URL is the address of the Redis, as in the package's description.
	URL string
	// Name distinguishes one cluster from others that use the same Redis; nodes with the same name share answers. It has letters,
	// digits, "_", "-" and dots, 100 at most.
	Name string
	// Codec writes the answers. Default: the native one, which is the smallest and fastest. Types that it cannot write, such as those
	// with interfaces of types that were not registered, are not cached; JSON takes more. All nodes must use the same: answers in
	// different formats are kept apart.
	Codec codec.Codec
	// TLS is the configuration for rediss:// addresses. By default the server needs a certificate that the system trusts.
	TLS *tls.Config
	// MaxAnswer bounds the bytes of an answer: 256 MiB at most. Default: 1 MiB. Larger ones are not kept, and not read.
	MaxAnswer int
	// Timeout bounds the time that a call waits for Redis to answer before it goes on without the store: at least 1 ms. Default:
	// 500 ms. When Redis has answered no call for so long, or cannot be reached, it is left alone for a second, in which calls do
	// not wait at all.
	Timeout time.Duration
	// Lease is the time for which other nodes wait for a node that was lost while its handler worked out an answer: at least
	// 10 ms. Default: 5 s. A node that runs may take longer.
	Lease time.Duration
	// Replicas is the number of replicas of the server that must have an invalidation before Invalidate returns, and a lock
	// before its holder begins, so that neither is lost when one takes over; -1 does not wait. Default: all that are
	// online, and none where the server has none or its user may not ask (the commands ROLE and INFO). See the package's
	// description.
	Replicas int
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

const (
	backOff   = time.Second
	maxAnswer = 256 << 20 // bytes
)

// Open makes a store. Redis need not be there yet. The caller must Close the store when no node uses it any more.
func Open(config Config) (*Store, error) {
	if err := config.check(); err != nil {
		return nil, fmt.Errorf("rediscache: %w", err)
	}
	s := &Store{prefix: config.Name + ":", codec: config.Codec, lockWaiters: lockWaiters{ringing: make(map[string]*lockWaiter)},
		limit: cmp.Or(config.MaxAnswer, 1<<20), timeout: cmp.Or(config.Timeout, 500*time.Millisecond), lease: cmp.Or(config.Lease, 5*time.Second)}
	if s.codec == nil {
		s.codec = native.Codec()
	}
	at, err := schemes.Parse(config.URL)
	if err != nil {
		return nil, fmt.Errorf("rediscache: want an address such as redis://127.0.0.1:6379: %w", err)
	}
	if at.Scheme != "redis" && at.Scheme != "rediss" {
		return nil, fmt.Errorf("rediscache: the address has the scheme %q: want redis or rediss", at.Scheme)
	}
	if s.address, err = redis.Parse(at, config.TLS); err != nil {
		return nil, fmt.Errorf("rediscache: %w", err)
	}
	if config.Replicas != 0 {
		s.address.Writes = replication.Setting{Replicas: max(config.Replicas, 0)}
	}
	if s.address.Clustered() {
		s.prefix = "{" + config.Name + "}:" // one slot, as scripts need it
	}
	return s, nil
}

func (c *Config) check() error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
	switch {
	case c.Name == "" || len(c.Name) > 100 || strings.Trim(c.Name, letters) != "":
		return fmt.Errorf(`the name %.100q: want 1 to 100 letters, digits, "_", "-" and dots`, c.Name)
	case c.MaxAnswer < 0 || c.MaxAnswer > maxAnswer:
		return fmt.Errorf("the MaxAnswer is %d: want 1 to %d bytes", c.MaxAnswer, maxAnswer)
	case c.Timeout != 0 && c.Timeout < time.Millisecond:
		return fmt.Errorf("the Timeout is %v: want at least 1ms", c.Timeout)
	case c.Replicas < -1 || c.Replicas > 0 && replication.Setting{Replicas: c.Replicas}.Check() != nil:
		return fmt.Errorf("the number of Replicas is %d: want 1 or more, or -1 for none", c.Replicas)
	case c.Lease != 0 && c.Lease < 10*time.Millisecond:
		return fmt.Errorf("the Lease is %v: want at least 10ms", c.Lease)
	}
	return nil
}

// Codec is the format of answers.
func (s *Store) Codec() codec.Codec { return s.codec }

// Open makes the bucket for one action's answers.
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
