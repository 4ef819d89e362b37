//go:build unix

package faults_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
)

func TestARollingRestartOfThreeNodesUnderLoadFailsNoCall(t *testing.T) {
	// One address for all, as the guide has it: the first process listens there, the others find it and each other.
	join := freeAddress(t)
	ids := []string{"one", "two", "three"}
	servers := make([]*process, len(ids))
	for i, id := range ids {
		servers[i] = start(t, setup{ID: id, Join: join, Works: true})
	}
	callers := map[string]*process{
		"with retries":    start(t, setup{ID: "persistent", Join: join, Retry: true}),
		"without retries": start(t, setup{ID: "once", Join: join}),
	}
	loads := map[string]func() report{}
	for name, caller := range callers {
		caller.awaitOffers(ids...)
		loads[name] = beginCalls(t, caller, workload{Callers: 20, Timeout: 10 * time.Second, Wait: 2 * time.Millisecond, Size: 500})
	}
	for i, id := range ids {
		others := slices.Delete(slices.Clone(ids), i, i+1)
		began := time.Now()
		servers[i].stop()
		stopped := time.Since(began)
		for _, caller := range callers {
			caller.awaitOffers(others...)
		}
		servers[i] = start(t, setup{ID: id, Join: join, Works: true})
		for _, caller := range callers {
			caller.awaitOffers(ids...)
		}
		t.Logf("%s: stopped in %v, back after %v", id, stopped, time.Since(began))
	}
	for name, caller := range callers {
		ask[bool](caller, "halt", nil)
		r := loads[name]()
		t.Logf("%s: %v, by node: %v", name, r, r.ByNode)
		if r.failures() > 0 {
			t.Errorf("%s: %v", name, r)
		}
		if r.Calls < 1000 || len(r.ByNode) != len(ids) {
			t.Errorf("%s: that was no load: %v by %v", name, r, r.ByNode)
		}
	}
}

// freeAddress is an address of this machine without a listener.
func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	return "tcp://" + address
}
