package backoff_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestWaitsDoubleUpToTheLast(t *testing.T) {
	b := backoff.Backoff{First: 50 * time.Millisecond, Last: time.Second}
	for failed, middle := range map[int]time.Duration{
		1: 50 * time.Millisecond, 2: 100 * time.Millisecond, 5: 800 * time.Millisecond, 6: time.Second, 7: time.Second, math.MaxInt: time.Second,
	} {
		for range 100 {
			if got := b.Wait(failed); got < middle/2 || got >= middle*3/2 {
				t.Errorf("after %d failures it waits %v, want about %v", failed, got, middle)
			}
		}
	}
	if got := b.Wait(0); got != 0 {
		t.Errorf("it waits %v before the first attempt", got)
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := backoff.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := backoff.Sleep(t.Context(), time.Microsecond); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestAttemptsEndWithTheFirstThatSucceeds(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		attempts := 0
		got, err := backoff.Until(t.Context(), backoff.Reconnect, func() (string, error) {
			if attempts++; attempts < 4 {
				return "", errors.New("not yet")
			}
			return "done", nil
		})
		if got != "done" || err != nil || attempts != 4 {
			t.Errorf("got %q, %v after %d attempts", got, err, attempts)
		}
	})
}

func TestAttemptsEndWithTheContext(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := backoff.Until(ctx, backoff.Reconnect, func() (string, error) { return "", errors.New("never") })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
