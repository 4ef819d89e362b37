package channel

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestTheExclusiveHandlerWaitsForTheOthersAndKeepsNewOnesOut(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var lock handlerLock
		lock.lockShared(t.Context())
		exclusive, shared := make(chan bool, 1), make(chan bool, 1)
		go func() { exclusive <- lock.lockExclusive(t.Context()) }()
		bubbletest.Wait()
		go func() { shared <- lock.lockShared(t.Context()) }()
		bubbletest.Wait()
		if len(exclusive)+len(shared) > 0 {
			t.Fatal("one of them did not wait")
		}
		lock.unlockShared()
		if !<-exclusive || len(shared) > 0 {
			t.Fatal("another handler runs beside the exclusive one")
		}
		lock.unlockExclusive()
		if !<-shared {
			t.Fatal("the lock stays taken")
		}
	})
}

// Handlers of 20 seconds, four at any time, of which each waits in its middle for one that begins later.
func TestTheExclusiveLockIsTakenHoweverLongHandlersRunAndNoHandlerWaitsForever(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var lock handlerLock
		ctx, cancel := context.WithCancel(t.Context())
		var handlers sync.WaitGroup
		for range 4 {
			handlers.Go(func() {
				for ctx.Err() == nil && lock.lockShared(ctx) {
					time.Sleep(20 * time.Second)
					lock.unlockShared()
				}
			})
		}
		bubbletest.Wait()
		nested := make(chan bool)
		lock.lockShared(ctx) // a handler that waits for another's
		go func() {
			time.Sleep(time.Millisecond)
			if lock.lockShared(ctx) {
				lock.unlockShared()
			}
			lock.unlockShared()
			nested <- true
		}()
		began := time.Now()
		if !lock.lockExclusive(ctx) {
			t.Fatal("the exclusive lock was not taken")
		}
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("it took %v", took)
		}
		<-nested
		lock.unlockExclusive()
		cancel()
		handlers.Wait()
	})
}

func TestTheWaitForTheExclusiveLockEndsWithItsContextAndLeavesItOpen(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var lock handlerLock
		lock.lockShared(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if lock.lockExclusive(ctx) {
			t.Fatal("it was taken")
		}
		lock.lockShared(t.Context())
		lock.unlockShared()
		lock.unlockShared()
		if !lock.lockExclusive(t.Context()) {
			t.Fatal("it cannot be taken any more")
		}
		lock.unlockExclusive()
	})
}

func BenchmarkHandlerLock(b *testing.B) {
	var lock handlerLock
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			lock.lockShared(b.Context())
			lock.unlockShared()
		}
	})
}
