package policy_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/policy"
)

func TestTimeoutAnswersAtTheLimitThoughTheHandlerNeverReturns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, func(context.Context, none) (int, error) { <-release; return 1, nil }, sabir.Use(policy.Timeout(time.Second)))
		begun := time.Now()
		_, err := r.call(t.Context())
		if took := time.Since(begun); !errors.Is(err, sabir.ErrDeadlineExceeded) || took != time.Second {
			t.Errorf("got %v after %v, want ErrDeadline after 1s", err, took)
		}
		if r.received(signal.TimedOut) != 1 {
			t.Errorf("signals %v, want one TimedOut", r.all())
		}
		close(release)
	})
}

func TestTimeoutEndsTheHandlersContextAtTheLimit(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ended := make(chan error, 1)
		r := newRig(t, func(ctx context.Context, _ none) (int, error) {
			<-ctx.Done()
			ended <- ctx.Err()
			return 0, ctx.Err()
		}, sabir.Use(policy.Timeout(time.Second)))
		_, err := r.call(t.Context())
		if codeOf(err) != sabir.CodeDeadlineExceeded || <-ended != context.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
	})
}

func TestTimeoutLeavesACallAloneThatIsFastEnough(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(context.Context, none) (int, error) { time.Sleep(time.Second - 1); return 7, nil }, sabir.Use(policy.Timeout(time.Second)))
		for range 3 { // the later ones meet a worker whose timer is set already
			if out, err := r.call(t.Context()); out != 7 || err != nil {
				t.Errorf("got %d, %v", out, err)
			}
		}
		if len(r.all()) != 0 {
			t.Errorf("signals %v, want none", r.all())
		}
	})
}

// A worker's timer outlives the call it was set for; the next call must get its own limit in full, and no more.
func TestTimeoutHoldsForEachCallOfAReusedWorker(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		pause := time.Duration(0)
		r := newRig(t, func(ctx context.Context, _ none) (int, error) {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
			return 1, ctx.Err()
		}, sabir.Use(policy.Timeout(10*time.Second)))
		for _, wait := range []time.Duration{0, time.Second, 9 * time.Second, 3 * time.Second} {
			pause = wait
			if _, err := r.call(t.Context()); err != nil {
				t.Errorf("a call of %v failed: %v", wait, err)
			}
			time.Sleep(2 * time.Second)
		}
		pause = time.Hour
		begun := time.Now()
		_, err := r.call(t.Context())
		if took := time.Since(begun); !errors.Is(err, sabir.ErrDeadlineExceeded) || took != 10*time.Second {
			t.Errorf("got %v after %v, want ErrDeadline after 10s", err, took)
		}
	})
}

func TestTimeoutKeepsTheCallersOwnNearerDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, func(context.Context, none) (int, error) { <-release; return 1, nil }, sabir.Use(policy.Timeout(time.Minute)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		_, err := r.call(ctx)
		if took := time.Since(begun); !errors.Is(err, sabir.ErrDeadlineExceeded) || took != time.Second {
			t.Errorf("got %v after %v, want ErrDeadline after 1s", err, took)
		}
		if r.received(signal.TimedOut) != 0 {
			t.Error("TimedOut was sent for the caller's own deadline")
		}
		close(release)
	})
}

func TestTimeoutRefusesALimitThatIsNotPositive(t *testing.T) {
	if why := refused(t, policy.Timeout(0)); !strings.Contains(why, "policy.Timeout: the limit is 0s") {
		t.Error(why)
	}
}
