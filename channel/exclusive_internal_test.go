package channel

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhoIsAloneOnTheFloorWaitsForTheOthersAndHoldsThemUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f handlerLock
		f.lockShared(t.Context())
		cleared, entered := make(chan bool, 1), make(chan bool, 1)
		go func() { cleared <- f.lockExclusive(t.Context()) }()
		synctest.Wait()
		go func() { entered <- f.lockShared(t.Context()) }()
		synctest.Wait()
		if len(cleared)+len(entered) > 0 {
			t.Fatal("somebody did not wait")
		}
		f.unlockShared()
		if !<-cleared || len(entered) > 0 {
			t.Fatal("others came in with the one that is alone")
		}
		f.unlockExclusive()
		if !<-entered {
			t.Fatal("the floor stays closed")
		}
	})
}

// Handlers of 20 seconds, four at any time, of which each waits in its middle for one that begins later.
func TestTheFloorIsClearedHoweverLongHandlersTakeAndNobodyWaitsForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f handlerLock
		ctx, cancel := context.WithCancel(t.Context())
		var handlers sync.WaitGroup
		for range 4 {
			handlers.Go(func() {
				for ctx.Err() == nil && f.lockShared(ctx) {
					time.Sleep(20 * time.Second)
					f.unlockShared()
				}
			})
		}
		synctest.Wait()
		nested := make(chan bool)
		f.lockShared(ctx) // a handler that waits for another's
		go func() {
			time.Sleep(time.Millisecond)
			if f.lockShared(ctx) {
				f.unlockShared()
			}
			f.unlockShared()
			nested <- true
		}()
		began := time.Now()
		if !f.lockExclusive(ctx) {
			t.Fatal("the floor was not cleared")
		}
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("it took %v", took)
		}
		<-nested
		f.unlockExclusive()
		cancel()
		handlers.Wait()
	})
}

func TestClearingTheFloorEndsWithItsContextAndLeavesItOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f handlerLock
		f.lockShared(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if f.lockExclusive(ctx) {
			t.Fatal("it was cleared")
		}
		f.lockShared(t.Context())
		f.unlockShared()
		f.unlockShared()
		if !f.lockExclusive(t.Context()) {
			t.Fatal("it cannot be cleared any more")
		}
		f.unlockExclusive()
	})
}

func BenchmarkFloor(b *testing.B) {
	var f handlerLock
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			f.lockShared(b.Context())
			f.unlockShared()
		}
	})
}
