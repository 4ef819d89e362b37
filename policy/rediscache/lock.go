package rediscache

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/redis"
	"github.com/sabir-go/sabir/policy"
)

// A lock is a key with a random value that only its holder knows, and a time to live, as
// https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/ has it for one server.
//
// The invariant: of two that took themselves for the holder at once, one keeps its answer. Two there can be, when a lease ends
// under a holder that is late, or when a replica takes over that has not got the lock. So an answer is set by a script, only
// while the lock has its holder's value: what the server has lost cannot let both in, as the check and the answer are one step of
// one server's history. That replicas have the lock before its holder begins saves the work of a second one, and nothing more.

var (
	release = rueidis.NewLuaScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)
	prolong = rueidis.NewLuaScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`)
	// set keeps an answer. KEYS: answer, lock. ARGV: the holder's value, answer, milliseconds to live.
	set = rueidis.NewLuaScript(`if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) return 1`)
)

// errSuperseded is the error of set when the lock under which the handler worked has ended since.
var errSuperseded = errors.New("rediscache: the answer is not kept: its lock ended, or was lost with a server, before the handler returned")

// set keeps an answer that was worked out under the lock.
func (l *lock) set(ctx, limited context.Context, c *connection, key, data string, ttl time.Duration) error {
	done, err := set.Exec(limited, c, []string{key, l.key}, []string{l.token, data, strconv.FormatInt(ttl.Milliseconds(), 10)}).AsInt64()
	if err = l.store.outcome(ctx, err); err == nil && done == 0 {
		return errSuperseded
	}
	return err
}

// Lock looks for an answer and, in the same exchange, tries to become the call that works it out. While another is that, it
// waits for a notification, and looks again.
func (p *actionCache) Lock(ctx context.Context, key []byte) (policy.Entry, func(), error) {
	s := p.store
	name := p.named(key)
	l := &lock{actionCache: p, store: s, name: name, key: p.locks + name, token: rand.Text()}
	for {
		kept, held, err := p.try(ctx, l, name)
		switch {
		case err != nil:
			return policy.Entry{}, nil, err
		case held && kept.Found: // it came between the first look and this one
			l.free()
			return kept, func() {}, nil
		case held:
			l.keep()
			return kept, l.free, nil
		case kept.Found:
			return kept, func() {}, nil
		}
		if err := s.await(ctx, l.key); err != nil {
			return policy.Entry{}, nil, err
		}
	}
}

func (p *actionCache) try(ctx context.Context, l *lock, name string) (kept policy.Entry, held bool, err error) {
	c, err := p.store.ready(ctx)
	if err != nil {
		return kept, false, err
	}
	limited, cancel := p.store.limited(ctx)
	defer cancel()
	set := c.B().Set().Key(l.key).Value(l.token).Nx().Px(p.store.lease).Build()
	replies := p.store.locking(limited, c, set, p.cleaned(c.B()), p.answer(c.B(), name))
	err = replies[0].Error()
	if err != nil && !rueidis.IsRedisNil(err) {
		l.release() // the server may have it all the same
		return kept, false, p.store.outcome(ctx, err)
	}
	held = err == nil
	kept, err = p.kept(ctx, c, replies[1], replies[2])
	if err != nil && held {
		l.free()
	}
	return kept, held, err
}

// locking sends commands that try to lock, and has replicas confirm them. Where they do not, the holder goes on all the same, and
// others do not wait for them for a second.
func (s *Store) locking(ctx context.Context, c *connection, commands ...rueidis.Completed) []rueidis.RedisResult {
	if int64(time.Since(epoch)) < s.unconfirmedUntil.Load() {
		return c.DoMulti(ctx, commands...)
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout/2)
	defer cancel()
	replies, unconfirmed := c.primary.Do(ctx, commands...)
	if unconfirmed != nil {
		s.unconfirmedUntil.Store(int64(time.Since(epoch) + backOff))
	}
	return replies
}

// lock is one attempt at a lock, or the lock itself.
type lock struct {
	actionCache *actionCache
	store       *Store
	name        string // of the answer
	key, token  string

	mu    sync.Mutex
	freed bool
	timer *time.Timer // keeps it from ending while its holder works
}

func (l *lock) keep() {
	l.actionCache.mu.Lock()
	l.actionCache.held[l.name] = l
	l.actionCache.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(l.store.lease/3, func() {
		l.store.inBackground(l.prolong)
	})
}

func (l *lock) prolong(ctx context.Context) {
	if c, err := l.store.ready(ctx); err == nil {
		lease := l.store.lease.Milliseconds()
		prolong.Exec(ctx, c, []string{l.key}, []string{l.token, strconv.FormatInt(lease, 10)})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.freed {
		l.timer.Reset(l.store.lease / 3)
	}
}

// free lets go of the lock, without waiting until Redis has received it.
func (l *lock) free() {
	l.actionCache.mu.Lock()
	if l.actionCache.held[l.name] == l {
		delete(l.actionCache.held, l.name)
	}
	l.actionCache.mu.Unlock()
	l.mu.Lock()
	l.freed = true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.mu.Unlock()
	l.release()
}

// maxUnreleased bounds the locks that a store asks Redis again to release. Further ones end with their leases.
const maxUnreleased = 1000

// release has Redis forget the lock, and asks again while that is not reached: a Redis that stood still may do what it was told before.
func (l *lock) release() {
	l.store.inBackground(func(ctx context.Context) {
		c, err := l.store.ready(ctx)
		if err == nil {
			err = release.Exec(ctx, c, []string{l.key}, []string{l.token}).Error()
		}
		if why := redis.RefusalOf(err); err == nil || why != redis.NoRefusal && why != redis.NotReady {
			return
		}
		if l.store.unreleased.Add(1) > maxUnreleased {
			l.store.unreleased.Add(-1)
			return
		}
		time.AfterFunc(backOff, func() {
			l.store.unreleased.Add(-1)
			l.release()
		})
	})
}

// await returns when the lock may be free, at the latest when its lease ends unless its holder prolongs it.
//
// Nothing asks again and again: the server remembers which connection has read a key, and notifies it when it changes, expires
// or is evicted (https://redis.io/docs/latest/develop/reference/client-side-caching/).
func (s *Store) await(ctx context.Context, key string) error {
	c, err := s.watching(ctx)
	if err != nil {
		return err
	}
	b := s.lockWaiters.listen(key) // before reading, so that no change is missed
	defer s.lockWaiters.leave(key, b)
	limited, cancel := s.limited(ctx)
	reply := c.DoCache(limited, c.B().Get().Key(key).Cache(), s.lease)
	cancel()
	if err := reply.Error(); err != nil {
		if rueidis.IsRedisNil(err) {
			return nil
		}
		return s.outcome(ctx, err)
	}
	left := s.lease
	if milliseconds := reply.CachePTTL(); milliseconds > 0 {
		left = min(left, time.Duration(milliseconds)*time.Millisecond)
	}
	end := time.NewTimer(left)
	defer end.Stop()
	select {
	case <-b.released:
	case <-end.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// lockWaiters has the keys of locks whose end callers of this process wait for, at most one for each call.
type lockWaiters struct {
	mu      sync.Mutex
	ringing map[string]*lockWaiter
}

type lockWaiter struct {
	released  chan struct{}
	listeners int
}

func (b *lockWaiters) listen(key string) *lockWaiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.ringing[key]
	if one == nil {
		one = &lockWaiter{released: make(chan struct{})}
		b.ringing[key] = one
	}
	one.listeners++
	return one
}

func (b *lockWaiters) leave(key string, one *lockWaiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one.listeners--
	if one.listeners == 0 && b.ringing[key] == one {
		delete(b.ringing, key)
	}
}

// notify wakes the callers that wait for the keys, which the server reports as changed. Nil keys wake all: the connection was
// lost, and with it what the server would have sent.
func (b *lockWaiters) notify(keys []rueidis.RedisMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if keys == nil {
		for key, one := range b.ringing {
			close(one.released)
			delete(b.ringing, key)
		}
		return
	}
	for _, message := range keys {
		key, err := message.ToString()
		if one := b.ringing[key]; err == nil && one != nil {
			close(one.released)
			delete(b.ringing, key)
		}
	}
}
