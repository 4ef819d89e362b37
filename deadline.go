package sabir

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// deadlineContext is a context with a deadline that costs no timer until somebody asks for Done.
type deadlineContext struct {
	context.Context // the parent
	deadline        time.Time
	making          sync.Mutex
	timed           atomic.Pointer[timedContext] // made when Done is first asked for
	ended           atomic.Bool
}

// timedContext is a standard context and what ends it.
type timedContext struct {
	context.Context
	cancel context.CancelFunc
}

func (d *deadlineContext) Deadline() (time.Time, bool) {
	if outer, ok := d.Context.Deadline(); ok && outer.Before(d.deadline) {
		return outer, true
	}
	return d.deadline, true
}

func (d *deadlineContext) Done() <-chan struct{} { return d.standard().Done() }

func (d *deadlineContext) Err() error {
	ended := d.ended.Load()
	timed := d.timed.Load()
	switch {
	case timed != nil:
		return timed.Err()
	case d.Context.Err() != nil:
		return d.Context.Err()
	case !time.Now().Before(d.deadline):
		return context.DeadlineExceeded
	case ended:
		return context.Canceled
	}
	return nil
}

// Value answers from the standard context once there is one, so that contexts derived from this one attach to it without
// a goroutine.
func (d *deadlineContext) Value(key any) any {
	if timed := d.timed.Load(); timed != nil {
		return timed.Value(key)
	}
	return d.Context.Value(key)
}

func (d *deadlineContext) standard() context.Context {
	if timed := d.timed.Load(); timed != nil {
		return timed
	}
	d.making.Lock()
	defer d.making.Unlock()
	if timed := d.timed.Load(); timed != nil {
		return timed
	}
	timed := &timedContext{}
	timed.Context, timed.cancel = context.WithDeadline(d.Context, d.deadline)
	d.timed.Store(timed)
	if d.ended.Load() { // end reads these two the other way round, so one of the two releases it
		d.release(timed)
	}
	return timed
}

// end releases what the context holds; whoever still uses it finds it ended.
func (d *deadlineContext) end() {
	d.ended.Store(true)
	if timed := d.timed.Load(); timed != nil {
		d.release(timed)
	}
}

// release cancels a context whose deadline is yet to come. One whose deadline has passed ends by itself about now, and is
// left to say why: a handler that outlives its caller must see that it was the deadline.
func (d *deadlineContext) release(timed *timedContext) {
	if time.Now().Before(d.deadline) {
		timed.cancel()
	}
}
