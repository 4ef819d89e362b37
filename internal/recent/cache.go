// Package recent remembers what was worked out for names that come from outside: there is no bound to how many there are, and
// most are asked for again and again.
package recent

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Cache remembers values by key, at most as many as its limit. Where there are more, those go that were not asked for lately,
// whenever they came: so keys that come once, however many, neither grow it nor keep out those that come later and stay.
//
// Get of what is there for a while takes no lock and allocates nothing. All methods may be called from any number of goroutines.
type Cache[K comparable, V any] struct {
	limit int
	known atomic.Pointer[map[K]*entry[V]] // replaced as a whole, never changed

	mu    sync.Mutex
	fresh map[K]*entry[V] // what came since known was made
	asked int             // how often something of fresh was asked for
}

type entry[V any] struct {
	value V
	used  atomic.Bool // since known was made
}

// alwaysMerged is up to how many entries known is replaced for every new one: copying so little costs less than the lock that
// every Get of a fresh one takes.
const alwaysMerged = 64

// New makes a Cache for at most limit entries, and at least one.
func New[K comparable, V any](limit int) *Cache[K, V] {
	c := &Cache[K, V]{limit: max(limit, 1), fresh: map[K]*entry[V]{}}
	c.known.Store(&map[K]*entry[V]{})
	return c
}

// Get finds the value of key.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	e := (*c.known.Load())[key]
	if e == nil {
		if e = c.getFresh(key); e == nil {
			return value, false
		}
	}
	if !e.used.Load() { // else every Get would invalidate the entry's memory in the other processors' caches
		e.used.Store(true)
	}
	return e.value, true
}

func (c *Cache[K, V]) getFresh(key K) *entry[V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.fresh[key]
	if e == nil {
		return (*c.known.Load())[key] // merged in the meantime
	}
	if c.asked++; c.asked >= len(*c.known.Load()) {
		c.merge()
	}
	return e
}

// Add remembers value for key where nothing is remembered yet, and returns what is remembered now.
func (c *Cache[K, V]) Add(key K, value V) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := *c.known.Load()
	if e := known[key]; e != nil {
		return e.value
	}
	if e := c.fresh[key]; e != nil {
		return e.value
	}
	c.fresh[key] = &entry[V]{value: value}
	if len(known) < alwaysMerged || len(c.fresh) > len(known)/4 {
		c.merge()
	}
	return value
}

// merge makes the next known, without what was not asked for since the last where there is too much. It runs under mu.
func (c *Cache[K, V]) merge() {
	next := maps.Clone(*c.known.Load())
	most := max(c.limit-c.limit/4, 1) // the rest is for what is fresh
	over := len(next) + len(c.fresh) - most
	for key, e := range next {
		if over <= 0 {
			break
		}
		if !e.used.Swap(false) {
			delete(next, key)
			over--
		}
	}
	for key := range next { // all that are left were asked for
		if over <= 0 {
			break
		}
		delete(next, key)
		over--
	}
	for key, e := range c.fresh {
		if len(next) >= most {
			break
		}
		next[key] = e
	}
	c.known.Store(&next)
	clear(c.fresh)
	c.asked = 0
}

// HalfFull reports whether half as many entries as the limit, or more, have been there for a while.
func (c *Cache[K, V]) HalfFull() bool { return len(*c.known.Load()) >= c.limit/2 }

// Clear forgets everything.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known.Store(&map[K]*entry[V]{})
	clear(c.fresh)
	c.asked = 0
}

// DeleteFunc forgets the entries for which del returns true. It must not use the cache.
func (c *Cache[K, V]) DeleteFunc(del func(K, V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gone := func(key K, e *entry[V]) bool { return del(key, e.value) }
	maps.DeleteFunc(c.fresh, gone)
	known := *c.known.Load()
	var next map[K]*entry[V]
	for key, e := range known {
		if !gone(key, e) {
			continue
		}
		if next == nil {
			next = maps.Clone(known)
		}
		delete(next, key)
	}
	if next != nil {
		c.known.Store(&next)
	}
}

// Len is the number of entries.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(*c.known.Load()) + len(c.fresh)
}

// All calls yield for every entry until it returns false. Entries that come in the meantime may be left out.
func (c *Cache[K, V]) All(yield func(K, V) bool) {
	c.mu.Lock()
	known, fresh := *c.known.Load(), maps.Clone(c.fresh)
	c.mu.Unlock()
	for _, entries := range []map[K]*entry[V]{known, fresh} {
		for key, e := range entries {
			if !yield(key, e.value) {
				return
			}
		}
	}
}
