package gossip

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"github.com/sabir-go/sabir/internal/membership"
)

// A node that leaves dials nobody any more. That is no news of its seeds: they were said to be out of reach, by each node that stopped while calls were
// in flight.
func TestANodeThatLeavesDoesNotSayThatItsSeedsCannotBeReached(t *testing.T) {
	var out bytes.Buffer
	s := newRejoiner("tcp://self:1", nil, slog.New(slog.NewTextHandler(&out, nil)))
	defer s.stop()
	for _, reached := range []bool{true, false} {
		p := &rejoinTarget{seed: true, joining: true, reached: reached, delay: minUnreachedDelay}
		s.scheduleNext(p, fmt.Errorf("join: %w", membership.ErrLeaving))
		if out.Len() > 0 || p.reached != reached || p.joining || p.due.IsZero() {
			t.Errorf("%s: %+v", &out, p)
		}
	}
	s.scheduleNext(&rejoinTarget{seed: true, reached: true}, fmt.Errorf("no route"))
	if !bytes.Contains(out.Bytes(), []byte("a seed cannot be reached")) {
		t.Errorf("a seed that cannot be reached is not said to be: %s", &out)
	}
}
