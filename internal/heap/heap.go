// Package heap lets the heap of a small process grow to a floor before the garbage collector runs.
//
// Go starts a collection when the heap has grown by a share of what was live after the last one, and at 4 MiB at the earliest. A node that
// answers calls has few live bytes and makes many short-lived ones, so it collects hundreds of times in a second; a collection costs the same
// however much there is to free. With a floor of 32 MiB a call of 677 bytes took two thirds of the processor time.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// smallest is the heap at which Go collects at the earliest with GOGC=100.
const smallest = 4 << 20

// held has the floors of all nodes of the process, since they share one garbage collector.
var held struct {
	sync.Mutex
	floors   map[*Floor]int64
	set      int  // GOGC as it was set here last; 0 where the program has set its own
	watching bool // adjust runs after the next collection
}

// Floor is the wish of one node. Release ends it.
type Floor struct{ once sync.Once }

// Hold has the process collect no earlier than at so many bytes, until Release; of several the largest counts. It does nothing where
// the environment has GOGC, and from the moment on at which the program sets the percentage itself. GOMEMLIMIT and debug.SetMemoryLimit hold as
// without it.
func Hold(bytes int64) *Floor {
	f := new(Floor)
	if bytes <= smallest || os.Getenv("GOGC") != "" {
		return f
	}
	held.Lock()
	defer held.Unlock()
	if held.floors == nil {
		held.floors = make(map[*Floor]int64)
	}
	held.floors[f] = bytes
	if len(held.floors) == 1 {
		held.set = 100
		if own := debug.SetGCPercent(100); own != 100 {
			debug.SetGCPercent(own)
			held.set = 0
		}
	}
	watch()
	adjust()
	return f
}

// Release ends the wish. It may be called several times.
func (f *Floor) Release() {
	f.once.Do(func() {
		held.Lock()
		defer held.Unlock()
		if held.floors[f] == 0 {
			return
		}
		delete(held.floors, f)
		adjust()
	})
}

// watch has adjust run after each collection: a cleanup runs when its object, which nothing refers to, is found to be garbage.
func watch() {
	if held.watching {
		return
	}
	held.watching = true
	runtime.AddCleanup(new([16]byte), func(struct{}) { // an object with no pointers under 16 bytes would share its memory with others
		held.Lock()
		defer held.Unlock()
		held.watching = false
		if len(held.floors) > 0 {
			adjust()
			watch()
		}
	}, struct{}{})
}

// adjust sets the percentage at which the next collection begins at the floor, or with twice the live heap if that is more. It runs under held.
func adjust() {
	if held.set == 0 {
		return
	}
	floor := int64(0)
	for _, bytes := range held.floors {
		floor = max(floor, bytes)
	}
	want := percent(floor, live())
	if want == held.set {
		return
	}
	if now := debug.SetGCPercent(want); now != held.set { // the program has set it meanwhile
		debug.SetGCPercent(now)
		held.set = 0
		return
	}
	held.set = want
}

// percent is GOGC for a floor: 100 where the live heap is half of it or more.
func percent(floor, live int64) int {
	most := floor * 100 / smallest // Go multiplies its smallest heap by it too
	if live > 0 {
		most = min(most, (floor-live)*100/live)
	}
	return int(max(100, most))
}

// live is how many bytes were live after the last collection: in the heap, in stacks and in global variables, which Go counts alike.
func live() (bytes int64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			bytes += int64(s.Value.Uint64())
		}
	}
	return bytes
}
