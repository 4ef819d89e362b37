package rediscache

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/replication"
)

// cleanings holds the moment of the last cleaning of each pattern. A moment is in microseconds of the server's Unix time, or
// more where that would not be later than the moment before.
//
// The moment of the last cleaning of all comes with every answer from Redis. So a node that has seen it knows all
// cleanings that had returned when its call began, and need not ask for them again until it changes.
type cleanings struct {
	moment uint64
	last   map[string]uint64 // by pattern; maxPatterns at most
}

// moment is the field, in the hash of patterns, of the last cleaning of all. No pattern looks like it.
const moment = "."

// momentBits is the number of bits of a moment that are used, of the 53 that Lua's numbers have.
const momentBits = 52

// maxPatterns bounds the patterns that are kept apart. Above it all are replaced by one that takes everything.
const maxPatterns = 10_000

// clean notes that a pattern was cleaned. Where what was noted before has gone, because the server was emptied, evicted it
// or came back with older data, everything is cleaned, since what was noted is unknown. ARGV: the pattern, or "" to repair that
// only; the latest moment that the caller knows of; maxPatterns.
//
// The first write, PERSIST, changes nothing. It needs no memory, so that a server without any runs the script to its end: a cleaning
// holds also while Redis is full.
//
// A script is atomic, and TIME in it is allowed since Redis 5 (https://redis.io/docs/latest/develop/programmability/eval-intro/).
var clean = replication.NewScript(`
local last = tonumber(redis.call('HGET', KEYS[1], '.') or '0') or 0
local known = tonumber(ARGV[2])
local whole = last > 0 and last >= known
if whole and ARGV[1] == '' then
	return redis.call('HGET', KEYS[1], '.')
end
local time = redis.call('TIME')
local moment = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1, known + 1))
redis.call('PERSIST', KEYS[1])
if not whole or redis.call('HLEN', KEYS[1]) > tonumber(ARGV[3]) then
	redis.call('DEL', KEYS[1])
	redis.call('HSET', KEYS[1], '**', moment)
end
if ARGV[1] ~= '' then
	redis.call('HSET', KEYS[1], ARGV[1], moment)
end
redis.call('HSET', KEYS[1], '.', moment)
return moment`)

func (s *Store) cleanedKey() string { return s.prefix + "cleaned" }

// note runs the script.
func (s *Store) note(ctx context.Context, c *connection, pattern string) error {
	limited, cancel := s.limited(ctx)
	defer cancel()
	arguments := []string{pattern, strconv.FormatUint(s.seen.Load(), 10), strconv.Itoa(maxPatterns)}
	results, unconfirmed := c.primary.Run(limited, clean, replication.Call{Keys: []string{s.cleanedKey()}, Args: arguments})
	text, err := results[0].ToString()
	if err != nil {
		return s.outcome(ctx, err)
	}
	at, err := strconv.ParseUint(text, 10, momentBits)
	if err != nil {
		return errors.Join(fmt.Errorf("rediscache: %s has the moment %.100q: %w", s.cleanedKey(), text, errSpoiled), s.forget(ctx, c))
	}
	s.see(at) // a replica that takes over without the cleaning has everything cleaned by the nodes that have seen it
	if unconfirmed != nil {
		return fmt.Errorf("rediscache: Redis at %s: %w", s.address.Name, unconfirmed)
	}
	return nil
}

// see remembers the latest moment. A server that knows of none so late has lost what it knew.
func (s *Store) see(at uint64) {
	for {
		latest := s.seen.Load()
		if at <= latest || s.seen.CompareAndSwap(latest, at) {
			return
		}
	}
}

// Invalidate forgets the answers of the actions that the pattern takes, for all nodes. It asks Redis even where that failed just
// now. A cleaning that fails is made up for before this store reads from Redis again; until one of its nodes has done so,
// other nodes find the answers.
//
// It returns when replicas have it too: see Replicas of [Config]. Where too few confirm it in time, the error reports that, and the
// cleaning holds for as long as none of them takes over.
func (s *Store) Invalidate(ctx context.Context, pattern string) error {
	c, err := s.connected(ctx)
	if err == nil {
		err = s.note(ctx, c, pattern)
	}
	if err != nil && !isUnconfirmed(err) {
		s.missedCleanings.add(pattern)
	}
	return err
}

// isUnconfirmed reports whether an error means that the server has a cleaning, but its replicas may not. This node needs to
// make up for nothing, as it has seen it.
func isUnconfirmed(err error) bool {
	_, is := errors.AsType[*replication.Unconfirmed](err)
	return is
}

// age is the moment of the last cleaning of an action, given the moment of the last cleaning of all.
func (p *actionCache) age(ctx context.Context, c *connection, moment uint64) (uint64, error) {
	if known := p.known.Load(); known != nil && known.moment == moment && moment >= p.store.seen.Load() {
		return known.age, nil
	}
	all, err := p.store.learn(ctx, c, moment)
	if err != nil {
		return 0, err
	}
	known := &knownAge{moment: all.moment}
	for pattern, at := range all.last {
		if names.Match(pattern, p.action) {
			known.age = max(known.age, at)
		}
	}
	p.known.Store(known)
	return known.age, nil
}

// knownAge is the known moment of the last cleaning of an action, as of a moment.
type knownAge struct{ moment, age uint64 }

// learn returns the cleanings up to a moment, or a later one.
func (s *Store) learn(ctx context.Context, c *connection, moment uint64) (*cleanings, error) {
	s.learning.Lock()
	defer s.learning.Unlock()
	latest := s.seen.Load()
	switch have := s.cleanings.Load(); {
	case have != nil && have.moment == moment && moment >= latest:
		return have, nil
	case s.isBackingOff(): // since others waited for learning
		return nil, errBackingOff
	}
	// An earlier moment than what is known was overtaken on its way; or the server has lost what it knew.
	all, err := s.fetch(ctx, c)
	if errors.Is(err, errSpoiled) {
		return nil, errors.Join(err, s.forget(ctx, c))
	}
	if err == nil && (all.moment == 0 || all.moment < latest) {
		if err = s.note(ctx, c, ""); err == nil || isUnconfirmed(err) {
			all, err = s.fetch(ctx, c)
		}
	}
	if err != nil {
		return nil, err
	}
	s.see(all.moment)
	s.cleanings.Store(all)
	return all, nil
}

func (s *Store) fetch(ctx context.Context, c *connection) (*cleanings, error) {
	limited, cancel := s.limited(ctx)
	defer cancel()
	fields, err := c.Do(limited, c.B().Hgetall().Key(s.cleanedKey()).Build()).AsStrMap()
	if said, ok := rueidis.IsRedisErr(err); ok && strings.HasPrefix(said.Error(), "WRONGTYPE") {
		return nil, fmt.Errorf("rediscache: %s is not a hash: %w", s.cleanedKey(), errSpoiled)
	}
	if err != nil {
		return nil, s.outcome(ctx, err)
	}
	all, err := parse(fields)
	if err != nil {
		return nil, fmt.Errorf("rediscache: %s has %w: %w", s.cleanedKey(), err, errSpoiled)
	}
	return all, nil
}

// errSpoiled is wrapped in errors about a hash of patterns that no cache has written.
var errSpoiled = errors.New("no cache has written that; everything is cleaned")

// forget removes the hash of patterns, which cleans everything once it is missed.
func (s *Store) forget(ctx context.Context, c *connection) error {
	limited, cancel := s.limited(ctx)
	defer cancel()
	s.seen.Store(0)
	return s.outcome(ctx, c.Do(limited, c.B().Del().Key(s.cleanedKey()).Build()).Error())
}

func parse(fields map[string]string) (*cleanings, error) {
	if len(fields) > maxPatterns+10 {
		return nil, fmt.Errorf("%d fields", len(fields))
	}
	all := &cleanings{last: make(map[string]uint64, len(fields))}
	for pattern, text := range fields {
		at, err := strconv.ParseUint(text, 10, momentBits)
		if err != nil {
			return nil, fmt.Errorf("the moment %.100q", text)
		}
		if pattern == moment {
			all.moment = at
			continue
		}
		if names.CheckPattern(pattern) != nil {
			return nil, fmt.Errorf("the pattern %.100q", pattern)
		}
		all.last[pattern] = at
	}
	return all, nil
}

// missedCleanings are the patterns whose cleaning has failed. They are cleaned before the store reads from Redis again.
type missedCleanings struct {
	count    atomic.Int32
	mu       sync.Mutex
	patterns map[string]bool
}

// maxMissed bounds the patterns; above it they are replaced by one that takes everything.
const maxMissed = 100

func (d *missedCleanings) any() bool { return d.count.Load() > 0 }

func (d *missedCleanings) add(pattern string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.patterns == nil || len(d.patterns) >= maxMissed {
		if d.patterns != nil {
			pattern = "**"
		}
		d.patterns = make(map[string]bool)
	}
	d.patterns[pattern] = true
	d.count.Store(int32(len(d.patterns)))
}

// repeatMissed cleans the patterns whose cleaning has failed. Other calls wait meanwhile, as they could find old answers.
func (s *Store) repeatMissed(ctx context.Context, c *connection) error {
	d := &s.missedCleanings
	d.mu.Lock()
	defer d.mu.Unlock()
	for pattern := range d.patterns {
		if s.isBackingOff() { // since others waited for mu
			return errBackingOff
		}
		if err := s.note(ctx, c, pattern); err != nil && !isUnconfirmed(err) {
			return err
		}
		delete(d.patterns, pattern)
		d.count.Store(int32(len(d.patterns)))
	}
	return nil
}
