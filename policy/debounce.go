package policy

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
)

// Debounce has a handler of events handle the last one of several that follow one another, once none has come for a while:
//
//	sabir.On(search, "item.changed", reindex, sabir.Use(policy.Debounce{Wait: time.Second, Key: item}))
//
// Emitters do not wait for the handler; an error or a panic is in the log. What is held back is handled when the service stops, and lost with
// the process, so a consumer of a channel cannot have it.
type Debounce struct {
	// Wait is how long none must have come: above 0. It has no default.
	Wait time.Duration
	// MaxWait is how long an event waits at most while others follow; the last one is handled then. Default: ten times Wait.
	MaxWait time.Duration
	// Key says which events are of one kind, of which the last counts. It is called by many goroutines at once. Default: all events
	// of one name.
	Key func(*sabir.Event) string
	// MaxKeys bounds how many events are held back at once. Those above are handled as they come. Default: 10,000.
	MaxKeys int
}

// Middleware makes the middleware.
func (d Debounce) Middleware() sabir.Middleware {
	s := settings{name: "Debounce"}
	s.want(d.Wait > 0, "Wait is %v; it must be positive", d.Wait)
	s.want(d.MaxWait == 0 || d.MaxWait >= d.Wait, "MaxWait is %v, shorter than Wait, %v", d.MaxWait, d.Wait)
	s.want(d.MaxKeys >= 0, "MaxKeys is %d: want at least 1", d.MaxKeys)
	d.MaxWait, d.MaxKeys = cmp.Or(d.MaxWait, 10*d.Wait), cmp.Or(d.MaxKeys, 10_000)
	return s.forHandlers(func(sub *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
		if sub.Durable {
			sub.Reject("policy.Debounce holds events back in memory, and would lose messages of the channel %s", sub.Pattern)
			return next
		}
		h := &heldEvents{Debounce: &d, last: make(map[string]*heldEvent)}
		sub.OnStop(h.finish)
		return func(ctx context.Context, e *sabir.Event) error {
			h.hold(e, e.Later(ctx, next))
			return nil
		}
	})
}

// heldEvents are the events that a handler has not got yet.
type heldEvents struct {
	*Debounce
	mu      sync.Mutex
	last    map[string]*heldEvent // by key
	closed  bool
	running sync.WaitGroup // handlers of events that were held back
}

type heldEvent struct {
	handle func()
	timer  *time.Timer
	since  time.Time // of the first event that it stands for
}

// hold keeps the event in place of the one before it. Where there are too many, or the service stops, it is handled now.
func (h *heldEvents) hold(e *sabir.Event, handle func()) {
	key := e.Name
	if h.Key != nil {
		key = h.Key(e)
	}
	h.mu.Lock()
	known := h.last[key]
	switch {
	case known != nil:
		known.handle = handle
		known.timer.Reset(min(h.Wait, h.MaxWait-time.Since(known.since)))
	case h.closed || len(h.last) >= h.MaxKeys:
		defer handle()
	default:
		one := &heldEvent{handle: handle, since: time.Now()}
		one.timer = time.AfterFunc(h.Wait, func() { h.release(key, one) })
		h.last[key] = one
	}
	h.mu.Unlock()
}

// release handles an event whose time has come. A timer that was set anew while it rang may ring once more: then the event is not
// there any more.
func (h *heldEvents) release(key string, one *heldEvent) {
	h.mu.Lock()
	if h.last[key] != one {
		h.mu.Unlock()
		return
	}
	delete(h.last, key)
	h.running.Add(1)
	handle := one.handle
	h.mu.Unlock()
	defer h.running.Done()
	handle()
}

// finish handles what is held back and waits for the handlers, or for the context.
func (h *heldEvents) finish(ctx context.Context) {
	h.mu.Lock()
	h.closed = true
	rest := h.last
	h.last = make(map[string]*heldEvent)
	h.mu.Unlock()
	for _, one := range rest {
		one.timer.Stop()
		h.running.Go(one.handle)
	}
	done := make(chan struct{})
	go func() {
		h.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
