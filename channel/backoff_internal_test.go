package channel

import (
	"math"
	"testing"
	"time"
)

func TestTheWaitAfterAnyAttemptIsWithinItsBounds(t *testing.T) {
	r := &runner{consumer: &consumer{Consumer: Consumer{FirstPause: time.Second, MaxPause: time.Minute}}}
	for _, attempt := range []int{math.MinInt, -1, 0, 1, 2, 7, 64, math.MaxInt} {
		if after := r.backoff(attempt); after < time.Second/2 || after > time.Minute {
			t.Errorf("attempt %d: %v", attempt, after)
		}
	}
}
