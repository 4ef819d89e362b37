//go:build unix

package faults_test

import (
	"math"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/wire"
)

// givenUp is the time that a node may take to drop the link to a process that stands still: the limit of silence, two looks
// at the link, and some time for a machine that has much else to do.
const givenUp = wire.DefaultSilenceLimit + 2*wire.DefaultPingInterval + 3*time.Second

// late is the delay that a busy machine may add to an operation. It stays below the silence limit, so that an operation that
// waits for the link to be dropped takes longer than that.
const late = wire.DefaultSilenceLimit - 2*time.Second

func TestAStoppedServerDelaysNoOtherNodeAndComesBackByItself(t *testing.T) {
	t.Parallel()
	healthy := start(t, setup{ID: "healthy", Works: true})
	stopped := start(t, setup{ID: "stopped", Works: true, Seeds: []string{healthy.addr}})
	caller := start(t, setup{ID: "caller", Seeds: []string{healthy.addr}})
	caller.awaitOffers("healthy", "stopped")
	ask[report](caller, "load", workload{Callers: 1000, Calls: 20_000, Size: 4000}) // what is made once is there
	before := caller.figures()

	stopped.suspend()
	began := time.Now()
	probe := begin[report](caller, "load", workload{To: "healthy", Callers: 10, For: 5 * time.Second, Pause: 5 * time.Millisecond})
	const timeout = time.Second
	timed := begin[report](caller, "load", workload{To: "stopped", Callers: 3000, Calls: 9000, Timeout: timeout, Size: 4000})
	endless := begin[report](caller, "load", workload{Hold: true, To: "stopped", Callers: 100, Calls: 100})
	flood := begin[pushed](caller, "push", push{To: "stopped", Bytes: math.MaxInt})

	t.Run("calls with a deadline end at it", func(t *testing.T) {
		r := timed()
		t.Log(r)
		if r.Failed["DeadlineExceeded/DeadlineExceeded"] != 9000 {
			t.Errorf("of 9000 calls to a stopped node failed at their deadline: %s", names(r.Failed))
		}
		if r.Quicker < timeout || r.Slowest > timeout+late {
			t.Errorf("calls with a deadline of %v ended after %v to %v", timeout, r.Quicker, r.Slowest)
		}
	})
	t.Run("the caller's memory stays bounded", func(t *testing.T) {
		now := caller.figures()
		t.Logf("heap before %d KiB, after %d KiB", before.Heap>>10, now.Heap>>10)
		if now.Heap > before.Heap+64<<20 {
			t.Errorf("the heap grew from %d to %d bytes", before.Heap, now.Heap)
		}
	})
	t.Run("calls and streams without a deadline end when the link is given up", func(t *testing.T) {
		r := endless()
		t.Logf("%v, %v after the stop", r, time.Since(began))
		if r.Failed["Unavailable/LinkLost"] != 100 {
			t.Errorf("of 100 calls failed with ErrLinkLost: %s", names(r.Failed))
		}
		if r.Slowest > givenUp {
			t.Errorf("the link was given up after %v, want at most %v", r.Slowest, givenUp)
		}
		p := flood()
		if p.Name != "Unavailable/LinkLost" || p.Took > givenUp {
			t.Errorf("a stream to a stopped node ended with %q after %v", p.Name, p.Took)
		}
		if p.Sent > 64<<20 {
			t.Errorf("%d bytes were taken from the sender for a peer that reads none", p.Sent)
		}
	})
	t.Run("calls of other nodes are not delayed", func(t *testing.T) {
		r := probe()
		t.Log(r)
		if r.failures() > 0 || r.P99 > late {
			t.Errorf("the healthy node's calls: %v", r)
		}
	})
	t.Run("it is out of the list, and back when it goes on", func(t *testing.T) {
		caller.awaitOffers("healthy")
		if r := ask[report](caller, "load", workload{Callers: 20, Calls: 2000, Timeout: 5 * time.Second}); r.failures() > 0 {
			t.Errorf("calls while one node is out: %v", r)
		}
		stopped.signal(syscall.SIGCONT)
		t.Logf("back %v after SIGCONT", caller.awaitOffers("healthy", "stopped"))
		r := ask[report](caller, "load", workload{Callers: 20, Calls: 2000, Timeout: 5 * time.Second})
		if r.failures() > 0 || r.ByNode["stopped"] == 0 || r.ByNode["healthy"] == 0 {
			t.Errorf("calls after it is back: %v, answered by %v", r, r.ByNode)
		}
	})
}

func TestAServerThatStandsStillForAMomentLosesNoCall(t *testing.T) {
	t.Parallel()
	server := start(t, setup{ID: "server", Works: true})
	caller := start(t, setup{ID: "caller", Seeds: []string{server.addr}})
	caller.awaitOffers("server")
	calls := begin[report](caller, "load", workload{Callers: 20, For: 3 * time.Second, Pause: 2 * time.Millisecond})
	ask[report](caller, "load", workload{Callers: 10, Calls: 500}) // until the load is under way
	server.suspend()
	<-time.After(time.Second) // the fault itself: how long the process stands still
	server.signal(syscall.SIGCONT)
	r := calls()
	t.Log(r)
	if r.failures() > 0 {
		t.Errorf("a stop of a second cost calls: %v", r)
	}
	if r.Slowest < 900*time.Millisecond {
		t.Errorf("the slowest call took %v: the process did not stand still", r.Slowest)
	}
}

func TestAStoppedClientDelaysNoOtherNodeAndItsMemoryComesBack(t *testing.T) {
	t.Parallel()
	server := start(t, setup{ID: "server", Works: true})
	healthy := start(t, setup{ID: "healthy", Seeds: []string{server.addr}})
	stopped := start(t, setup{ID: "stopped", Seeds: []string{server.addr}})
	healthy.awaitOffers("server")
	stopped.awaitOffers("server")
	ask[report](healthy, "load", workload{Callers: 50, Calls: 5000, Size: 1000}) // what is made once is there
	before := server.figures()

	// Answers of 50 MiB in all for a process that reads none of them.
	const calls, size = 500, 100 << 10
	begin[report](stopped, "load", workload{Callers: calls, Calls: calls, Wait: 4 * time.Second, Size: size})
	begin[report](stopped, "load", workload{Hold: true, Callers: 50, Calls: 50})
	var now figures
	if poll(waitLimit, func() bool {
		now = server.figures()
		return now.InFlight > calls/2+50 // all of them, on a machine that has time
	}) != nil {
		t.Fatalf("the calls do not arrive: %+v", now)
	}
	stopped.suspend()
	began := time.Now()
	probe := begin[report](healthy, "load", workload{Callers: 10, For: 5 * time.Second, Pause: 5 * time.Millisecond})
	r := probe()
	t.Logf("calls of another client: %v", r)
	if r.failures() > 0 || r.P99 > late {
		t.Errorf("calls of another client: %v", r)
	}
	during := server.figures()
	t.Logf("heap before %d KiB, while the client stands still %d KiB, %d calls in flight", before.Heap>>10, during.Heap>>10, during.InFlight)
	if during.Heap > before.Heap+calls*4*size {
		t.Errorf("the heap grew from %d to %d bytes for %d answers of %d", before.Heap, during.Heap, calls, size)
	}
	until(t, givenUp, "the link is given up", func() bool {
		now := server.figures()
		return now.InFlight == 0 && now.Held == 0
	})
	t.Logf("given up %v after the stop", time.Since(began))
	before.Heap += 16 << 20                  // buffers of answers that were written are kept; of the others there are three times as many
	awaitReturn(t, server, before, calls+50) // goroutines that have served are kept, as many as calls were in flight
}
