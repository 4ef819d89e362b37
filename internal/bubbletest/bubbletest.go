// Package bubbletest runs tests in bubbles of [testing/synctest], where time moves when every goroutine waits.
package bubbletest

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/sabir-go/sabir/internal/race"
)

// Run runs f in a bubble. Under the race detector the process has a single processor meanwhile: the runtime (Go 1.26) gives all
// timers of a bubble one context of the detector, and two threads that use it at once, one that fires timers and one that
// looks at the channel of another, end the process with a segmentation fault (golang/go#78156). That happened in 9 of 40
// runs of package lease, and in none of 40 with a single processor. The detector orders events by what happens before what, so
// it finds with one processor what it finds with two.
func Run(t *testing.T, f func(*testing.T)) {
	t.Helper()
	if race.Enabled {
		limit()
		defer unlimit()
	}
	synctest.Test(t, f)
}

// Wait waits until every other goroutine of the bubble waits for something of the bubble.
func Wait() { synctest.Wait() }

// Bubbles of tests that run at the same time: the last to end gives the processors back.
var limited struct {
	sync.Mutex
	bubbles    int
	processors int
}

func limit() {
	limited.Lock()
	defer limited.Unlock()
	if limited.bubbles++; limited.bubbles == 1 {
		limited.processors = runtime.GOMAXPROCS(1)
	}
}

func unlimit() {
	limited.Lock()
	defer limited.Unlock()
	if limited.bubbles--; limited.bubbles == 0 {
		runtime.GOMAXPROCS(limited.processors)
	}
}
