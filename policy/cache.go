package policy

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/requestid"
)

// Cache keeps answers of actions, and later calls get them from it. One cache can serve many actions; [Cached] puts it around
// one or more. The zero value is ready for use:
//
//	users := &policy.Cache{MaxEntries: 50_000}
//	sabir.Handle(s, "get", getUser, sabir.Use(policy.Cached{Cache: users, TTL: time.Minute, Keys: []string{"id", "#tenant"}}))
//	users.InvalidateOn(s, "user.*", "users.**")
//
// It may be used by many goroutines at once, and must not be copied after its first use.
type Cache struct {
	// MaxEntries bounds the answers that the cache keeps in memory, of all actions together. Default: 10,000.
	MaxEntries int
	// Store keeps the answers. Default: the memory of this process. It excludes MaxEntries: a store has its own bounds.
	Store Store

	open       sync.Once
	problems   []error
	cacheGroup *cacheGroup // made by InvalidateAcross
	mu         sync.Mutex
	buckets    map[bucketName]*bucket
	lastWarned atomic.Int64 // when it was last logged that the store fails, in nanoseconds of Unix time
}

// store returns the cache's store. The first call makes one in memory if the cache was given none, so that the zero Cache works.
func (c *Cache) store() Store {
	c.open.Do(func() {
		c.buckets = make(map[bucketName]*bucket)
		s := settings{}
		s.want(c.MaxEntries >= 0, "MaxEntries is %d: want at least 1", c.MaxEntries)
		s.want(c.Store == nil || c.MaxEntries == 0, "MaxEntries bounds the memory, and the cache has a Store of its own")
		c.problems = append(c.problems, s.problems...)
		if c.Store == nil {
			c.Store = InMemory(cmp.Or(max(c.MaxEntries, 0), 10_000))
		}
	})
	return c.Store
}

// Invalidate forgets the answers of all actions whose full names the patterns take: "users.get", "users.*", "v2.users.**". A
// call that begins after Invalidate returned is not answered with what was worked out before: on this node, on all that share
// the store, and after [Cache.InvalidateAcross] on all that share the name. The error reports a pattern that is not valid, of
// a store that failed, or of nodes that were not reached; what can be invalidated is invalidated all the same.
func (c *Cache) Invalidate(ctx context.Context, patterns ...string) error {
	err := c.invalidateHere(ctx, patterns)
	if c.cacheGroup == nil {
		return err
	}
	return errors.Join(err, c.cacheGroup.broadcast(ctx, patterns))
}

// invalidateHere invalidates answers in the store, and so the nodes that share it.
func (c *Cache) invalidateHere(ctx context.Context, patterns []string) error {
	var errs []error
	for _, pattern := range patterns {
		if err := names.CheckPattern(pattern); err != nil {
			errs = append(errs, sabir.Errorf(sabir.CodeInvalidArgument, errname.BadName, "%w", err))
			continue
		}
		errs = append(errs, c.store().Invalidate(ctx, pattern))
	}
	return errors.Join(errs...)
}

// InvalidateOn invalidates by the patterns whenever an event comes that event takes, itself a pattern. Call it before the
// service starts; a pattern that is not valid keeps it from starting, or is logged when the event comes. Every
// service and every node receives the event, emitted or broadcast, but not one whose emitter chose groups, see [sabir.Groups]: those
// are for these groups only. For such events call Invalidate in a handler of a chosen group, or in one that is best effort ([sabir.Delivery]).
func (c *Cache) InvalidateOn(s *sabir.Service, event string, patterns ...string) {
	sabir.On(s, event, func(ctx context.Context, _ any) error {
		return c.invalidateHere(ctx, patterns)
	}, sabir.Delivery{Group: "cache-" + requestid.New()})
}

// Cached answers calls of an action from a [Cache]. Used on several actions, each has its own answers.
//
// The input is validated before an answer is looked up. Of several calls with one key that find no answer, one runs the
// handler, and the others wait for its answer or its error, each as long as its own context allows. When that call's own
// context ends before it has an answer, one of those that wait takes over and runs the handler for the rest. A call
// nested in the one it would have to wait for does not wait.
//
// Errors are not kept. sabir.NoCache makes a call run the handler, and keeps the answer. The signals are "cache.hit",
// and "cache.miss" for each call that found no answer.
//
// An answer is copied shallowly for each caller: what it points to (slices, maps, pointers) is shared by all, and must not
// be changed, by the handler neither, unless Clone is set. Of an input, what it points to must not
// change during the call. A call whose input cannot be a key, because it refers to itself or holds a function in an
// interface, is neither answered nor kept.
type Cached struct {
	// Cache keeps the answers. Default: a cache of its own, with 10,000 answers in memory.
	Cache *Cache
	// TTL is the time for which the cache may give out an answer. Default: a minute.
	TTL time.Duration
	// Keys names what an answer depends on: fields of the input by their JSON names, with dots for fields of fields
	// ("filter.tag"), and the caller's metadata with a # ("#tenant"). Calls that agree in all of these share an answer.
	// Default: the whole input, and no metadata. Calls that name a node share answers of that node only.
	//
	// A name means the field that the JSON codec fills under it. A service whose paths name no field, or may name two, does
	// not start. A path may lead into an any; a call whose value there the path cannot enter, such as a list, is neither
	// answered nor kept.
	Keys []string
	// Enabled decides for each call whether it may be answered from the cache and its answer kept. It must be fast. Default:
	// each call may.
	Enabled func(context.Context) bool
	// Clone gives every caller an answer of its own that it may change: [CloneJSON] or [CloneWith].
	Clone Clone
}

// Clone copies an answer of a [Cache] for a caller. The zero value copies nothing that the answer points to.
type Clone struct {
	asJSON bool
	of     reflect.Type
	copy   func(any) any
}

// CloneJSON keeps answers as JSON and reads them anew for each call. Fields that JSON leaves out are lost.
func CloneJSON() Clone { return Clone{asJSON: true} }

// CloneWith copies answers with a function, for the actions whose answer is an Out.
func CloneWith[Out any](clone func(Out) Out) Clone {
	c := Clone{of: reflect.TypeFor[Out]()}
	if clone != nil {
		c.copy = func(answer any) any {
			if out, ok := answer.(Out); ok {
				return clone(out)
			}
			return answer
		}
	}
	return c
}

// Middleware makes the middleware.
func (c Cached) Middleware() sabir.Middleware {
	if c.Cache == nil {
		c.Cache = &Cache{}
	}
	c.Cache.store()
	s := settings{name: "Cached", problems: slices.Clone(c.Cache.problems)}
	s.want(c.TTL >= 0, "TTL is %v: want a positive time", c.TTL)
	s.want(c.Clone.of == nil || c.Clone.copy != nil, "CloneWith was given nil")
	c.TTL = cmp.Or(c.TTL, time.Minute)
	return s.middleware(c.wrap)
}

func (c *Cached) wrap(a *sabir.Action, next sabir.Handler) sabir.Handler {
	if strings.HasPrefix(a.Service, "$") { // what a node reports about itself must never be old
		return next
	}
	key, err := newKeys(a, c.Keys)
	if err != nil {
		a.Reject("policy.Cached: %w", err)
		return next
	}
	if c.Clone.of != nil {
		fits(a, "CloneWith copies", c.Clone.of, a.Out)
	}
	a.Annotate(gateway.CacheNote, c.TTL)
	way := &cachedAction{Cached: c, action: a, key: key, next: next, codec: c.Cache.store().Codec()}
	if way.codec == nil && c.Clone.asJSON {
		way.codec = jsonCodec
	}
	if a.In != nil {
		way.bucket = c.Cache.bucketFor(a.Name, a.In, a.Out, c.Keys, way.codec)
	}
	return way.call
}
