//go:build unix

package faults_test

import (
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
)

// atOnce is the time within which a caller must learn that the process it called is gone, and outOfList the time until it is
// no longer listed.
const (
	atOnce    = 200 * time.Millisecond
	outOfList = 3 * time.Second
)

func TestCallsToAKilledServerFailAtOnceAndTheNextGoToAnotherNode(t *testing.T) {
	healthy := start(t, setup{ID: "healthy", Works: true})
	caller := startHost(t, setup{ID: "caller", Seeds: []string{healthy.addr}})
	for range 5 { // a busy machine is late now and then, but not each time
		if killedUnderLoad(t, healthy, caller) {
			return
		}
		caller.halt, caller.halted = sync.Once{}, make(chan struct{})
	}
	t.Error("it took too long each time")
}

// killedUnderLoad kills a node that is called, and reports whether its callers learned of it in time.
func killedUnderLoad(t *testing.T, healthy *process, caller *host) bool {
	t.Helper()
	doomed := start(t, setup{ID: "doomed", Works: true, Seeds: []string{healthy.addr}})
	until(t, waitLimit, "both nodes offer their work", func() bool { return len(caller.offers()) == 2 })

	// 50 calls that only an end of the link can end, and 50 callers that call any node that is there.
	const callers, timeout = 50, 5 * time.Second
	type call struct {
		began, ended time.Time
		node         string
		err          error
	}
	var waiting, calling sync.WaitGroup
	held, calls := make([]call, callers), make([][]call, callers)
	answeredByOther := make([]atomic.Bool, callers) // a call of this caller that began after the kill
	var dead atomic.Bool
	for i := range callers {
		waiting.Go(func() {
			c := call{began: time.Now()}
			_, c.err = sabir.Call[sabir.Empty](t.Context(), caller, "work.hold", sabir.Empty{}, sabir.ToNode("doomed"))
			c.ended = time.Now()
			held[i] = c
		})
		calling.Go(func() {
			for caller.goesOn(workload{Pause: time.Millisecond}, time.Time{}, nil) {
				afterKill, c := dead.Load(), call{began: time.Now()}
				var out echoed
				out, c.err = sabir.Call[echoed](t.Context(), caller, "work.echo", echo{Wait: time.Millisecond}, sabir.WithTimeout(timeout))
				c.ended, c.node = time.Now(), out.Node
				calls[i] = append(calls[i], c)
				if afterKill && c.node == "healthy" {
					answeredByOther[i].Store(true)
				}
			}
		})
	}
	until(t, waitLimit, "the calls are held", func() bool { return doomed.figures().Held == callers })

	killed := time.Now()
	doomed.kill()
	dead.Store(true)
	waiting.Wait()
	slowest := time.Duration(0)
	for _, c := range held {
		slowest = max(slowest, c.ended.Sub(killed))
		if !errors.Is(c.err, sabir.ErrLinkLost) || sabir.AsError(c.err).Node != "doomed" {
			t.Errorf("a held call ended with %v, want ErrLinkLost of the killed node", c.err)
		}
	}
	until(t, waitLimit, "the killed node is out of the list", func() bool {
		return !slices.ContainsFunc(caller.Nodes(), func(n introspect.Node) bool { return n.ID == "doomed" })
	})
	listed := time.Since(killed)
	until(t, waitLimit, "the other node answers each caller", func() bool {
		for i := range answeredByOther {
			if !answeredByOther[i].Load() {
				return false
			}
		}
		return true
	})

	caller.halt.Do(func() { close(caller.halted) })
	calling.Wait()
	lost, longest, last := 0, time.Duration(0), time.Duration(0)
	for _, c := range slices.Concat(calls...) {
		longest = max(longest, c.ended.Sub(c.began))
		switch {
		case c.err == nil:
		case !errors.Is(c.err, sabir.ErrLinkLost):
			t.Errorf("a call ended with %v, want an answer or ErrLinkLost", c.err)
		default:
			lost++
			last = max(last, c.began.Sub(killed))
		}
	}
	t.Logf("after the kill: the last of %d held calls failed %v later, the node was out of Nodes() %v later; %d calls in flight were lost, the last begun %v later; the longest took %v",
		callers, slowest, listed, lost, last, longest)
	return slowest <= atOnce && last <= atOnce && listed <= outOfList && longest <= timeout+late
}

func TestCallsOfAnIdempotentActionWithRetriesSurviveAKill(t *testing.T) {
	healthy := start(t, setup{ID: "healthy", Works: true})
	doomed := start(t, setup{ID: "doomed", Works: true, Seeds: []string{healthy.addr}})
	caller := start(t, setup{ID: "caller", Seeds: []string{healthy.addr}, Retry: true})
	caller.awaitOffers("healthy", "doomed")
	calls := beginCalls(t, caller, workload{Callers: 50, Wait: time.Millisecond})
	ask[report](caller, "load", workload{Callers: 10, Calls: 1000}) // until the load is under way
	doomed.kill()
	caller.awaitOffers("healthy")
	ask[report](caller, "load", workload{Callers: 10, Calls: 1000})
	ask[bool](caller, "halt", nil)
	r := calls()
	t.Logf("%v, by node: %v", r, r.ByNode)
	if r.failures() > 0 || r.ByNode["doomed"] == 0 || r.ByNode["healthy"] == 0 {
		t.Errorf("%v, by node: %v", r, r.ByNode)
	}
}

func TestAKilledServerIsCalledAgainWhenItIsStartedAnew(t *testing.T) {
	t.Parallel()
	caller := start(t, setup{ID: "caller"})
	address := freeAddress(t)
	server := start(t, setup{ID: "server", Join: address, Seeds: []string{caller.addr}, Works: true})
	for range 3 { // each time under the same name, where the one before was
		caller.awaitOffers("server")
		server.kill()
		server = start(t, setup{ID: "server", Join: address, Seeds: []string{caller.addr}, Works: true})
		began := time.Now()
		until(t, waitLimit, "the new process answers", func() bool {
			r := ask[report](caller, "load", workload{Callers: 1, Calls: 1, Timeout: time.Second})
			return r.failures() == 0
		})
		t.Logf("called again %v after its start", time.Since(began))
		if r := ask[report](caller, "load", workload{Callers: 10, Calls: 1000, Timeout: 5 * time.Second}); r.failures() > 0 {
			t.Errorf("calls of the new process: %v", r)
		}
	}
}

func TestAServerIsRidOfAKilledClientsCallsStreamsAndMemory(t *testing.T) {
	for _, test := range []struct {
		name    string
		timeout time.Duration
	}{
		{"calls with a deadline", time.Hour},
		{"calls without one", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := start(t, setup{ID: "server", Works: true})
			// One client that comes and goes first, so that what is made once is there.
			first := start(t, setup{ID: "first", Seeds: []string{server.addr}})
			first.awaitOffers("server")
			ask[report](first, "load", workload{Callers: 200, Calls: 20_000, Size: 1000})
			first.stop()
			server.awaitNodes()
			before := server.figures()

			const calls, streams = 500, 20
			client := start(t, setup{ID: "client", Seeds: []string{server.addr}})
			client.awaitOffers("server")
			begin[report](client, "load", workload{Hold: true, Callers: calls, Calls: calls, Timeout: test.timeout})
			for range streams {
				begin[pushed](client, "push", push{To: "server", Bytes: math.MaxInt})
			}
			until(t, waitLimit, "the calls and streams are being served", func() bool { return server.figures().Held == calls+streams })

			client.kill()
			killed := time.Now()
			var now figures
			if poll(waitLimit, func() bool {
				now = server.figures()
				return now.Held == 0 && now.InFlight == 0
			}) != nil {
				t.Fatalf("the handlers of the killed client run on: %+v", now)
			}
			t.Logf("handlers were cancelled within %v of the kill", time.Since(killed))
			server.awaitNodes()
			t.Logf("out of the list of nodes within %v of the kill", time.Since(killed))
			awaitReturn(t, server, before, 5)
		})
	}
}

// awaitReturn waits until a process has given back what it took since before, but for some goroutines that it may keep
// for later.
func awaitReturn(t *testing.T, p *process, before figures, kept int) {
	t.Helper()
	var now figures
	err := poll(waitLimit, func() bool {
		now = p.figures()
		return now.Goroutines <= before.Goroutines+kept && now.Files <= before.Files && now.Heap < before.Heap+1<<20
	})
	t.Logf("%s before: %+v, after: %+v", p.id, before, now)
	if err != nil {
		t.Errorf("%s did not give back what it took: before %+v, now %+v", p.id, before, now)
	}
}
