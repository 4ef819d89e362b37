package policy_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/policy"
)

// shared is a store of bytes as several nodes could share one, with a lock.
type shared struct {
	mu      sync.Mutex
	answers map[string][]byte // by action, form and key
	locks   map[string]chan struct{}
	broken  error
}

func newShared() *shared {
	return &shared{answers: map[string][]byte{}, locks: map[string]chan struct{}{}}
}

func (s *shared) Codec() codec.Codec { return json.New() }

func (s *shared) Open(action, form string) policy.Place {
	return &sharedPlace{s, action + "\x00" + form + "\x00"}
}

func (s *shared) Clean(_ context.Context, pattern string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.answers {
		if action, _, _ := strings.Cut(key, "\x00"); sabir.MatchPattern(pattern, action) {
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

type sharedPlace struct {
	*shared
	prefix string
}

func (p *sharedPlace) Get(_ context.Context, key []byte) (any, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, ok := p.answers[p.prefix+string(key)]
	return text, ok, p.broken
}

func (p *sharedPlace) Set(_ context.Context, key []byte, answer any, _ time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[p.prefix+string(key)] = answer.([]byte)
	return p.broken
}

func (p *sharedPlace) Lock(ctx context.Context, key []byte) (func(), error) {
	p.mu.Lock()
	lock := p.locks[p.prefix+string(key)]
	if lock == nil {
		lock = make(chan struct{}, 1)
		p.locks[p.prefix+string(key)] = lock
	}
	p.mu.Unlock()
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestStoreOfBytesServesSeveralNodes(t *testing.T) {
	store := newShared()
	a := newUsers(t, sabir.Use(policy.NewCache(policy.KeptIn(store)).For()))
	b := newUsers(t, sabir.Use(policy.NewCache(policy.KeptIn(store)).For()))
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
			r := newRig(t, handler, sabir.Use(policy.NewCache(policy.KeptIn(store)).For()))
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
		sabir.Use(policy.NewCache(policy.KeptIn(store)).For()))
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
	u := newUsers(t, sabir.Use(policy.NewCache(policy.KeptIn(store)).For()))
	u.get(t, t.Context(), "ada")
	for key := range store.answers {
		store.answers[key] = []byte(`{"id":"eve","run":"one"}`) // as a program of another version may have left it
	}
	if a, b := u.get(t, t.Context(), "ada"), u.get(t, t.Context(), "ada"); a != 2 || b != 2 {
		t.Errorf("runs %d and %d, want 2 and 2", a, b)
	}
}

func TestCleanReachesTheStoreAndTellsItsError(t *testing.T) {
	store := newShared()
	cache := policy.NewCache(policy.KeptIn(store))
	u := newUsers(t, sabir.Use(cache.For()))
	u.get(t, t.Context(), "ada")
	if err := cache.Clean(t.Context(), "test.*"); err != nil || len(store.answers) != 0 {
		t.Errorf("%v, %d answers left", err, len(store.answers))
	}
	store.fail(errBusy)
	if err := cache.Clean(t.Context(), "test.*"); !errors.Is(err, errBusy) {
		t.Errorf("got %v", err)
	}
}
