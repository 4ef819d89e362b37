package rediscache

import (
	"context"
	"crypto/rand"
	"strconv"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/policy"
)

// A lock is a key with a random value that only its holder knows, and a time to live, as
// https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/ has it for one server. It saves work; nothing
// depends on there being one holder: answers with an old age are not found, whoever sets them.

var (
	release = rueidis.NewLuaScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)
	prolong = rueidis.NewLuaScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`)
)

// Lock looks for an answer and, in the same exchange, tries to become the one who works it out. While another is that, it
// waits to be told, and looks again.
func (p *place) Lock(ctx context.Context, key []byte) (policy.Kept, func(), error) {
	s := p.store
	name := p.named(key)
	l := &lock{store: s, key: p.locks + name, token: rand.Text()}
	for {
		kept, held, err := p.try(ctx, l, name)
		switch {
		case err != nil:
			return policy.Kept{}, nil, err
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
			return policy.Kept{}, nil, err
		}
	}
}

func (p *place) try(ctx context.Context, l *lock, name string) (kept policy.Kept, held bool, err error) {
	c, err := p.store.ready(ctx)
	if err != nil {
		return kept, false, err
	}
	limited, cancel := p.store.limited(ctx)
	defer cancel()
	set := c.B().Set().Key(l.key).Value(l.token).Nx().Px(p.store.lease).Build()
	cleaned, answer := p.looking(c.B(), name)
	replies := c.DoMulti(limited, set, cleaned, answer)
	err = replies[0].Error()
	if err != nil && !rueidis.IsRedisNil(err) {
		return kept, false, p.store.outcome(ctx, err)
	}
	held = err == nil
	kept, err = p.kept(ctx, c, replies[1], replies[2])
	if err != nil && held {
		l.free()
	}
	return kept, held, err
}

// lock is one attempt at a lock, or the lock itself.
type lock struct {
	store      *Store
	key, token string

	mu    sync.Mutex
	freed bool
	timer *time.Timer // keeps it from ending while its holder works
}

func (l *lock) keep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(l.store.lease/3, func() {
		l.store.later(l.prolong)
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

// free lets go of the lock, without waiting until Redis has heard.
func (l *lock) free() {
	l.mu.Lock()
	l.freed = true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.mu.Unlock()
	l.store.later(func(ctx context.Context) {
		if c, err := l.store.ready(ctx); err == nil {
			release.Exec(ctx, c, []string{l.key}, []string{l.token})
		}
	})
}

// await returns when the lock may be free, at the latest when its lease ends unless its holder prolongs it.
//
// Nothing asks again and again: the server remembers who has read a key, and tells that connection when it changes, expires or
// is evicted (https://redis.io/docs/latest/develop/reference/client-side-caching/).
func (s *Store) await(ctx context.Context, key string) error {
	c, err := s.watching(ctx)
	if err != nil {
		return err
	}
	b := s.bells.listen(key) // before reading, so that no change is missed
	defer s.bells.leave(key, b)
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
	case <-b.rung:
	case <-end.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// bells is the keys that callers of this process wait for: no more than there are calls.
type bells struct {
	mu      sync.Mutex
	ringing map[string]*bell
}

type bell struct {
	rung      chan struct{}
	listeners int
}

func (b *bells) listen(key string) *bell {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.ringing[key]
	if one == nil {
		one = &bell{rung: make(chan struct{})}
		b.ringing[key] = one
	}
	one.listeners++
	return one
}

func (b *bells) leave(key string, one *bell) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one.listeners--
	if one.listeners == 0 && b.ringing[key] == one {
		delete(b.ringing, key)
	}
}

// ring is told which keys have changed; nil for any, as when the connection was lost.
func (b *bells) ring(keys []rueidis.RedisMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if keys == nil {
		for key, one := range b.ringing {
			close(one.rung)
			delete(b.ringing, key)
		}
		return
	}
	for _, message := range keys {
		key, err := message.ToString()
		if one := b.ringing[key]; err == nil && one != nil {
			close(one.rung)
			delete(b.ringing, key)
		}
	}
}
