package http1

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// connContext is the context of a connection. Its channel is made only when Done is called.
type connContext struct {
	ended atomic.Bool
	mu    sync.Mutex
	err   error
	done  chan struct{} // nil until it is asked for
	after map[*func()]struct{}
}

var _ context.Context = (*connContext)(nil)

func (l *connContext) Deadline() (time.Time, bool) { return time.Time{}, false }

func (l *connContext) Value(any) any { return nil }

func (l *connContext) Err() error {
	if !l.ended.Load() { // each call asks
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *connContext) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == nil {
		l.done = make(chan struct{})
		if l.err != nil {
			close(l.done)
		}
	}
	return l.done
}

// AfterFunc is found by package context. With it, a derived context needs no goroutine.
func (l *connContext) AfterFunc(f func()) (stop func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		go f()
		return func() bool { return false }
	}
	key := &f
	if l.after == nil {
		l.after = make(map[*func()]struct{})
	}
	l.after[key] = struct{}{}
	return func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		_, waiting := l.after[key]
		delete(l.after, key)
		return waiting
	}
}

// end ends the context. Only the first error counts.
func (l *connContext) end(err error) {
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return
	}
	l.err = err
	l.ended.Store(true) // before done is closed
	after := l.after
	l.after = nil
	if l.done != nil {
		close(l.done)
	}
	l.mu.Unlock()
	for f := range after {
		(*f)()
	}
}
