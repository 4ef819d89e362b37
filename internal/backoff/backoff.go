// Package backoff waits: for a time that a context can end, and between attempts, longer each time.
//
//	session, err := backoff.Until(ctx, backoff.Reconnect, func() (*session, error) { return open(ctx, address) })
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Reconnect is the time that drivers of brokers wait between attempts to connect again, as transport.BusEvents promises.
var Reconnect = Backoff{First: 50 * time.Millisecond, Last: time.Second}

// Backoff is a wait that begins with First and doubles with every attempt up to Last, with chance in it so that many
// clients of one server do not all come back at once.
type Backoff struct{ First, Last time.Duration }

// Wait returns the time to wait after that many failed attempts: 0.5 to 1.5 times the doubled First, 0 for none.
func (b Backoff) Wait(failed int) time.Duration {
	if failed <= 0 {
		return 0
	}
	wait := b.Last
	if shift := failed - 1; shift < 30 && b.First<<shift < b.Last {
		wait = b.First << shift
	}
	return wait/2 + rand.N(wait)
}

// Sleep waits for the time, or until ctx ends, whose error it then returns.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Until attempts at once, and again with waits between, until an attempt succeeds or ctx ends, whose error it then returns.
func Until[T any](ctx context.Context, b Backoff, attempt func() (T, error)) (T, error) {
	for failed := 1; ; failed++ {
		if result, err := attempt(); err == nil {
			return result, nil
		}
		if err := Sleep(ctx, b.Wait(failed)); err != nil {
			var none T
			return none, err
		}
	}
}
