package channel

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

func TestTheWaitAfterAnyAttemptIsWithinItsBounds(t *testing.T) {
	r := &runner{consumer: &consumer{Consumer: Consumer{FirstPause: time.Second, MaxPause: time.Minute}}}
	for _, attempt := range []int{math.MinInt, -1, 0, 1, 2, 7, 64, math.MaxInt} {
		if after := r.backoff(attempt); after < time.Second/2 || after > time.Minute {
			t.Errorf("attempt %d: %v", attempt, after)
		}
	}
}

func TestTheWaitThatAHandlersErrorAsksForIsWithinMaxPause(t *testing.T) {
	r := &runner{consumer: &consumer{Consumer: Consumer{FirstPause: time.Second, MaxPause: time.Minute}}}
	limited := func(data any) error {
		return fmt.Errorf("the index: %w", sabir.Errorf(sabir.CodeResourceExhausted, "RateLimited", "later").WithData(data))
	}
	for about, test := range map[string]struct {
		err  error
		want time.Duration
	}{
		"seconds":            {limited(map[string]any{"retryAfter": 2.5}), 2500 * time.Millisecond},
		"an hour":            {limited(map[string]any{"retryAfter": 3600}), time.Minute},
		"more than there is": {limited(map[string]any{"retryAfter": 1e300}), time.Minute},
		"less than nothing":  {limited(map[string]any{"retryAfter": -1}), 0},
		"a text":             {limited(map[string]any{"retryAfter": "soon"}), 0},
		"other data":         {limited("soon"), 0},
		"no data":            {errors.New("later"), 0},
	} {
		if got := r.asked(test.err); got != test.want {
			t.Errorf("%s: %v", about, got)
		}
	}
}
