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
	"github.com/sabir-go/sabir/policy"
)

// Store is a [policy.Store] in Redis. One serves any number of caches, and many goroutines at once.
type Store struct {
	prefix  string
	address string
	options rueidis.ClientOption
	tls     *tls.Config
	codec   codec.Codec
	limit   int
	timeout time.Duration
	lease   time.Duration

	mu      sync.Mutex // held while connecting
	closed  bool
	answers atomic.Pointer[rueidis.Client] // sends everything but waits for locks
	watcher rueidis.Client                 // is told when locks end
	rest    atomic.Int64                   // Redis is left alone until then, in nanoseconds since epoch
	heard   atomic.Int64                   // when a reply came last, in nanoseconds since epoch
	behind  sync.WaitGroup                 // what goes on after its call has returned

	cleanings atomic.Pointer[cleanings]
	seen      atomic.Uint64 // the latest moment of a cleaning
	learning  sync.Mutex    // held while cleanings is replaced
	debts     debts
	bells     bells
}

// Option is an option of [Open].
type Option func(*Store)

// Format is the codec in which answers are kept; the native one without it, which is the smallest and fastest. Types
// that it cannot write, such as those with interfaces of types that were not registered, are not cached; JSON takes more.
// All nodes must use the same: answers in different formats are kept apart.
func Format(c codec.Codec) Option { return func(s *Store) { s.codec = c } }

// TLS is the configuration for rediss:// addresses. Without it the server needs a certificate that the system trusts.
func TLS(config *tls.Config) Option { return func(s *Store) { s.tls = config } }

// MaxAnswer is how many bytes an answer may have; 1 MiB without it. Larger ones are not kept, and not read.
func MaxAnswer(bytes int) Option { return func(s *Store) { s.limit = bytes } }

// Timeout is how long a call waits for Redis to answer before it does without; 500 ms without it. When Redis has answered
// nobody for so long, or cannot be reached, it is left alone for a second, in which calls do not wait at all.
func Timeout(d time.Duration) Option { return func(s *Store) { s.timeout = d } }

// Lease is how long other nodes wait for one that works out an answer and was lost; 5 s without it. One that is there may
// take longer.
func Lease(d time.Duration) Option { return func(s *Store) { s.lease = d } }

const (
	defaultLimit   = 1 << 20
	defaultTimeout = 500 * time.Millisecond
	defaultLease   = 5 * time.Second
	resting        = time.Second
	maxLimit       = 256 << 20
)

// Open makes the store of an application in the Redis at a URL, as in the package's description. Nodes with the same name
// share answers, so the name should tell one cluster from others that use the same Redis: letters, digits, "_", "-" and
// dots, 100 at most. Redis need not be there yet. The caller must Close the store when no node uses it any more.
func Open(url, name string, options ...Option) (*Store, error) {
	format, _ := codec.Lookup(native.Name)
	s := &Store{prefix: name + ":", codec: format, bells: bells{ringing: make(map[string]*bell)}, limit: defaultLimit, timeout: defaultTimeout, lease: defaultLease}
	for _, o := range options {
		o(s)
	}
	if err := s.check(name); err != nil {
		return nil, fmt.Errorf("rediscache: %w", err)
	}
	if err := s.read(url); err != nil {
		return nil, fmt.Errorf("rediscache: %w", err)
	}
	s.connects()
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
	case s.lease < 10*time.Millisecond:
		return fmt.Errorf("Lease(%v): want at least 10ms", s.lease)
	}
	return nil
}

// Codec is the format of answers.
func (s *Store) Codec() codec.Codec { return s.codec }

// Open makes the place for one action's answers.
func (s *Store) Open(action, form string) policy.Place {
	return &place{store: s, action: action, form: form,
		answers: s.prefix + "answer:" + action + ":", locks: s.prefix + "lock:" + action + ":"}
}

// Close ends the connections. What goes on then fails, as if Redis were not there.
func (s *Store) Close() {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	s.behind.Wait()
	if !first {
		return
	}
	if c := s.answers.Load(); c != nil {
		(*c).Close()
	}
	if s.watcher != nil {
		s.watcher.Close()
	}
}

// later runs what no caller waits for. Close waits for it.
func (s *Store) later(run func(ctx context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.behind.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
		defer cancel()
		run(ctx)
	})
}
