package policy

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/names"
)

// InMemory makes a store in this process for a number of answers, as a [Cache] has by default. When it is full, an
// answer that is not asked for often is removed for it (W-TinyLFU, https://arxiv.org/abs/1512.00727). Answers that expired, or
// were invalidated, are never given out, but use memory until they are replaced or removed. It has no goroutines.
func InMemory(maxEntries int) Store {
	return &memory{
		start:   time.Now(),
		entries: otter.Must(&otter.Options[uint64, *memoryEntry]{MaximumSize: max(maxEntries, 1), Executor: inPlace}),
		buckets: make(map[bucketName]*memoryBucket),
	}
}

// memory finds entries by a hash of bucket and key. The entry holds the key itself: should two keys ever have one hash,
// they displace each other, and neither is answered with the other's answer.
type memory struct {
	start   time.Time
	entries *otter.Cache[uint64, *memoryEntry]
	mu      sync.Mutex
	buckets map[bucketName]*memoryBucket
}

type bucketName struct{ action, form string }

type memoryEntry struct {
	bucket     *memoryBucket
	generation uint64 // of the bucket when the answer began to be worked out
	expires    time.Duration
	key        string
	answer     any
}

type memoryBucket struct {
	store      *memory
	seed       maphash.Seed
	generation atomic.Uint64 // one more with each invalidation, which puts all older entries out of reach at once
}

// maxBuckets bounds the buckets, for nodes that call ever new actions of other nodes. What has none is not kept.
const maxBuckets = 100_000

func (m *memory) Codec() codec.Codec { return nil }

func (m *memory) Open(action, form string) Bucket {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := bucketName{action, form}
	p := m.buckets[name]
	if p != nil {
		return p
	}
	if len(m.buckets) >= maxBuckets {
		return noBucket{}
	}
	p = &memoryBucket{store: m, seed: maphash.MakeSeed()}
	m.buckets[name] = p
	return p
}

func (m *memory) Invalidate(_ context.Context, pattern string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, p := range m.buckets {
		if names.Match(pattern, name.action) {
			p.generation.Add(1)
		}
	}
	return nil
}

func (p *memoryBucket) Get(_ context.Context, key []byte) (Entry, error) {
	generation := p.generation.Load()
	e, ok := p.store.entries.GetIfPresent(maphash.Bytes(p.seed, key))
	if !ok || e.bucket != p || e.generation != generation || e.key != string(key) || time.Since(p.store.start) >= e.expires {
		return Entry{Generation: generation}, nil
	}
	return Entry{Answer: e.answer, Found: true, Generation: generation}, nil
}

func (p *memoryBucket) Set(_ context.Context, key []byte, answer any, ttl time.Duration, generation uint64) error {
	if p.generation.Load() != generation {
		return nil // no call would find it, and it would push out one that is good
	}
	p.store.entries.Set(maphash.Bytes(p.seed, key), &memoryEntry{
		bucket: p, generation: generation, expires: time.Since(p.store.start) + ttl, key: string(key), answer: answer,
	})
	return nil
}

// noBucket keeps nothing.
type noBucket struct{}

func (noBucket) Get(context.Context, []byte) (Entry, error)                    { return Entry{}, nil }
func (noBucket) Set(context.Context, []byte, any, time.Duration, uint64) error { return nil }

// inPlace runs otter's upkeep on the goroutine that made it necessary, so that a store has no goroutines to stop.
func inPlace(fn func()) { fn() }
