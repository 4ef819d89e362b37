package memory

import (
	"sync"
	"sync/atomic"
	"time"
)

// step is the change in bytes that a window reports. It bounds what each of many streams may hold uncounted.
const step = 8 << 10

// Window counts what waits in one direction of a stream. Its methods may be called by many goroutines at once, and on nil, which counts
// nothing.
type Window struct {
	account *Account
	end     func()

	held     atomic.Int64
	reported atomic.Int64
	taken    atomic.Uint32 // counts the values that were taken

	mu     sync.Mutex // held while reporting
	listed bool
	closed bool

	// Guarded by Budget.mu.
	seen  uint32        // taken, at the last look
	since time.Time     // of the last change of taken that was seen
	still time.Duration // without one, as far as it was looked at
	ended bool
}

// Window makes the window of a stream. end ends the stream; it is called at most once, on a goroutine of its own, when the receiver
// has taken nothing for too long while streams hold more than their share. Close the window when the stream is over.
func (a *Account) Window(end func()) *Window {
	if a == nil {
		return nil
	}
	return &Window{account: a, end: end}
}

// Add counts n bytes that wait from now on.
func (w *Window) Add(n int) {
	if w == nil {
		return
	}
	if held := w.held.Add(int64(n)); held-w.reported.Load() >= step {
		w.report()
	}
}

// Remove counts n bytes that were taken, which shows that the receiver does not stand still.
func (w *Window) Remove(n int) {
	if w == nil {
		return
	}
	w.taken.Add(1)
	if held := w.held.Add(-int64(n)); w.reported.Load()-held >= step {
		w.report()
	}
}

// Progress notes that the receiver takes the parts of a value that still waits.
func (w *Window) Progress() {
	if w != nil {
		w.taken.Add(1)
	}
}

// Account returns the account of the window.
func (w *Window) Account() *Account {
	if w == nil {
		return nil
	}
	return w.account
}

// Close gives back all that the window holds. What is added later does not count.
func (w *Window) Close() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.account.count(-w.reported.Swap(0))
	w.held.Store(0)
	if w.listed {
		b := w.account.budget
		b.mu.Lock()
		delete(b.windows, w)
		b.mu.Unlock()
	}
}

// report counts the change since the last report.
func (w *Window) report() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	held := w.held.Load()
	change := held - w.reported.Load()
	if change > -step && change < step { // another report was quicker
		return
	}
	w.reported.Store(held)
	w.account.count(change)
	b := w.account.budget
	if !w.listed {
		w.listed = true
		b.mu.Lock()
		b.windows[w] = struct{}{}
		w.since = time.Now()
		b.mu.Unlock()
	}
	if change > 0 && w.account.over() {
		b.startRelieving()
	}
}
