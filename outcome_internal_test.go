package sabir

import (
	"errors"
	"testing"

	"github.com/sabir-go/sabir/internal/outlier"
	"github.com/sabir-go/sabir/internal/wire"
)

// A node that leaves in order, or has much to do, must not look sick: else a rolling restart and an overload would leave nodes out.
func TestWhatTheErrorOfACallShowsOfItsNode(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want outlier.Outcome
	}{
		"an answer":                       {nil, outlier.Success},
		"a node that leaves":              {&wire.LostError{Err: wire.ErrGoingAway}, outlier.Neither},
		"a link that was lost":            {&wire.LostError{Sent: true, Err: errors.New("reset")}, outlier.Failure},
		"too much to do":                  {ErrTooManyCalls, outlier.Overload},
		"an action that has just gone":    {ErrActionNotFound.AsRetryable(), outlier.Neither},
		"a deadline that passed":          {ErrDeadlineExceeded, outlier.Failure},
		"a caller that gave up":           {ErrCanceled, outlier.Neither},
		"an error of the caller's making": {ErrBadInput, outlier.Success},
		"a plain error of a handler":      {errors.New("no such user"), outlier.Success},
	} {
		if got := outcomeOf(c.err); got != c.want {
			t.Errorf("%s is %d, want %d", name, got, c.want)
		}
	}
}
