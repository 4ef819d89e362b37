package ratelimit_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/ratelimit"
)

func TestABucketGivesItsBurstAndThenItsRate(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		limit, problems := ratelimit.New(10, 3)
		if problems != nil {
			t.Fatal(problems)
		}
		b := limit.NewBucket()
		for want := 200 * time.Millisecond; want >= 0; want -= 100 * time.Millisecond {
			if left, wait := b.Take(); left != want || wait != 0 {
				t.Errorf("left %v, wait %v; want %v and 0", left, wait, want)
			}
		}
		if _, wait := b.Take(); wait != 100*time.Millisecond {
			t.Errorf("an empty bucket: wait %v", wait)
		}
		time.Sleep(100 * time.Millisecond)
		if _, wait := b.Take(); wait != 0 {
			t.Errorf("after the wait: wait %v", wait)
		}
	})
}

// The burst is large, since two goroutines take one token only where they meet within nanoseconds.
func TestABucketGivesNoTokenTwice(t *testing.T) {
	const burst = 2_000_000
	limit, problems := ratelimit.New(1e-2, burst) // one comes back in 100 s
	if problems != nil {
		t.Fatal(problems)
	}
	b := limit.NewBucket()
	var given atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			taken := int64(0)
			for {
				if _, wait := b.Take(); wait > 0 {
					given.Add(taken)
					return
				}
				taken++
			}
		})
	}
	all.Wait()
	if given.Load() != burst {
		t.Errorf("%d tokens of %d were given", given.Load(), burst)
	}
}
