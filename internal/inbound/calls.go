// Package inbound has what bridges share that let calls of foreign nodes in: a count of those that run, the keys of metadata that
// foreign nodes may not set, and a log of what was refused.
package inbound

import (
	"context"
	"sync"

	"github.com/sabir-go/sabir/internal/workers"
)

// MaxCalls bounds the calls and events of foreign nodes that a bridge serves at once.
const MaxCalls = 10_000

// Calls counts the calls that are served. Its zero value is ready, and its methods may be called by several goroutines.
type Calls struct {
	mu    sync.Mutex
	count int
	idle  chan struct{} // closed when count is 0; nil while nobody waits

	queue workers.Queue[call]
}

// call is a call that is served, as a task of workers.
type call struct {
	calls *Calls
	task  workers.Task
}

// Run serves the call.
func (c call) Run() {
	defer c.calls.End()
	c.task.Run()
}

// function is a task without a type of its own.
type function func()

func (f function) Run() { f() }

// Begin counts one more call, which End ends. It is false where MaxCalls are served.
func (c *Calls) Begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count >= MaxCalls {
		return false
	}
	c.count++
	return true
}

// Go serves a call that has begun on another goroutine, and ends it.
func (c *Calls) Go(serve func()) { c.Serve(function(serve)) }

// Serve is Go for a task.
func (c *Calls) Serve(task workers.Task) { c.queue.Add(call{c, task}) }

// Close ends the goroutines that are kept for later calls. Those that come nevertheless are served.
func (c *Calls) Close() { c.queue.End() }

// End ends a call.
func (c *Calls) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count--; c.count == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// Wait returns when no call is served, or with the error of the context.
func (c *Calls) Wait(ctx context.Context) error {
	c.mu.Lock()
	if c.count == 0 {
		c.mu.Unlock()
		return nil
	}
	if c.idle == nil {
		c.idle = make(chan struct{})
	}
	idle := c.idle
	c.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
