package rediscache

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/busypoll"
	"github.com/sabir-go/sabir/internal/replication"
)

var (
	errClosed     = errors.New("rediscache: the store is closed")
	errBackingOff = errors.New("rediscache: Redis failed just now and is left alone for a second")
)

var epoch = time.Now()

// connection is the one for answers.
type connection struct {
	rueidis.Client
	looking atomic.Int32         // callers that look for answers now
	primary *replication.Primary // for what replicas should have before it counts
}

// options apply to both connections.
func (s *Store) options() rueidis.ClientOption {
	o := s.address.Options()
	o.Dialer.Timeout = s.timeout
	o.Dialer.KeepAlive = time.Second // pings too, while answers are awaited
	o.ConnWriteTimeout = s.timeout   // how long a ping may go without an answer
	o.PipelineMultiplex = -1         // one connection: commands of all callers share writes
	o.ClientSetInfo = rueidis.DisableClientSetInfo
	o.ClientName = "sabir-cache"
	o.DialCtxFn = dial
	return o
}

// dial makes a connection that is read without sleeping where answers come within microseconds, as from a server on the same machine.
func dial(ctx context.Context, server string, dialer *net.Dialer, encryption *tls.Config) (net.Conn, error) {
	if encryption != nil {
		return (&tls.Dialer{NetDialer: dialer, Config: encryption}).DialContext(ctx, "tcp", server)
	}
	conn, err := dialer.DialContext(ctx, "tcp", server)
	if err != nil {
		return nil, err
	}
	return &polledConn{conn, busypoll.NewReader(conn)}, nil
}

type polledConn struct {
	net.Conn
	reader *busypoll.Reader
}

func (c *polledConn) Read(p []byte) (int, error) { return c.reader.Read(p) }

// ready is the connection for answers, unless Redis failed just now.
func (s *Store) ready(ctx context.Context) (*connection, error) {
	if s.isBackingOff() {
		return nil, errBackingOff
	}
	c, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	if s.missedCleanings.any() {
		return c, s.repeatMissed(ctx, c)
	}
	return c, nil
}

func (s *Store) isBackingOff() bool { return int64(time.Since(epoch)) < s.backOffUntil.Load() }

func (s *Store) connected(ctx context.Context) (*connection, error) {
	if c := s.answers.Load(); c != nil {
		return c, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.answers.Load(); c != nil {
		return c, nil
	}
	switch {
	case s.closed:
		return nil, errClosed
	case s.isBackingOff(): // since another waited for mu
		return nil, errBackingOff
	}
	client, err := s.address.Client(s.options())
	if err != nil {
		return nil, s.outcome(ctx, err)
	}
	limited, cancel := s.limited(ctx)
	defer cancel()
	primary, err := replication.Open(limited, client, s.address.Writes, s.prefix+"confirm", slog.New(slog.DiscardHandler)) // which of several servers is spoken of, only the caller knows
	if err != nil {
		client.Close()
		return nil, s.outcome(ctx, err)
	}
	c := &connection{Client: client, primary: primary}
	s.answers.Store(c)
	return c, nil
}

// watching is the connection that is notified when locks end.
func (s *Store) watching(ctx context.Context) (rueidis.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errClosed
	case s.watcher != nil:
		return s.watcher, nil
	}
	options := s.options()
	options.DisableCache, options.CacheSizeEachConn = false, 4<<20
	options.OnInvalidations = s.lockWaiters.notify
	c, err := s.address.Client(options)
	if err != nil {
		return nil, s.outcome(ctx, err)
	}
	s.watcher = c
	return c, nil
}

// limited is a context for one exchange with Redis.
func (s *Store) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout)
}

// outcome is the error of an exchange with Redis, in words, and has Redis left alone where it is not there. ctx is the
// caller's own: when that has ended, the error means nothing about Redis.
//
// A late reply alone does not have it left alone: while others come in time, it is this process that is busy.
func (s *Store) outcome(ctx context.Context, err error) error {
	now := time.Since(epoch)
	if err == nil {
		s.lastReply.Store(int64(now))
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	late := errors.Is(err, context.DeadlineExceeded)
	if limit, limited := ctx.Deadline(); late && limited && !time.Now().Before(limit) {
		return err // of ctx, which does not know it yet: its timer is late
	}
	said, ok := rueidis.IsRedisErr(err)
	switch {
	case ok && !said.IsLoading():
	case late && now-time.Duration(s.lastReply.Load()) < s.timeout:
	default:
		s.backOffUntil.Store(int64(now + backOff))
	}
	if late {
		return fmt.Errorf("rediscache: Redis at %s did not answer within %v", s.address.Name, s.timeout)
	}
	return fmt.Errorf("rediscache: Redis at %s: %w", s.address.Name, err)
}
