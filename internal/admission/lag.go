package admission

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// lag returns the time for which a goroutine that is ready to run waits for a processor. While none is ready to run it is 0, however slow
// the machine: then other processes keep it busy, and this one would finish no more with fewer requests at once. Handlers
// that wait, for a database say, would else be held at the first limit on a machine that is shared, and calls refused behind them.
func lag() time.Duration {
	if runnable() == 0 {
		return 0
	}
	start := time.Now()
	runtime.Gosched() // goes to the end of those that are ready to run, so it takes as long as any of them waits
	return time.Since(start)
}

var samples = sync.Pool{New: func() any {
	return &[1]metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}
}}

// runnable returns the number of goroutines that are ready to run and wait for a processor. It looks at the queue of each processor, which
// takes less than a microsecond for a few of them.
func runnable() int64 {
	s := samples.Get().(*[1]metrics.Sample)
	defer samples.Put(s)
	metrics.Read(s[:])
	return int64(s[0].Value.Uint64())
}
