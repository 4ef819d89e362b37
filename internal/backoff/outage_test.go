package backoff_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestOfManyFailuresTheFirstAndThoseWithAnotherReasonAreLogged(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		ended, refused, password := errors.New("EOF"), errors.New("connection refused"), errors.New("wrong password")
		var r backoff.Reasons
		if r.End() {
			t.Error("a failure ended before there was one")
		}
		for round := range 2 {
			for i, step := range []struct {
				after time.Duration
				err   error
				want  bool
			}{
				{0, ended, true}, {0, ended, false}, {time.Second, refused, false}, {time.Second, refused, true}, {time.Hour, refused, false},
				{0, password, true}, {59 * time.Second, ended, false}, {time.Second, ended, true},
			} {
				time.Sleep(step.after)
				if got := r.Due(step.err); got != step.want {
					t.Errorf("round %d, step %d, %v: a line is due: %v", round, i, step.err, got)
				}
			}
			if !r.End() || r.End() {
				t.Error("a failure does not end once")
			}
		}
	})
}
