package workers_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/workers"
)

// A pool had a goroutine for each of these tasks: a node that 100 callers asked took 10.9 µs of processor time for a call, and 7.8 µs with a queue.
func TestShortTasksThatComeAtOnceAreRunByFewGoroutinesInTheirOrder(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // nearly all tasks are there before one is taken
	const tasks = 1000
	var q workers.Queue[task]
	none := goleak.IgnoreCurrent()
	var by [tasks]string // the tasks wait for nothing, a lock neither
	var turn [tasks]int64
	var ran atomic.Int64
	var done sync.WaitGroup
	done.Add(tasks)
	for i := range tasks {
		q.Add(func() {
			turn[i], by[i] = ran.Add(1), goroutine()
			done.Done()
		})
	}
	done.Wait()
	seen := make(map[string]bool)
	late := 0 // a goroutine may lose the processor between taking its task and running it
	for i := range tasks {
		seen[by[i]] = true
		if i > 0 && turn[i] < turn[i-1] {
			late++
		}
	}
	if len(seen) > tasks/10 || late > tasks/10 {
		t.Errorf("%d goroutines ran %d tasks, %d of them out of their order", len(seen), tasks, late)
	}
	q.End()
	goleak.VerifyNone(t, none)
}

func TestTasksOfAQueueThatWaitForEachOtherAreAllRun(t *testing.T) {
	const tasks = 2000
	var q workers.Queue[task]
	none := goleak.IgnoreCurrent()
	begun, gate := make(chan bool), make(chan bool)
	var done sync.WaitGroup
	done.Add(tasks)
	for range tasks {
		q.Add(func() { defer done.Done(); begun <- true; <-gate })
	}
	for range tasks {
		<-begun
	}
	close(gate)
	done.Wait()
	q.End()
	goleak.VerifyNone(t, none)
}

func TestATaskThatEndsItsGoroutineEndsNoOthers(t *testing.T) {
	var q workers.Queue[task]
	none := goleak.IgnoreCurrent()
	var done sync.WaitGroup
	for i := range 1000 {
		done.Add(1)
		q.Add(func() {
			defer done.Done()
			if i%3 == 0 {
				runtime.Goexit()
			}
		})
	}
	done.Wait()
	q.End()
	goleak.VerifyNone(t, none)
}

func TestManyGoroutinesAddTasks(t *testing.T) {
	var q workers.Queue[task]
	none := goleak.IgnoreCurrent()
	var ran, adding sync.WaitGroup
	for range 8 {
		adding.Go(func() {
			for i := range 5000 {
				ran.Add(1)
				q.Add(func() {
					if i%64 == 0 {
						runtime.Gosched()
					}
					ran.Done()
				})
			}
		})
	}
	adding.Wait()
	ran.Wait()
	q.End()
	goleak.VerifyNone(t, none)
}
