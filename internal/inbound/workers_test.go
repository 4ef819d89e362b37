package inbound

import (
	"runtime"
	"testing"
)

// A goroutine that is started for each call has two stacks or more by the end of a deep one.
func TestCallsOneAfterTheOtherAreServedByOneGoroutine(t *testing.T) {
	var c Calls
	defer c.Close()
	seen := make(map[uint64]bool)
	for range 100 {
		id := make(chan uint64)
		if !c.Begin() {
			t.Fatal("a call was refused")
		}
		c.Go(func() { id <- goroutine() })
		seen[<-id] = true
		if err := c.settled(t); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 1 {
		t.Errorf("%d goroutines served calls one after the other", len(seen))
	}
}

// settled waits until every goroutine is idle.
func (c *Calls) settled(t *testing.T) error {
	for {
		c.workers.mu.Lock()
		idle := c.workers.count
		c.workers.mu.Unlock()
		if idle == 1 {
			return t.Context().Err()
		}
		runtime.Gosched()
	}
}

// goroutine is the number of the goroutine that calls, as its stack says it.
func goroutine() (id uint64) {
	text := make([]byte, 64)
	for _, c := range text[len("goroutine "):runtime.Stack(text, false)] {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uint64(c-'0')
	}
	return id
}

func TestCallsThatWaitHoldNoOthersUp(t *testing.T) {
	var c Calls
	const calls = 2 * maxIdle
	gate, served := make(chan struct{}), make(chan struct{})
	for range calls {
		c.Begin()
		c.Go(func() {
			served <- struct{}{}
			<-gate
		})
	}
	for range calls {
		<-served
	}
	close(gate)
	if err := c.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	c.Begin()
	c.Go(func() { gate = nil }) // a call that comes later is still served
	if err := c.Wait(t.Context()); err != nil || gate != nil {
		t.Error(err)
	}
	c.Close()
	if c.workers.count != 0 || c.workers.first != nil {
		t.Errorf("%d goroutines are kept", c.workers.count)
	}
}
