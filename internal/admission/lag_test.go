package admission

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestNothingLagsWhereNoGoroutineOfThisProcessIsReadyToRun(t *testing.T) {
	for lag() != 0 { // a collector's goroutine may be
		runtime.Gosched()
	}
}

func TestGoroutinesThatAreReadyToRunLag(t *testing.T) {
	var spinning sync.WaitGroup
	defer spinning.Wait()
	end := make(chan struct{})
	defer close(end)
	for range 8 * runtime.GOMAXPROCS(0) {
		spinning.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
					for start := time.Now(); time.Since(start) < time.Millisecond; {
					}
					runtime.Gosched()
				}
			}
		})
	}
	for lag() < congested {
	}
}

func BenchmarkLag(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		lag()
	}
}
