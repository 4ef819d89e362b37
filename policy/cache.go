package policy

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
)

// Cache keeps answers of actions and answers later calls with them. One cache can serve many actions; [Cache.For] makes
// the middleware for one or more:
//
//	users := policy.NewCache(policy.MaxEntries(10_000))
//	sabir.Handle(s, "get", getUser, sabir.Use(users.For(policy.TTL(time.Minute), policy.Keys("id", "#tenant"))))
//	users.CleanOn(s, "user.*", "users.**")
//
// It may be used by many goroutines at once.
type Cache struct {
	store    Store
	entries  int
	problems []error

	cacheGroup *cacheGroup // what CleanTogether made
	mu         sync.Mutex
	places     map[placeName]*place
	lastWarned atomic.Int64 // when it was last logged that the store fails, in nanoseconds of Unix time
}

// CacheOption is an option of [NewCache].
type CacheOption func(*Cache)

// MaxEntries bounds the answers that the cache keeps in memory, of all actions together. Default: 10,000.
func MaxEntries(n int) CacheOption { return func(c *Cache) { c.entries = n } }

// KeptIn gives the cache a store of its own choosing instead of one in memory.
func KeptIn(store Store) CacheOption { return func(c *Cache) { c.store = store } }

// NewCache makes a cache.
func NewCache(options ...CacheOption) *Cache {
	c := &Cache{entries: 10_000, places: make(map[placeName]*place)}
	for _, o := range options {
		o(c)
	}
	s := settings{}
	s.want(c.entries >= 1, "MaxEntries(%d): want at least 1", c.entries)
	c.problems = s.problems
	if c.store == nil {
		c.store = InMemory(c.entries)
	}
	return c
}

// Clean forgets the answers of all actions whose full names the patterns take: "users.get", "users.*", "v2.users.**". A
// call that begins after Clean returned is not answered with what was worked out before: on this node, on all that share
// the store, and after [Cache.CleanTogether] on all that share the name. The error reports a pattern that is not valid, of
// a store that failed, or of nodes that were not reached; what can be cleaned is cleaned all the same.
func (c *Cache) Clean(ctx context.Context, patterns ...string) error {
	err := c.cleanHere(ctx, patterns)
	if c.cacheGroup == nil {
		return err
	}
	return errors.Join(err, c.cacheGroup.broadcast(ctx, patterns))
}

// cleanHere cleans the store, and so the nodes that share it.
func (c *Cache) cleanHere(ctx context.Context, patterns []string) error {
	var errs []error
	for _, pattern := range patterns {
		if err := sabir.CheckPattern(pattern); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, c.store.Clean(ctx, pattern))
	}
	return errors.Join(errs...)
}

// CleanOn cleans the cache by the patterns whenever an event comes that event takes, itself a pattern. Call it before the
// service starts; a pattern that is not valid keeps it from starting, or is logged when the event comes. Every
// service's and every node's cleaning receives the event, emitted or broadcast.
func (c *Cache) CleanOn(s *sabir.Service, event string, patterns ...string) {
	sabir.On(s, event, func(ctx context.Context, _ any) error {
		return c.cleanHere(ctx, patterns)
	}, sabir.InGroup("cache-"+sabir.NewRequestID()))
}

// CachedOption is an option of [Cache.For].
type CachedOption func(*cached)

// cached holds the options of For: how the answers of one or more actions are kept.
type cached struct {
	settings
	cache   *Cache
	ttl     time.Duration
	paths   []string
	enabled func(context.Context) bool
	asJSON  bool
	clone   func(any) any
	cloned  reflect.Type // what clone takes
}

// TTL sets how long an answer is good for. Default: a minute.
func TTL(d time.Duration) CachedOption {
	return func(c *cached) {
		c.want(d > 0, "TTL(%v): want a positive time", d)
		c.ttl = d
	}
}

// Keys names what an answer depends on: fields of the input by their JSON names, with dots for fields of fields
// ("filter.tag"), and the caller's metadata with a # ("#tenant"). Calls that agree in all of these share an answer.
// Without Keys it is the whole input, and no metadata.
//
// A name means the field that the JSON codec fills under it. A service whose paths name no field, or may name two, does
// not start. A path may lead into an any; a call whose value there the path cannot enter, such as a list, is neither
// answered nor kept.
func Keys(paths ...string) CachedOption {
	return func(c *cached) {
		c.want(len(paths) > 0, "Keys was given none; leave it out to take the whole input")
		c.paths = append(c.paths, paths...)
	}
}

// Enabled asks, for each call, whether it may be answered from the cache and its answer kept. It must be fast.
func Enabled(enabled func(context.Context) bool) CachedOption {
	return func(c *cached) {
		c.want(enabled != nil, "Enabled was given nil")
		c.enabled = enabled
	}
}

// Clone gives every caller an answer of its own that it may change, by keeping answers as JSON and reading them anew for
// each call. Fields that JSON leaves out are lost.
func Clone() CachedOption { return func(c *cached) { c.asJSON = true } }

// CloneWith is Clone with a function that copies an answer, for the actions whose answer is an Out.
func CloneWith[Out any](clone func(Out) Out) CachedOption {
	return func(c *cached) {
		c.want(clone != nil, "CloneWith was given nil")
		c.cloned = reflect.TypeFor[Out]()
		c.clone = func(answer any) any {
			if out, ok := answer.(Out); ok {
				return clone(out)
			}
			return answer
		}
	}
}

// For makes the middleware that keeps an action's answers in the cache. Used on several actions, each has its own
// answers.
//
// The input is validated before an answer is looked up. Of several calls with one key that find no answer, one runs the
// handler, and the others wait for its answer or its error, each as long as its own context allows. When that call's own
// context ends before it has an answer, one of those that wait takes over and runs the handler for the rest. A call
// nested in the one it would have to wait for does not wait.
//
// Errors are not kept. sabir.NoCache makes a call run the handler, and keeps the answer. The signals are sabir.CacheHit,
// and sabir.CacheMiss for each call that found no answer.
//
// An answer is copied shallowly for each caller: what it points to (slices, maps, pointers) is shared by all, and must not
// be changed, by the handler neither, unless [Clone] or [CloneWith] is given. Of an input, what it points to must not
// change during the call. A call whose input cannot be a key, because it refers to itself or holds a function in an
// interface, is neither answered nor kept.
func (c *Cache) For(options ...CachedOption) sabir.Middleware {
	k := &cached{settings: settings{name: "Cache", problems: slices.Clone(c.problems)}, cache: c, ttl: time.Minute}
	for _, o := range options {
		o(k)
	}
	k.want(!k.asJSON || k.clone == nil, "Clone and CloneWith exclude each other")
	return k.middleware(k.wrap)
}

func (c *cached) wrap(a *sabir.Action, next sabir.Handler) sabir.Handler {
	if strings.HasPrefix(a.Service, "$") { // what a node reports about itself must never be old
		return next
	}
	key, err := newKeys(a, c.paths)
	if err != nil {
		a.Refuse("policy.Cache: %w", err)
		return next
	}
	if c.cloned != nil {
		fits(a, "CloneWith copies", c.cloned, a.Out)
	}
	a.Note(sabir.CacheNote, c.ttl)
	way := &cachedAction{cached: c, action: a, key: key, next: next, codec: c.cache.store.Codec()}
	if way.codec == nil && c.asJSON {
		way.codec = jsonCodec
	}
	if a.In != nil {
		way.place = c.cache.open(a.Name, a.In, a.Out, c.paths, way.codec)
	}
	return way.call
}
