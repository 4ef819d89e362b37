package ratelimit_test

import (
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
