package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/native"
)

var jsonCodec = json.New()

// cachedAction is the way of one action's calls through a cache.
type cachedAction struct {
	*cached
	action *sabir.Action
	key    *keys
	next   sabir.Handler
	place  *place      // nil for an action of another node: its calls have their callers' types
	places sync.Map    // of callTypes to *place, for an action of another node
	codec  codec.Codec // nil where answers are kept as Go values
	unfit  sync.Once   // an answer that the codec cannot write was logged
}

// place is where the answers of one action and form are kept and worked out.
type place struct {
	Place
	mu      sync.Mutex
	flights map[string]*flight
}

// flight is an answer that is being worked out.
type flight struct {
	place  *place
	age    uint64 // what the store told the call that began it
	outer  *flight
	done   chan struct{}
	answer any
	err    error
}

// errNoAnswer ends a flight whose call gave up: it says nothing about the answer.
var errNoAnswer = fmt.Errorf("policy: the call that worked out the answer gave up")

// flightKey finds the flight that a context's call works for.
type flightKey struct{}

// open finds or makes the place for an action's answers of the given types.
func (c *Cache) open(action string, in, out reflect.Type, paths []string, format codec.Codec) *place {
	form := typeName(in) + " " + typeName(out) + " " + strings.Join(paths, ",")
	if format != nil {
		// Programs of two versions share a store while one replaces the other. Types of one name may differ then.
		form += " " + format.Name() + " " + shape(in) + " " + shape(out)
	}
	name := placeName{action, form}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.places[name]
	if p == nil {
		p = &place{Place: noPlace{}, flights: make(map[string]*flight)}
		if len(c.places) < maxPlaces {
			p.Place = c.store.Open(action, form)
			c.places[name] = p
		}
	}
	return p
}

// shape tells types of one name apart by their fields; "" where the native format cannot describe them.
func shape(t reflect.Type) string {
	schema, err := native.SchemaOf(t)
	if err != nil {
		return ""
	}
	return schema.Hash().String()
}

func (c *cachedAction) call(ctx context.Context, r *sabir.Request) error {
	if c.enabled != nil && !c.enabled(ctx) {
		return c.next(ctx, r)
	}
	if err := r.Validate(); err != nil {
		return err
	}
	p, plan := c.place, c.key.own
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
		c.complain(ctx, err)
	} else if c.answer(ctx, r, &kept) {
		w.put()
		c.action.Signal(sabir.CacheHit)
		return nil
	}
	c.action.Signal(sabir.CacheMiss)
	key := string(w.buf)
	w.put()
	return c.share(ctx, r, p, key, kept.Age)
}

// callTypes are the types of a call to another node.
type callTypes struct{ in, out reflect.Type }

// byTypes finds the place and the plan for a call to another node.
func (c *cachedAction) byTypes(r *sabir.Request) (*place, *keyPlan) {
	types := callTypes{reflect.TypeOf(r.Input()).Elem(), reflect.TypeOf(r.Output()).Elem()}
	p, ok := c.places.Load(types)
	if !ok {
		p, _ = c.places.LoadOrStore(types, c.cache.open(c.action.Name, types.in, types.out, c.paths, c.codec))
	}
	return p.(*place), c.key.of(types.in)
}

// answer answers a call with what the store has, if that can be read (any more).
func (c *cachedAction) answer(ctx context.Context, r *sabir.Request, kept *Kept) bool {
	err := kept.Spoiled
	if err == nil && kept.Found {
		if err = c.give(r, kept.Answer); err == nil {
			return true
		}
	}
	if err != nil {
		c.complain(ctx, err)
	}
	return false
}

// complaints is the least time between two log lines about a store that fails.
const complaints = time.Minute

// complain logs that the store failed, unless it is because the caller gave up.
func (c *cachedAction) complain(ctx context.Context, err error) {
	now, last := time.Now().UnixNano(), c.cache.complained.Load()
	if ctx.Err() == nil && now-last >= int64(complaints) && c.cache.complained.CompareAndSwap(last, now) {
		sabir.NodeOf(ctx).Log().Warn("the cache's store fails; calls do without it", "action", c.action.Name, "error", err)
	}
}

// give answers a call with an answer as the store keeps it.
func (c *cachedAction) give(r *sabir.Request, answer any) error {
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
	if c.clone != nil {
		answer = c.clone(answer)
	}
	return r.SetOutput(answer)
}

// take makes of a call's output what the store keeps. What cannot be kept is still an answer to its own caller.
func (c *cachedAction) take(ctx context.Context, r *sabir.Request) (any, error) {
	if c.codec != nil {
		text, err := c.codec.Append(nil, r.Output())
		if err != nil {
			c.regret(ctx, err)
		}
		return text, err
	}
	answer := r.CopyOutput()
	if c.clone != nil {
		answer = c.clone(answer)
	}
	return answer, nil
}

// regret logs, once for the action, that an answer cannot be kept.
func (c *cachedAction) regret(ctx context.Context, err error) {
	c.unfit.Do(func() {
		log := sabir.NodeOf(ctx).Log()
		if c.codec != nil {
			log = log.With("codec", c.codec.Name())
		}
		log.Warn("an answer cannot be cached", "action", c.action.Name, "error", err)
	})
}

// keep puts an answer into the store.
func (c *cachedAction) keep(ctx context.Context, p *place, key []byte, answer any, age uint64) {
	err := p.Set(ctx, key, answer, c.ttl, age)
	if errors.Is(err, ErrNotKept) {
		c.regret(ctx, err)
	} else if err != nil {
		c.complain(ctx, err)
	}
}

// refresh is the way of a call that wants no answer from the cache.
func (c *cachedAction) refresh(ctx context.Context, r *sabir.Request, p *place, key []byte) error {
	kept, unknown := p.Get(ctx, key) // for its age
	if unknown != nil {
		c.complain(ctx, unknown)
	}
	if err := c.next(ctx, r); err != nil {
		return err
	}
	if unknown != nil {
		return nil
	}
	if answer, err := c.take(ctx, r); err == nil {
		c.keep(ctx, p, key, answer, kept.Age)
	}
	return nil
}

// share works out the answer, or waits for the call that does.
func (c *cachedAction) share(ctx context.Context, r *sabir.Request, p *place, key string, age uint64) error {
	outer, _ := ctx.Value(flightKey{}).(*flight)
	for {
		f, first := p.board(key, age, outer)
		if first {
			return c.lead(ctx, r, f, key)
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
			return c.give(r, f.answer)
		case errNoAnswer:
		default:
			return f.err
		}
	}
}

// board finds the flight for a key, or begins one. One from before a cleaning is for the calls from before it only.
func (p *place) board(key string, age uint64, outer *flight) (f *flight, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f = p.flights[key]; f != nil && f.age == age {
		return f, false
	}
	f = &flight{place: p, age: age, outer: outer, done: make(chan struct{})}
	p.flights[key] = f
	return f, true
}

// land ends a flight: whoever waits for it goes on.
func (p *place) land(key string, f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flights[key] == f {
		delete(p.flights, key)
	}
	close(f.done)
}

// carries tells whether a call that works for inner is nested in this flight's.
func (f *flight) carries(inner *flight) bool {
	for ; inner != nil; inner = inner.outer {
		if inner == f {
			return true
		}
	}
	return false
}

// lead works out the answer for all who wait for it.
func (c *cachedAction) lead(ctx context.Context, r *sabir.Request, f *flight, key string) error {
	f.err = sabir.Errorf(sabir.Internal, "Panic", "the call of %s that worked out the answer for others panicked", c.action.Name)
	defer f.place.land(key, f)
	// Another may have landed between this call's first look and its boarding.
	kept, unlock, unknown := f.place.lock(ctx, []byte(key))
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
		c.complain(ctx, unknown)
	}
	if err := c.next(context.WithValue(ctx, flightKey{}, f), r); err != nil {
		f.err = err
		if ctx.Err() != nil {
			f.err = errNoAnswer
		}
		return err
	}
	answer, err := c.take(ctx, r)
	if err != nil {
		f.err = errNoAnswer // each works out its own
		return nil
	}
	f.answer, f.err = answer, nil
	if unknown == nil {
		c.keep(ctx, f.place, []byte(key), answer, kept.Age)
	}
	return nil
}

// lock looks once more, where other nodes share the place when none of them works out the answer.
func (p *place) lock(ctx context.Context, key []byte) (Kept, func(), error) {
	if shared, ok := p.Place.(Locker); ok {
		return shared.Lock(ctx, key)
	}
	kept, err := p.Get(ctx, key)
	return kept, func() {}, err
}
