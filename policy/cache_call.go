package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/signal"
)

var jsonCodec = json.Codec

// cachedAction calls one action through a cache.
type cachedAction struct {
	*Cached
	action  *sabir.Action
	key     *keys
	next    sabir.Handler
	bucket  *bucket     // nil for an action of another node: its calls have their callers' types
	buckets sync.Map    // of callTypes to *bucket, for an action of another node
	codec   codec.Codec // nil if answers are kept as Go values
	unfit   sync.Once   // logs once that answers cannot be kept
}

// bucket holds the answers of one action and form, and the calls that compute them now.
type bucket struct {
	Bucket
	mu      sync.Mutex
	flights map[string]*flight
}

// flight is a call that computes an answer for all callers that ask for it meanwhile (single flight).
type flight struct {
	bucket     *bucket
	generation uint64  // from the store, when the flight began; a cleaning changes it
	outer      *flight // the flight whose call this one is nested in
	done       chan struct{}
	answer     any
	err        error
}

// errNoAnswer ends a flight whose caller no longer waits. The others then compute the answer themselves.
var errNoAnswer = fmt.Errorf("policy: the call that worked out the answer gave up")

// flightKey finds the flight that a context's call works for.
type flightKey struct{}

// bucketFor finds or makes the bucket for an action's answers of the given types.
func (c *Cache) bucketFor(action string, in, out reflect.Type, paths []string, format codec.Codec) *bucket {
	form := fmt.Sprintf("%s %s %q", typeName(in), typeName(out), paths)
	if format != nil {
		// Programs of two versions share a store while one replaces the other. Types of one name may differ then.
		form += " " + format.Name() + " " + shape(in) + " " + shape(out)
	}
	name := bucketName{action, form}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.buckets[name]
	if p == nil {
		p = &bucket{Bucket: noBucket{}, flights: make(map[string]*flight)}
		if len(c.buckets) < maxBuckets {
			p.Bucket = c.store().Open(action, form)
			c.buckets[name] = p
		}
	}
	return p
}

// shape distinguishes types of one name by their fields; "" if the native format cannot describe them.
func shape(t reflect.Type) string {
	schema, err := native.SchemaOf(t)
	if err != nil {
		return ""
	}
	return schema.Hash().String()
}

func (c *cachedAction) call(ctx context.Context, r *sabir.Request) error {
	if c.Enabled != nil && !c.Enabled(ctx) {
		return c.next(ctx, r)
	}
	if err := r.Validate(); err != nil {
		return err
	}
	p, plan := c.bucket, c.key.own
	if p == nil {
		p, plan = c.byTypes(r)
	}
	w := takeKeyWriter()
	plan.write(w, ctx, r)
	if w.bad {
		w.put()
		return c.next(ctx, r)
	}
	if r.NoCache() {
		key := bytes.Clone(w.buf)
		w.put()
		return c.refresh(ctx, r, p, key)
	}
	kept, err := p.Get(ctx, w.buf)
	if err != nil {
		c.warnStore(ctx, err)
	} else if c.answer(ctx, r, &kept) {
		w.put()
		c.action.Signal(signal.CacheHit)
		return nil
	}
	c.action.Signal(signal.CacheMiss)
	key := string(w.buf)
	w.put()
	return c.shareFlight(ctx, r, p, key, kept.Generation)
}

// callTypes are the types of a call to another node.
type callTypes struct{ in, out reflect.Type }

// byTypes finds the bucket and the key plan for a call to another node.
func (c *cachedAction) byTypes(r *sabir.Request) (*bucket, *keyPlan) {
	types := callTypes{reflect.TypeOf(r.Input()).Elem(), reflect.TypeOf(r.Output()).Elem()}
	p, ok := c.buckets.Load(types)
	if !ok {
		p, _ = c.buckets.LoadOrStore(types, c.Cache.bucketFor(c.action.Name, types.in, types.out, c.Keys, c.codec))
	}
	return p.(*bucket), c.key.of(types.in)
}

// answer answers a call with the store's entry, if that can be read.
func (c *cachedAction) answer(ctx context.Context, r *sabir.Request, kept *Entry) bool {
	err := kept.Err
	if err == nil && kept.Found {
		if err = c.decodeAnswer(r, kept.Answer); err == nil {
			return true
		}
	}
	if err != nil {
		c.warnStore(ctx, err)
	}
	return false
}

// warnInterval limits the log lines about a store that fails.
const warnInterval = time.Minute

// warnStore logs that the store failed, unless the caller's context ended.
func (c *cachedAction) warnStore(ctx context.Context, err error) {
	now, last := time.Now().UnixNano(), c.Cache.lastWarned.Load()
	if ctx.Err() == nil && now-last >= int64(warnInterval) && c.Cache.lastWarned.CompareAndSwap(last, now) {
		sabir.NodeFromContext(ctx).Log().Warn("the cache's store fails; calls do without it", "action", c.action.Name, "error", withStack(err))
	}
}

// decodeAnswer sets the output of a call from the form that the store keeps.
func (c *cachedAction) decodeAnswer(r *sabir.Request, answer any) error {
	if c.codec != nil {
		text, _ := answer.([]byte)
		out := reflect.ValueOf(r.Output()).Elem()
		out.SetZero() // decoding merges
		err := r.DecodeOutput(c.codec, text)
		if err != nil {
			out.SetZero()
		}
		return err
	}
	if c.Clone.copy != nil {
		answer = c.Clone.copy(answer)
	}
	return r.SetOutput(answer)
}

// encodeAnswer makes the form that the store keeps of a call's output. If it fails, the call itself still succeeds.
func (c *cachedAction) encodeAnswer(ctx context.Context, r *sabir.Request) (any, error) {
	if c.codec != nil {
		text, err := c.codec.Append(nil, r.Output())
		if err != nil {
			c.warnNotCacheable(ctx, err)
		}
		return text, err
	}
	answer := r.CopyOutput()
	if c.Clone.copy != nil {
		answer = c.Clone.copy(answer)
	}
	return answer, nil
}

// warnNotCacheable logs, once for the action, that an answer cannot be kept.
func (c *cachedAction) warnNotCacheable(ctx context.Context, err error) {
	c.unfit.Do(func() {
		log := sabir.NodeFromContext(ctx).Log()
		if c.codec != nil {
			log = log.With("codec", c.codec.Name())
		}
		log.Warn("an answer cannot be cached", "action", c.action.Name, "error", withStack(err))
	})
}

// withStack returns the error for the log, with the stack if a method of the answer panicked.
func withStack(err error) error {
	if e := sabir.AsError(err); e.Stack() != nil {
		return e
	}
	return err
}

// keep puts an answer into the store.
func (c *cachedAction) keep(ctx context.Context, p *bucket, key []byte, answer any, generation uint64) {
	err := p.Set(ctx, key, answer, c.TTL, generation)
	if errors.Is(err, ErrNotStored) {
		c.warnNotCacheable(ctx, err)
	} else if err != nil {
		c.warnStore(ctx, err)
	}
}

// refresh handles a call that wants a fresh answer. It does not read the cache but updates it.
func (c *cachedAction) refresh(ctx context.Context, r *sabir.Request, p *bucket, key []byte) error {
	kept, unknown := p.Get(ctx, key) // for its generation
	if unknown != nil {
		c.warnStore(ctx, unknown)
	}
	if err := c.next(ctx, r); err != nil {
		return err
	}
	if unknown != nil {
		return nil
	}
	if answer, err := c.encodeAnswer(ctx, r); err == nil {
		c.keep(ctx, p, key, answer, kept.Generation)
	}
	return nil
}

// shareFlight computes the answer, or waits for the flight that does.
func (c *cachedAction) shareFlight(ctx context.Context, r *sabir.Request, p *bucket, key string, generation uint64) error {
	outer, _ := ctx.Value(flightKey{}).(*flight)
	for {
		f, first := p.joinFlight(key, generation, outer)
		if first {
			return c.runFlight(ctx, r, f, key)
		}
		if f.carries(outer) { // waiting would be for itself
			return c.next(ctx, r)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		switch f.err {
		case nil:
			return c.decodeAnswer(r, f.answer)
		case errNoAnswer:
		default:
			return f.err
		}
	}
}

// joinFlight returns the flight for a key, or begins one. A flight from before a cleaning serves only the calls from before it.
func (p *bucket) joinFlight(key string, generation uint64, outer *flight) (f *flight, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f = p.flights[key]; f != nil && f.generation == generation {
		return f, false
	}
	f = &flight{bucket: p, generation: generation, outer: outer, done: make(chan struct{})}
	p.flights[key] = f
	return f, true
}

// finishFlight ends a flight and lets those that wait for it go on.
func (p *bucket) finishFlight(key string, f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flights[key] == f {
		delete(p.flights, key)
	}
	close(f.done)
}

// carries reports whether a call of the flight inner is nested in a call of this one. Waiting for it would be waiting for
// itself.
func (f *flight) carries(inner *flight) bool {
	for ; inner != nil; inner = inner.outer {
		if inner == f {
			return true
		}
	}
	return false
}

// runFlight computes the answer for all that wait for it.
func (c *cachedAction) runFlight(ctx context.Context, r *sabir.Request, f *flight, key string) error {
	f.err = sabir.Errorf(sabir.CodeInternal, sabir.ErrPanic.Name, "the call of %s that worked out the answer for others panicked", c.action.Name)
	defer f.bucket.finishFlight(key, f)
	// Another may have landed between this call's first look and its boarding.
	kept, unlock, unknown := f.bucket.lock(ctx, []byte(key))
	switch {
	case unknown == nil:
		defer unlock()
		if c.answer(ctx, r, &kept) {
			f.answer, f.err = kept.Answer, nil
			return nil
		}
	case ctx.Err() != nil:
		f.err = errNoAnswer
		return ctx.Err()
	default:
		c.warnStore(ctx, unknown)
	}
	if err := c.next(context.WithValue(ctx, flightKey{}, f), r); err != nil {
		f.err = err
		if ctx.Err() != nil {
			f.err = errNoAnswer
		}
		return err
	}
	answer, err := c.encodeAnswer(ctx, r)
	if err != nil {
		f.err = errNoAnswer // each works out its own
		return nil
	}
	f.answer, f.err = answer, nil
	if unknown == nil {
		c.keep(ctx, f.bucket, []byte(key), answer, kept.Generation)
	}
	return nil
}

// lock reads the entry again. If nodes share the store, it also waits until no other node computes the answer.
func (p *bucket) lock(ctx context.Context, key []byte) (Entry, func(), error) {
	if shared, ok := p.Bucket.(Locker); ok {
		return shared.Lock(ctx, key)
	}
	kept, err := p.Get(ctx, key)
	return kept, func() {}, err
}
