//go:build unix

package faults_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/brokers"
)

// The floors for sick nodes: the share of calls that may fail, and the share that may go to the sick node.
const (
	mayFail   = 0.001
	mayBeSick = 0.02
)

func TestOneSickNodeOfThreeCostsNoCalls(t *testing.T) {
	brokers.Long(t)
	for _, test := range []struct {
		name    string
		balance cluster.Balancer
		keys    bool
		zone    string // of the caller and of the sick node alone
		once    bool   // without policy.Retry: then what the sick node gets fails
	}{
		{name: "round-robin"},
		{name: "random", balance: cluster.Random},
		{name: "least in flight", balance: cluster.LeastInFlight},
		{name: "ewma", balance: cluster.EWMA},
		{name: "hash", balance: cluster.Hash},
		{name: "hash by key", balance: cluster.Hash, keys: true},
		{name: "least in flight without retries", balance: cluster.LeastInFlight, once: true},
		{name: "the sick node is the only one of the zone", zone: "east"},
	} {
		for _, breaker := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, breaker %v", test.name, breaker), func(t *testing.T) {
				if breaker && test.name != "round-robin" {
					brokers.Nightly(t)
				}
				t.Parallel()
				sick := start(t, setup{ID: "sick", Works: true, Sick: true, Zone: test.zone})
				start(t, setup{ID: "well-1", Works: true, Seeds: []string{sick.addr}})
				start(t, setup{ID: "well-2", Works: true, Seeds: []string{sick.addr}})
				caller := start(t, setup{ID: "caller", Seeds: []string{sick.addr}, Retry: !test.once, Breaker: breaker, Balance: test.balance, Zone: test.zone})
				caller.awaitOffers("sick", "well-1", "well-2")
				r := ask[report](caller, "load", workload{Callers: 37, For: 3 * time.Second, Wait: 2 * time.Millisecond, Pause: 10 * time.Millisecond, Keys: test.keys})
				there := sick.figures().Sick
				t.Logf("%v; failed %.3f %%, by node %v, the sick one got %d", r, 100*float64(r.failures())/float64(r.Calls), r.ByNode, there)
				if share := float64(r.failures()) / float64(r.Calls); share > mayFail && !test.once {
					t.Errorf("%.2f %% of the calls failed", 100*share)
				}
				if share := float64(there) / float64(r.Calls); share > mayBeSick {
					t.Errorf("the sick node got %.2f %% of the calls", 100*share)
				}
			})
		}
	}
}

// The budget allows fewer further attempts than there are calls to a third of the nodes, so this floor is that of the nodes being distinguished.
func TestANodeThatStandsStillCostsNoIdempotentCalls(t *testing.T) {
	brokers.Long(t)
	const still, timeout, slowest = 7 * time.Second, 3 * time.Second, 300 * time.Millisecond
	first := start(t, setup{ID: "well-1", Works: true})
	start(t, setup{ID: "well-2", Works: true, Seeds: []string{first.addr}})
	stopped := start(t, setup{ID: "stopped", Works: true, Seeds: []string{first.addr}})
	caller := start(t, setup{ID: "caller", Seeds: []string{first.addr}, Retry: true, Hedge: true})
	caller.awaitOffers("stopped", "well-1", "well-2")
	calls := beginCalls(t, caller, workload{Callers: 37, Wait: 2 * time.Millisecond, Pause: 10 * time.Millisecond, Timeout: timeout})
	<-time.After(time.Second) // of the usual, by which what is late is known
	stopped.suspend()
	<-time.After(still) // the fault itself
	stopped.signal(syscall.SIGCONT)
	<-time.After(time.Second)
	ask[bool](caller, "halt", nil)
	r := calls()
	t.Logf("%v; failed %.3f %%, by node %v", r, 100*float64(r.failures())/float64(r.Calls), r.ByNode)
	if share := float64(r.failures()) / float64(r.Calls); share > mayFail {
		t.Errorf("%.2f %% of the calls failed", 100*share)
	}
	if r.P999 > slowest {
		t.Errorf("p99.9 is %v, want at most %v", r.P999, slowest)
	}
}
