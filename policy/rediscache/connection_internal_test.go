package rediscache

import (
	"context"
	"errors"
	"testing"
	"time"
)

// tardy is a context whose deadline has passed and whose timer has not run yet, as on a busy machine.
type tardy struct{ context.Context }

func (tardy) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

func TestACallersDeadlineSaysNothingAboutRedisThoughItsContextIsLate(t *testing.T) {
	s := &Store{timeout: time.Minute}
	if err := s.outcome(tardy{t.Context()}, context.DeadlineExceeded); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if s.backOffUntil.Load() != 0 {
		t.Error("Redis is left alone")
	}
}
