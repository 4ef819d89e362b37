//go:build unix

package faults_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/race"
)

func TestAMillionCallsLeaveNothingBehind(t *testing.T) {
	brokers.Slow(t)
	calls := 1_000_000
	if race.Enabled {
		calls = 50_000
	}
	server := start(t, setup{ID: "server", Works: true})
	caller := start(t, setup{ID: "caller", Seeds: []string{server.addr}})
	caller.awaitOffers("server")
	w := workload{Callers: 100, Calls: 20_000, Size: 300}
	ask[report](caller, "load", w) // what is made once is there
	before := map[*process]figures{server: server.figures(), caller: caller.figures()}
	w.Calls = calls
	r := ask[report](caller, "load", w)
	t.Logf("%v: %.0f calls a second", r, float64(r.Calls)/r.Took.Seconds())
	if r.Calls < calls || r.failures() > 0 {
		t.Errorf("%v", r)
	}
	for p, before := range before {
		awaitReturn(t, p, before, w.Callers) // goroutines that have served are kept, as many as calls were in flight
	}
}
