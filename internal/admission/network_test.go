package admission

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// Where a pause sleeps, however short, an idle processor sleeps for a millisecond at least.
func TestALookAtTheNetworkDoesNotWaitForATimer(t *testing.T) {
	var n network
	defer n.close()
	n.look(true) // opens the pipe
	const looks = 200
	least := time.Hour
	for range 5 { // the best of some, as the machine may have other work
		begun := time.Now()
		for range looks {
			n.look(true)
		}
		least = min(least, time.Since(begun))
	}
	if least > looks*time.Millisecond/4 {
		t.Errorf("%d looks took %v at best: each slept", looks, least)
	}
}

// Whoever only joins would else begin one look after the other.
func TestALookThatNobodyBeganIsNotWaitedFor(t *testing.T) {
	var n network
	n.look(false)
	if n.raw != nil || n.round != nil {
		t.Error("a look was begun")
	}
}

func TestAControlThatIsCalmAgainHasNoFilesOpen(t *testing.T) {
	c := New()
	defer c.Close()
	open := func() bool {
		c.network.mu.Lock()
		defer c.network.mu.Unlock()
		return c.network.raw != nil
	}
	c.paused.Store(-int64(readEvery)) // it is due
	c.Pause()
	if !open() {
		t.Fatal("no look was made")
	}
	for open() {
		runtime.Gosched()
	}
}

func TestLooksOfManyGoroutinesEndAndGoOnAfterTheEnd(t *testing.T) {
	var n network
	var looking sync.WaitGroup
	for range 20 {
		looking.Go(func() {
			for range 50 {
				n.look(true)
			}
		})
	}
	n.look(true)
	n.close() // of a node that stops while it serves
	looking.Wait()
	n.look(true)
	n.close()
}
