package mesh

import (
	"runtime"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/processor"
	"github.com/sabir-go/sabir/internal/wire"
)

// Load is the load of this node, which its heartbeats send to the other nodes.
func (m *Mesh) Load() wire.Load {
	return wire.Load{CPU: processorShare(), Calls: uint32(m.wire.Limits.InFlight.InUse()), Waiting: uint32(m.wire.Admission.Queued())}
}

// processorUse remembers the last measurement, since a share needs two.
var processorUse struct {
	sync.Mutex
	when  time.Time
	used  float64 // seconds
	share float32
}

// processorShare is the share of the processors that this process used over about the last second.
func processorShare() float32 {
	u := &processorUse
	u.Lock()
	defer u.Unlock()
	now := time.Now()
	past := now.Sub(u.when).Seconds()
	if past < 0.5 {
		return u.share
	}
	used := processor.Seconds()
	if !u.when.IsZero() {
		u.share = float32(min(1, max(0, (used-u.used)/past/float64(runtime.GOMAXPROCS(0)))))
	}
	u.when, u.used = now, used
	return u.share
}
