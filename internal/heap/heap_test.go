package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestThePercentageLetsTheHeapGrowToTheFloor(t *testing.T) {
	for _, test := range []struct {
		floor, live int64
		want        int
	}{
		{32 << 20, 0, 800}, {32 << 20, 1 << 20, 800}, {32 << 20, 8 << 20, 300}, {32 << 20, 16 << 20, 100}, {32 << 20, 64 << 20, 100}, {0, 1 << 20, 100},
	} {
		if got := percent(test.floor, test.live); got != test.want {
			t.Errorf("with a floor of %d and %d live: %d, want %d", test.floor, test.live, got, test.want)
		}
	}
}

// goal is the size of the heap at which the next collection ends.
func goal() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func TestASmallHeapIsCollectedAtTheFloor(t *testing.T) {
	runtime.GC()
	without := goal()
	f := Hold(32 << 20)
	with := goal()
	f.Release()
	f.Release()
	if after := goal(); without > 16<<20 || with < 24<<20 || with > 64<<20 || after > 16<<20 {
		t.Errorf("the goal is %d without a floor, %d with one of 32 MiB, %d after it", without, with, after)
	}
}

func TestAHeapThatGrowsIsCollectedAtTwiceWhatIsLive(t *testing.T) {
	f := Hold(32 << 20)
	defer f.Release()
	large := make([][]byte, 64)
	for i := range large {
		large[i] = make([]byte, 1<<20)
	}
	for set := 0; set != 100; { // the cleanup that adjusts runs some time after a collection
		runtime.GC()
		held.Lock()
		set = held.set
		held.Unlock()
	}
	runtime.KeepAlive(large)
}

func TestTheLargestOfSeveralFloorsCounts(t *testing.T) {
	runtime.GC() // what other tests left
	small, large := Hold(16<<20), Hold(64<<20)
	at := func() int {
		held.Lock()
		defer held.Unlock()
		return held.set
	}
	both := at()
	large.Release()
	one := at()
	small.Release()
	if none := at(); both <= one || one <= none || none != 100 {
		t.Errorf("GOGC is %d with both, %d with the small one, %d without", both, one, none)
	}
}

func TestAPercentageOfTheProgramsOwnIsLeftAlone(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	f := Hold(32 << 20)
	if got := debug.SetGCPercent(50); got != 50 {
		t.Errorf("set before: GOGC is %d", got)
	}
	f.Release()
	debug.SetGCPercent(100)
	f = Hold(32 << 20)
	debug.SetGCPercent(75)
	held.Lock()
	held.floors[f] = 64 << 20
	adjust()
	held.Unlock()
	f.Release()
	if got := debug.SetGCPercent(100); got != 75 {
		t.Errorf("set meanwhile: GOGC is %d", got)
	}
}

func TestGOGCInTheEnvironmentIsLeftAlone(t *testing.T) {
	t.Setenv("GOGC", "100")
	defer Hold(32 << 20).Release()
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GOGC is %d", got)
	}
}
