package wire

import "context"

// Retire says GoAway and waits until the peer sends no new work and all that it began is finished. Calls and streams of
// this side go on, and may still begin: it is for a node that stops serving before it stops. When ctx ends first, Retire
// returns ctx.Err(), and what is in flight goes on.
func (l *Link) Retire(ctx context.Context) error {
	l.leaving.awaited.Store(true)
	l.GoAway()
	for {
		changed := l.leaving.waiting()
		if l.retired() {
			return nil
		}
		select {
		case <-changed:
		case <-l.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// retired tells whether the peer has nothing under way here and will send nothing new.
func (l *Link) retired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed || l.leaving.answered && l.inbound.serving.Load() == 0 && l.streams.theirsOpen() == 0
}
