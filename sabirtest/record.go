package sabirtest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

// waitTimeout bounds a wait for something that the test expects. It is long, since it passes only where the test fails.
const waitTimeout = 30 * time.Second

// A Record holds what a fake was given, in the order in which it came. All methods may be called from many goroutines at once.
type Record[T any] struct {
	what string

	mu     sync.Mutex
	values []T
	infos  []sabir.CallInfo // of the values
	more   chan struct{}    // closed and made anew with each value
}

func newRecord[T any](what string) *Record[T] {
	return &Record[T]{what: what, more: make(chan struct{})}
}

func (r *Record[T]) add(ctx context.Context, value T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.values, r.infos = append(r.values, value), append(r.infos, sabir.InfoFromContext(ctx))
	close(r.more)
	r.more = make(chan struct{})
}

// Len is the number of values so far.
func (r *Record[T]) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.values)
}

// All lists the values so far.
func (r *Record[T]) All() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.values)
}

// Infos lists for each value so far, in the order of All, who called or emitted it and how, as a handler would know it.
func (r *Record[T]) Infos() []sabir.CallInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.infos)
}

// Await waits for n values and returns them. Where they do not come within 30 s the test fails with those that came.
func (r *Record[T]) Await(t testing.TB, n int) []T {
	t.Helper()
	return r.wait(t, func(values []T) int { return min(len(values), n) - n })
}

// AwaitMatch waits for a value that match accepts and returns the first. Where none comes within 30 s the test fails with those that came.
func (r *Record[T]) AwaitMatch(t testing.TB, match func(T) bool) T {
	t.Helper()
	var at int
	return r.wait(t, func(values []T) int {
		at = slices.IndexFunc(values, match)
		return at
	})[at]
}

// wait returns the values when missing of them is not negative.
func (r *Record[T]) wait(t testing.TB, missing func([]T) int) []T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	for {
		r.mu.Lock()
		values, more := slices.Clone(r.values), r.more
		r.mu.Unlock()
		if missing(values) >= 0 {
			return values
		}
		select {
		case <-more:
		case <-ctx.Done():
			t.Fatalf("waited for %s in vain; %d came: %+v", r.what, len(values), values)
			return nil
		}
	}
}
