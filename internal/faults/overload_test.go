//go:build unix

package faults_test

import (
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

// Each call takes a millisecond of the one processor that the node has, and its caller waits for 50. It runs alone: it measures.
func TestANodeThatIsAskedForMoreThanItCanDoGoesOnAnsweringInTime(t *testing.T) {
	server := start(t, setup{ID: "server", Works: true, Processors: 1})
	caller := start(t, setup{ID: "caller", Seeds: []string{server.addr}})
	caller.awaitOffers("server")
	const work = time.Millisecond
	answered := func(r report) float64 { return float64(r.ByNode["server"]) / r.Took.Seconds() }
	alone := ask[report](caller, "load", workload{Callers: 4, For: 2 * time.Second, Work: work})
	capacity := answered(alone)
	t.Logf("capacity %.0f/s: %v", capacity, alone)

	flooded := ask[report](caller, "load", workload{Callers: 300, For: 5 * time.Second, Work: work, Timeout: 50 * time.Millisecond, Pause: 30 * time.Millisecond})
	goodput := answered(flooded)
	t.Logf("asked for %.0f/s: %.0f/s answered in time: %v", float64(flooded.Calls)/flooded.Took.Seconds(), goodput, flooded)
	if goodput < capacity/2 {
		t.Errorf("%.0f/s were answered in time, of %.0f/s that the node can do", goodput, capacity)
	}
	if flooded.Failed["ResourceExhausted/TooManyCalls"] == 0 {
		t.Errorf("no call was refused: %s", names(flooded.Failed))
	}
	if n := flooded.Failed["Unavailable/LinkLost"]; n > 0 {
		t.Errorf("%d calls lost their link: an overloaded node is not a dead one", n)
	}
	after := ask[report](caller, "load", workload{Callers: 1, Calls: 100, Timeout: time.Second})
	if after.failures() > 0 {
		t.Errorf("after the load: %v", after)
	}
}

// Alone the critical calls would leave the node some of its time; with the sheddable ones it is asked for many times what it can do.
func TestANodeThatIsAskedForMoreThanItCanDoAnswersCriticalCallsFirst(t *testing.T) {
	server := start(t, setup{ID: "server", Works: true, Processors: 1})
	caller := start(t, setup{ID: "caller", Seeds: []string{server.addr}})
	caller.awaitOffers("server")
	const work, timeout, lasting = time.Millisecond, 100 * time.Millisecond, 4 * time.Second
	sheddable := begin[report](caller, "load", workload{Callers: 300, For: lasting, Work: work, Timeout: timeout, Pause: 30 * time.Millisecond, Priority: sabir.PrioritySheddable})
	critical := ask[report](caller, "load", workload{Callers: 10, For: lasting, Work: work, Timeout: timeout, Pause: 40 * time.Millisecond, Priority: sabir.PriorityCritical})
	shed := sheddable()
	t.Logf("critical: %v; sheddable: %v", critical, shed)
	answered := func(r report) float64 { return float64(r.ByNode["server"]) / float64(r.Calls) }
	if answered(critical) < 0.75 || answered(critical) < 2*answered(shed) {
		t.Errorf("answered: %.0f %% of the critical calls, %.0f %% of the sheddable ones", 100*answered(critical), 100*answered(shed))
	}
}
