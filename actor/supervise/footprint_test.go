package supervise_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/supervise"
	"github.com/sabir-go/sabir/internal/race"
)

// The bytes are also those that the supervisor keeps for each child, with its args.
func TestASleepingChildTakesAtMost400Bytes(t *testing.T) {
	if race.Enabled {
		t.Skip("under the detector memory is not what it is")
	}
	const n, limit = 200_000, 400
	w := newWorld(t)
	pid := w.start(supervise.Dynamic(idle, supervise.Config{}, supervise.Child{}))
	s := w.start(starting.Spec(struct{}{}))
	before := inUse()
	if got, err := actor.Call[int](context.Background(), w.system, s, startMany{pid, n}); err != nil || got != n {
		t.Fatal(got, err)
	}
	each := (inUse() - before) / n
	t.Logf("%d bytes", each)
	if each > limit {
		t.Errorf("a child takes %d bytes, more than %d", each, limit)
	}
	if list := w.children(pid); len(list) != 1000 {
		t.Errorf("%d children are listed", len(list))
	}
}

// inUse is the number of bytes of memory in use.
func inUse() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
