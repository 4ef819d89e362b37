package policy_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/policy"
)

var (
	errBusy   = sabir.NewError(sabir.CodeUnavailable, "Busy", "busy").AsRetryable() // retryable
	errBroken = sabir.NewError(sabir.CodeInternal, "Broken", "broken")
)

// failing fails with err the first times, then answers 1, and notes when it was called.
func failing(times int, err error, at *[]time.Time) func(context.Context, none) (int, error) {
	return func(context.Context, none) (int, error) {
		*at = append(*at, time.Now())
		if len(*at) <= times {
			return 0, err
		}
		return 1, nil
	}
}

// pauses are the times between calls.
func pauses(at []time.Time) (list []time.Duration) {
	for i := 1; i < len(at); i++ {
		list = append(list, at[i].Sub(at[i-1]))
	}
	return list
}

func TestRetryTriesARetryableErrorAgainWithGrowingPauses(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var at []time.Time
		r := newRig(t, failing(4, errBusy, &at), sabir.Use(policy.Retry{Attempts: 5, FirstPause: 100 * time.Millisecond, MaxPause: 300 * time.Millisecond, Jitter: -1}))
		out, err := r.call(t.Context())
		if out != 1 || err != nil {
			t.Errorf("got %d, %v", out, err)
		}
		const ms = time.Millisecond
		if want := []time.Duration{100 * ms, 200 * ms, 300 * ms, 300 * ms}; !slices.Equal(pauses(at), want) {
			t.Errorf("pauses %v, want %v", pauses(at), want)
		}
		if r.received(signal.Retried) != 4 {
			t.Errorf("signals %v, want four Retried", r.all())
		}
	})
}

func TestRetryLeavesAShareOfThePauseToChance(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var at []time.Time
		r := newRig(t, failing(1e6, errBusy, &at), sabir.Use(policy.Retry{Attempts: 20, FirstPause: time.Second, MaxPause: time.Second, Jitter: 0.25, MaxElapsed: time.Hour}))
		r.call(t.Context())
		list := pauses(at)
		if shortest, longest := slices.Min(list), slices.Max(list); shortest < 750*time.Millisecond || longest > time.Second || shortest == longest {
			t.Errorf("pauses from %v to %v, want different ones from 750ms to 1s", shortest, longest)
		}
	})
}

func TestRetryRepeats(t *testing.T) {
	tests := []struct {
		name    string
		err     error
		policy  sabir.Wrapper
		options []sabir.CallOption
		want    int // attempts
	}{
		{"a retryable error three times by default", errBusy, policy.Retry{}, nil, 3},
		{"as often as Attempts says", errBusy, policy.Retry{Attempts: 7}, nil, 7},
		{"no error that is not retryable", errBroken, policy.Retry{}, nil, 1},
		{"no plain error", errors.New("plain"), policy.Retry{}, nil, 1},
		{"nothing when the caller asked for one attempt", errBusy, policy.Retry{}, []sabir.CallOption{sabir.NoRetry()}, 1},
		{"chosen codes too", errBroken, policy.Retry{Codes: []sabir.Code{sabir.CodeInternal}}, nil, 3},
		{"as long as MaxElapsed allows", errBusy, policy.Retry{Attempts: 10, Jitter: -1, FirstPause: time.Second, MaxPause: time.Second, MaxElapsed: 2500 * time.Millisecond}, nil, 3},
		{"an error that names a time within the longest pause", errBusy.WithData(policy.RetryAfter{Seconds: 1.5}), policy.Retry{}, nil, 3},
		{"no error that names a later time", errBusy.WithData(policy.RetryAfter{Seconds: 60}), policy.Retry{MaxElapsed: time.Hour}, nil, 1},
		{"nothing that names a later time on another node", errBusy.WithData(map[string]any{"retryAfter": 60.0}), policy.Retry{}, nil, 1},
		{"errors with other data", errBusy.WithData([]string{"a"}), policy.Retry{}, nil, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var at []time.Time
				r := newRig(t, failing(1e6, test.err, &at), sabir.Use(test.policy))
				_, err := r.call(t.Context(), test.options...)
				if len(at) != test.want || err == nil {
					t.Errorf("%d attempts, %v; want %d and the error", len(at), err, test.want)
				}
			})
		})
	}
}

func TestRetryWaitsAsLongAsTheErrorAsks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var at []time.Time
		r := newRig(t, failing(1, errBusy.WithData(policy.RetryAfter{Seconds: 1.5}), &at), sabir.Use(policy.Retry{}))
		if _, err := r.call(t.Context()); err != nil || !slices.Equal(pauses(at), []time.Duration{1500 * time.Millisecond}) {
			t.Errorf("%v after pauses %v, want one of 1.5s", err, pauses(at))
		}
	})
}

func TestRetryDoesNotSleepPastTheCallersDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var at []time.Time
		r := newRig(t, failing(1e6, errBusy, &at), sabir.Use(policy.Retry{Attempts: 10, Jitter: -1, FirstPause: time.Second, MaxPause: time.Second}))
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		begun := time.Now()
		_, err := r.call(ctx)
		if !errors.Is(err, errBusy) || len(at) != 2 || time.Since(begun) != time.Second {
			t.Errorf("%v after %d attempts and %v, want the last error after two attempts and 1s", err, len(at), time.Since(begun))
		}
	})
}

func TestRetryStopsWhenTheCallerCancels(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var at []time.Time
		r := newRig(t, failing(1e6, errBusy, &at), sabir.Use(policy.Retry{Attempts: 10, Jitter: -1, FirstPause: time.Second, MaxPause: time.Second}))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(2500*time.Millisecond, cancel)
		if _, err := r.call(ctx); err == nil || len(at) != 3 {
			t.Errorf("%v after %d attempts, want an error after three", err, len(at))
		}
	})
}

func TestRetryGivesEachAttemptItsOwnTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		runs := make(chan struct{}, 10)
		r := newRig(t, func(ctx context.Context, _ none) (int, error) {
			runs <- struct{}{}
			if len(runs) < 3 {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return 1, nil
		}, sabir.Use(policy.Retry{Codes: []sabir.Code{sabir.CodeDeadlineExceeded}}, policy.Timeout(time.Second)))
		if out, err := r.call(t.Context()); out != 1 || err != nil || len(runs) != 3 {
			t.Errorf("got %d, %v after %d runs", out, err, len(runs))
		}
	})
}

func TestRetryRefusesOptionsOutOfRange(t *testing.T) {
	for name, p := range map[string]sabir.Wrapper{
		"Attempts is -1":       policy.Retry{Attempts: -1},
		"Attempts is 21":       policy.Retry{Attempts: 21},
		"Jitter is 2":          policy.Retry{Jitter: 2},
		"longer than MaxPause": policy.Retry{FirstPause: 2, MaxPause: 1},
		"MaxElapsed is -1ns":   policy.Retry{MaxElapsed: -1},
	} {
		refusedFor(t, name, p)
	}
}
