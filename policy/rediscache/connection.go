package rediscache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/rueidis"
)

var (
	errClosed  = errors.New("rediscache: the store is closed")
	errResting = errors.New("rediscache: Redis failed just now and is left alone for a second")
)

var epoch = time.Now()

// connects completes the options of connections.
func (s *Store) connects() {
	o := &s.options
	o.Dialer.Timeout = s.timeout
	o.Dialer.KeepAlive = time.Second // pings too, while answers are awaited
	o.ConnWriteTimeout = s.timeout   // how long a ping may go without an answer
	o.ForceSingleClient = true
	o.PipelineMultiplex = -1 // one connection: commands of all callers share writes
	o.DisableRetry = true
	o.ClientSetInfo = rueidis.DisableClientSetInfo
	o.ClientName = "sabir-cache"
}

// ready is the connection for answers, unless Redis failed just now.
func (s *Store) ready(ctx context.Context) (rueidis.Client, error) {
	if s.isResting() {
		return nil, errResting
	}
	c, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	if s.debts.any() {
		return c, s.pay(ctx, c)
	}
	return c, nil
}

func (s *Store) isResting() bool { return int64(time.Since(epoch)) < s.rest.Load() }

func (s *Store) connected(ctx context.Context) (rueidis.Client, error) {
	if c := s.answers.Load(); c != nil {
		return *c, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.answers.Load(); c != nil {
		return *c, nil
	}
	switch {
	case s.closed:
		return nil, errClosed
	case s.isResting(): // since another waited for mu
		return nil, errResting
	}
	// Nothing is cached in this process: nobody would know in time that it was cleaned.
	options := s.options
	options.DisableCache = true
	c, err := rueidis.NewClient(options)
	if err != nil {
		return nil, s.outcome(ctx, err)
	}
	s.answers.Store(&c)
	return c, nil
}

// watching is the connection that is told when locks end.
func (s *Store) watching(ctx context.Context) (rueidis.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errClosed
	case s.watcher != nil:
		return s.watcher, nil
	}
	options := s.options
	options.CacheSizeEachConn = 4 << 20
	options.OnInvalidations = s.bells.ring
	c, err := rueidis.NewClient(options)
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
// caller's own: when that has ended, the error says nothing about Redis.
//
// A late reply alone does not have it left alone: while others come in time, it is this process that is busy.
func (s *Store) outcome(ctx context.Context, err error) error {
	now := time.Since(epoch)
	if err == nil {
		s.heard.Store(int64(now))
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
	case late && now-time.Duration(s.heard.Load()) < s.timeout:
	default:
		s.rest.Store(int64(now + resting))
	}
	if late {
		return fmt.Errorf("rediscache: Redis at %s did not answer within %v", s.address, s.timeout)
	}
	return fmt.Errorf("rediscache: Redis at %s: %w", s.address, err)
}
