package policy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/policy"
)

// shared is a store of bytes as several nodes could share one, with a lock.
type shared struct {
	mu      sync.Mutex
	age     uint64
	answers map[string]sharedAnswer // by action, form and key
	locks   map[string]chan struct{}
	broken  error
}

type sharedAnswer struct {
	text []byte
	age  uint64
}

func newShared() *shared {
	return &shared{answers: map[string]sharedAnswer{}, locks: map[string]chan struct{}{}}
}

func (s *shared) Codec() codec.Codec { return json.Codec }

func (s *shared) Open(action, form string) policy.Bucket {
	return &sharedPlace{s, action + "\x00" + form + "\x00"}
}

func (s *shared) Invalidate(_ context.Context, pattern string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.age++
	for key := range s.answers {
		if action, _, _ := strings.Cut(key, "\x00"); names.Match(pattern, action) {
			delete(s.answers, key)
		}
	}
	return s.broken
}

func (s *shared) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
}

// spoil puts bytes in place of all answers.
func (s *shared) spoil(text string) {
	for key, a := range s.answers {
		s.answers[key] = sharedAnswer{[]byte(text), a.age}
	}
}

type sharedPlace struct {
	*shared
	prefix string
}

func (p *sharedPlace) Get(_ context.Context, key []byte) (policy.Entry, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, ok := p.answers[p.prefix+string(key)]
	switch {
	case p.broken != nil:
		return policy.Entry{}, p.broken
	case !ok:
		return policy.Entry{Generation: p.age}, nil
	case len(a.text) == 0:
		return policy.Entry{Generation: p.age, Err: errors.New("it is empty")}, nil
	}
	return policy.Entry{Answer: a.text, Found: true, Generation: p.age}, nil
}

func (p *sharedPlace) Set(_ context.Context, key []byte, answer any, _ time.Duration, age uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := answer.([]byte)
	if len(text) > 1000 {
		return fmt.Errorf("an answer of %d bytes: %w", len(text), policy.ErrNotStored)
	}
	if age == p.age {
		p.answers[p.prefix+string(key)] = sharedAnswer{text, age}
	}
	return p.broken
}

func (p *sharedPlace) Lock(ctx context.Context, key []byte) (policy.Entry, func(), error) {
	p.mu.Lock()
	lock := p.locks[p.prefix+string(key)]
	if lock == nil {
		lock = make(chan struct{}, 1)
		p.locks[p.prefix+string(key)] = lock
	}
	p.mu.Unlock()
	select {
	case lock <- struct{}{}:
		kept, err := p.Get(ctx, key)
		if err != nil {
			<-lock
		}
		return kept, func() { <-lock }, err
	case <-ctx.Done():
		return policy.Entry{}, nil, ctx.Err()
	}
}

func TestStoreOfBytesServesSeveralNodes(t *testing.T) {
	store := newShared()
	a := newUsers(t, sabir.Use(policy.Cached{Cache: &policy.Cache{Store: store}}))
	b := newUsers(t, sabir.Use(policy.Cached{Cache: &policy.Cache{Store: store}}))
	a.get(t, t.Context(), "ada")
	out, err := sabir.Call[user](t.Context(), b.node, "test.run", getUser{ID: "ada"})
	if err != nil || out.Run != 1 || out.Tags[0] != "a" || b.runs.Load() != 0 {
		t.Errorf("the other node got %v, %v after %d runs", out, err, b.runs.Load())
	}
}

func TestStoreWithALockRunsTheHandlerOnceForAllNodes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := newShared()
		var mu sync.Mutex
		runs := 0
		handler := func(context.Context, none) (int, error) {
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			runs++
			return runs, nil
		}
		var wg sync.WaitGroup
		for range 3 {
			r := newRig(t, handler, sabir.Use(policy.Cached{Cache: &policy.Cache{Store: store}}))
			for range 10 {
				wg.Go(func() {
					if out, err := r.call(context.Background()); out != 1 || err != nil {
						t.Errorf("got %d, %v", out, err)
					}
				})
			}
		}
		wg.Wait()
		if runs != 1 {
			t.Errorf("the handler ran %d times on three nodes", runs)
		}
	})
}

func TestStoreThatFailsTakesNothingDownAndIsLoggedOnceAMinute(t *testing.T) {
	store := newShared()
	var log bytes.Buffer
	runs := 0
	s := sabir.NewService("test")
	sabir.Handle(s, "run", func(context.Context, none) (int, error) { runs++; return runs, nil },
		sabir.Use(policy.Cached{Cache: &policy.Cache{Store: store}}))
	node := start(t, sabir.Serve(s), sabir.Logger(slog.New(slog.NewTextHandler(&log, nil))))
	call := func() int {
		out, err := sabir.Call[int](t.Context(), node, "test.run", none{})
		if err != nil {
			t.Error(err)
		}
		return out
	}
	store.fail(errors.New("no connection"))
	for want := range 5 {
		if got := call(); got != want+1 {
			t.Errorf("got run %d from a store that fails", got)
		}
	}
	store.fail(nil)
	if a, b := call(), call(); a != b {
		t.Errorf("runs %d and %d: the store that works again is not used", a, b)
	}
	if n := strings.Count(log.String(), "no connection"); n != 1 {
		t.Errorf("the log has it %d times:\n%s", n, log.String())
	}
}

func TestAnswersThatCannotBeReadAnyMoreAreReplaced(t *testing.T) {
	store := newShared()
	u := newUsers(t, sabir.Use(policy.Cached{Cache: &policy.Cache{Store: store}}))
	u.get(t, t.Context(), "ada")
	store.spoil(`{"id":"eve","run":"one"}`) // as a program of another version may have left it
	if a, b := u.get(t, t.Context(), "ada"), u.get(t, t.Context(), "ada"); a != 2 || b != 2 {
		t.Errorf("runs %d and %d, want 2 and 2", a, b)
	}
}

func TestCleanReachesTheStoreAndTellsItsError(t *testing.T) {
	store := newShared()
	cache := &policy.Cache{Store: store}
	u := newUsers(t, sabir.Use(policy.Cached{Cache: cache}))
	u.get(t, t.Context(), "ada")
	if err := cache.Invalidate(t.Context(), "test.*"); err != nil || len(store.answers) != 0 {
		t.Errorf("%v, %d answers left", err, len(store.answers))
	}
	store.fail(errBusy)
	if err := cache.Invalidate(t.Context(), "test.*"); !errors.Is(err, errBusy) {
		t.Errorf("got %v", err)
	}
}

func TestAnswersThatAreSpoiledInTheStoreAreReplaced(t *testing.T) {
	store := newShared()
	u := newUsers(t, sabir.Use(policy.Cached{Cache: &policy.Cache{Store: store}}))
	u.get(t, t.Context(), "ada")
	store.spoil("")
	if a, b := u.get(t, t.Context(), "ada"), u.get(t, t.Context(), "ada"); a != 2 || b != 2 {
		t.Errorf("runs %d and %d, want 2 and 2", a, b)
	}
}

func TestAnswersThatTheStoreDoesNotWantAreLoggedOnceAndGivenToTheirCallers(t *testing.T) {
	var log bytes.Buffer
	s := sabir.NewService("test")
	sabir.Handle(s, "run", func(context.Context, none) (string, error) { return strings.Repeat("x", 2000), nil },
		sabir.Use(policy.Cached{Cache: &policy.Cache{Store: newShared()}}))
	node := start(t, sabir.Serve(s), sabir.Logger(slog.New(slog.NewTextHandler(&log, nil))))
	for range 3 {
		if out, err := sabir.Call[string](t.Context(), node, "test.run", none{}); len(out) != 2000 || err != nil {
			t.Errorf("got %d bytes, %v", len(out), err)
		}
	}
	if n := strings.Count(log.String(), "an answer cannot be cached"); n != 1 {
		t.Errorf("the log has it %d times:\n%s", n, log.String())
	}
}

// The cleaning is another node's, which this node learns of from the store alone.
func TestStoreCleanedByAnotherNodeHoldsForAnswersThatAreBeingWorkedOut(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := newShared()
		var value atomic.Int32
		r := newRig(t, func(context.Context, none) (int, error) {
			v := int(value.Load())
			time.Sleep(time.Second)
			return v, nil
		}, sabir.Use(policy.Cached{Cache: &policy.Cache{Store: store}}))
		var wg sync.WaitGroup
		wg.Go(func() {
			if out, _ := r.call(context.Background()); out != 0 {
				t.Errorf("the call from before got %d", out)
			}
		})
		bubbletest.Wait()
		value.Store(1)
		if err := (&policy.Cache{Store: store}).Invalidate(t.Context(), "test.*"); err != nil {
			t.Error(err)
		}
		for range 2 {
			if out, _ := r.call(t.Context()); out != 1 {
				t.Errorf("a call from after the cleaning got %d", out)
			}
		}
		wg.Wait()
	})
}

func TestACacheInMemoryBeforeOneInAStoreOfSeveralNodes(t *testing.T) {
	store := newShared()
	var runs atomic.Int32
	var nodes []*rig
	var nears []*policy.Cache
	for range 2 {
		near := &policy.Cache{}
		nears = append(nears, near)
		nodes = append(nodes, newRig(t, func(context.Context, none) (int, error) { return int(runs.Add(1)), nil },
			sabir.Use(policy.Cached{Cache: near}, policy.Cached{Cache: &policy.Cache{Store: store}})))
	}
	call := func(r *rig) int {
		out, err := r.call(t.Context())
		if err != nil {
			t.Error(err)
		}
		return out
	}
	if a, b := call(nodes[0]), call(nodes[1]); a != 1 || b != 1 {
		t.Errorf("runs %d and %d, want 1 and 1", a, b)
	}
	store.fail(errBroken)
	if a, b := call(nodes[0]), call(nodes[1]); a != 1 || b != 1 {
		t.Errorf("runs %d and %d: the store was asked for what is in memory", a, b)
	}
	store.fail(nil)
	for _, clean := range []*policy.Cache{&policy.Cache{Store: store}, nears[0], nears[1]} { // the far one first
		if err := clean.Invalidate(t.Context(), "test.*"); err != nil {
			t.Error(err)
		}
	}
	if a, b := call(nodes[0]), call(nodes[1]); a != 2 || b != 2 {
		t.Errorf("runs %d and %d, want 2 and 2", a, b)
	}
}

// One action may have two caches with other keys in one store.
func TestCachesOfOneActionWithOtherKeysAreKeptApart(t *testing.T) {
	type in struct {
		A string `json:"a"`
		B string `json:"b"`
	}
	store := newShared()
	echo := func(_ context.Context, i in) (string, error) { return i.A + i.B, nil }
	byA := newRig(t, echo, sabir.Use(policy.Cached{Cache: &policy.Cache{Store: store}, Keys: []string{"a"}}))
	byB := newRig(t, echo, sabir.Use(policy.Cached{Cache: &policy.Cache{Store: store}, Keys: []string{"b"}}))
	if out, err := sabir.Call[string](t.Context(), byA.node, "test.run", in{A: "x"}); out != "x" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
	if out, err := sabir.Call[string](t.Context(), byB.node, "test.run", in{A: "y", B: "x"}); out != "yx" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
}
