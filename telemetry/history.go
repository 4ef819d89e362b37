package telemetry

import (
	"context"
	"strings"
	"sync"
	"time"
)

// point counts what a node's actions have done until one moment of its history, since its Telemetry was made. The runtime's own, whose names begin with $, are left out.
type point struct {
	At     int64  `json:"at"` // Unix milliseconds
	Calls  uint64 `json:"calls"`
	Failed uint64 `json:"failed"` // of them
	Active int64  `json:"active"` // in flight
}

// The history of a node: an hour, in 11.5 KB.
const (
	historyEvery = 10 * time.Second
	historySize  = 360
)

// history keeps the last points. Its counts are read at each point, and nothing is added to a call.
type history struct {
	metrics *metrics
	mu      sync.Mutex
	points  []point // a ring: the oldest is at next where it is full
	next    int
	stop    chan struct{}
	stopped sync.WaitGroup
}

func (h *history) start(context.Context) error {
	if h.metrics == nil {
		return nil
	}
	h.stop = make(chan struct{})
	stop := h.stop
	h.stopped.Go(func() {
		every := time.NewTicker(historyEvery)
		defer every.Stop()
		for {
			h.add(h.metrics.point(time.Now()))
			select {
			case <-every.C:
			case <-stop:
				return
			}
		}
	})
	return nil
}

func (h *history) end(context.Context) error {
	if h.stop != nil {
		close(h.stop)
		h.stop = nil
	}
	h.stopped.Wait()
	return nil
}

func (h *history) add(p point) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.points) < historySize {
		h.points = append(h.points, p)
		return
	}
	h.points[h.next] = p
	h.next = (h.next + 1) % historySize
}

// list returns the points, the oldest first.
func (h *history) list() []point {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append(append(make([]point, 0, len(h.points)), h.points[h.next:]...), h.points[:h.next]...)
}

// point adds up the node's actions.
func (m *metrics) point(at time.Time) point {
	p := point{At: at.UnixMilli()}
	for _, f := range []family{serverCalls, streams} {
		for _, t := range m.list(f) {
			if a := t.stats(f == streams); !strings.HasPrefix(a.Name, "$") {
				p.Calls, p.Failed, p.Active = p.Calls+a.Calls, p.Failed+a.Failed, p.Active+a.Active
			}
		}
	}
	return p
}
