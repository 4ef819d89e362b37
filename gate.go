package sabir

import (
	"context"
	"sync"
	"sync/atomic"
)

// gate counts the calls inside a service that has a stop hook, so that the hook runs after the last of them: it may
// close what they use. A service without one has nothing to wait for, so its calls are not counted.
type gate struct {
	inside atomic.Int64 // plus gateClosed once closed
	empty  chan struct{}
	once   sync.Once
}

const gateClosed = int64(-1) << 62

func newGate() *gate { return &gate{empty: make(chan struct{})} }

// enter counts a call in; false when the gate is closed.
func (g *gate) enter() bool {
	if g.inside.Add(1) > 0 {
		return true
	}
	g.leave()
	return false
}

// leave counts a call out; the last one out of a closed gate tells.
func (g *gate) leave() {
	if g.inside.Add(-1) == gateClosed {
		g.once.Do(func() { close(g.empty) }) // calls that came late may each be the last
	}
}

// shut keeps new calls out and waits for those inside, or for the context.
func (g *gate) shut(ctx context.Context) error {
	if g.inside.Add(gateClosed) == gateClosed {
		return nil
	}
	select {
	case <-g.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
