package policy

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
)

// InMemory makes a store in this process for a number of answers, as [NewCache] has one by itself. When it is full, an
// answer that is not asked for often is removed for it (W-TinyLFU, https://arxiv.org/abs/1512.00727). Answers that expired, or
// were cleaned, are never given out, but take up their place until they are replaced or removed. It has no goroutines.
func InMemory(maxEntries int) Store {
	return &memory{
		start:   time.Now(),
		entries: otter.Must(&otter.Options[uint64, *memoryEntry]{MaximumSize: max(maxEntries, 1), Executor: inPlace}),
		places:  make(map[placeName]*memoryPlace),
	}
}

// memory finds entries by a hash of place and key. The entry holds the key itself: should two keys ever have one hash,
// they displace each other, and neither is answered with the other's answer.
type memory struct {
	start   time.Time
	entries *otter.Cache[uint64, *memoryEntry]
	mu      sync.Mutex
	places  map[placeName]*memoryPlace
}

type placeName struct{ action, form string }

type memoryEntry struct {
	place   *memoryPlace
	age     uint64 // of the place when the answer began to be worked out
	expires time.Duration
	key     string
	answer  any
}

type memoryPlace struct {
	store *memory
	seed  maphash.Seed
	age   atomic.Uint64 // one more with each cleaning, which puts all older entries out of reach at once
}

// maxPlaces bounds the places, for nodes that call ever new actions of other nodes. What has none is not kept.
const maxPlaces = 100_000

func (m *memory) Codec() codec.Codec { return nil }

func (m *memory) Open(action, form string) Place {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := placeName{action, form}
	p := m.places[name]
	if p != nil {
		return p
	}
	if len(m.places) >= maxPlaces {
		return noPlace{}
	}
	p = &memoryPlace{store: m, seed: maphash.MakeSeed()}
	m.places[name] = p
	return p
}

func (m *memory) Clean(_ context.Context, pattern string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, p := range m.places {
		if sabir.MatchPattern(pattern, name.action) {
			p.age.Add(1)
		}
	}
	return nil
}

func (p *memoryPlace) Get(_ context.Context, key []byte) (Kept, error) {
	age := p.age.Load()
	e, ok := p.store.entries.GetIfPresent(maphash.Bytes(p.seed, key))
	if !ok || e.place != p || e.age != age || e.key != string(key) || time.Since(p.store.start) >= e.expires {
		return Kept{Age: age}, nil
	}
	return Kept{Answer: e.answer, Found: true, Age: age}, nil
}

func (p *memoryPlace) Set(_ context.Context, key []byte, answer any, ttl time.Duration, age uint64) error {
	if p.age.Load() != age {
		return nil // no call would find it, and it would take the place of one that is good
	}
	p.store.entries.Set(maphash.Bytes(p.seed, key), &memoryEntry{
		place: p, age: age, expires: time.Since(p.store.start) + ttl, key: string(key), answer: answer,
	})
	return nil
}

// noPlace keeps nothing.
type noPlace struct{}

func (noPlace) Get(context.Context, []byte) (Kept, error)                     { return Kept{}, nil }
func (noPlace) Set(context.Context, []byte, any, time.Duration, uint64) error { return nil }

// inPlace runs otter's upkeep on the goroutine that made it necessary, so that a store has no goroutines to stop.
func inPlace(fn func()) { fn() }
