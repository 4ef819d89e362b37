package wire

import (
	"context"
	"sync"
	"sync/atomic"
)

// inboundTable is the requests of the peer that are being served: how many, and those that can be cancelled.
type inboundTable struct {
	serving atomic.Int64

	mu      sync.Mutex
	byIndex []*Inbound // by the index in the id, which the peer keeps below Limits.Calls
	over    bool       // the link has ended
}

// enter takes a place for a request and reports whether there was one.
func (t *inboundTable) enter(l *Link) bool {
	if t.serving.Add(1) > int64(l.config.Limits.Calls) {
		t.serving.Add(-1)
		return false
	}
	if !l.config.Limits.InFlight.Take() {
		t.serving.Add(-1)
		return false
	}
	return true
}

func (t *inboundTable) leave(l *Link) {
	l.config.Limits.InFlight.Give()
	if t.serving.Add(-1) == 0 {
		l.leaving.signal()
	}
}

// add lists a request, so that it is found when it is cancelled or the link ends.
func (t *inboundTable) add(in *Inbound) {
	index := int(in.id & indexMask)
	t.mu.Lock()
	defer t.mu.Unlock()
	if index >= len(t.byIndex) {
		t.byIndex = append(t.byIndex, make([]*Inbound, index+1-len(t.byIndex))...)
	}
	in.listed, in.cancelled = true, t.over // the reader may still be at what it had read when the link ended
	t.byIndex[index] = in
}

func (t *inboundTable) remove(in *Inbound) {
	index := in.id & indexMask
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byIndex[index] == in {
		t.byIndex[index] = nil
	}
}

// cancel ends the context of a request, if it is still served.
func (t *inboundTable) cancel(id uint32) {
	index := int(id & indexMask)
	t.mu.Lock()
	defer t.mu.Unlock()
	if index < len(t.byIndex) {
		if in := t.byIndex[index]; in != nil && in.id == id {
			in.cancel()
		}
	}
}

func (t *inboundTable) cancelAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for _, in := range t.byIndex {
		if in != nil {
			in.cancel()
		}
	}
}

// cancel runs under inboundTable.mu. The context's end runs what others hung on it, on goroutines of their own.
func (in *Inbound) cancel() {
	in.cancelled = true
	if in.ctx != nil {
		in.ctx.end(context.Canceled)
	}
}
