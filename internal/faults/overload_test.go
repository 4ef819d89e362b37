//go:build unix

package faults_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
)

// Each call takes a millisecond of the one processor that the node has, and its caller waits for 50. It runs alone: it measures.
func TestANodeThatIsAskedForMoreThanItCanDoGoesOnAnsweringInTime(t *testing.T) {
	for _, over := range []brokers.Kind{"tcp", brokers.NATS, brokers.Redis} {
		t.Run(string(over), func(t *testing.T) {
			if over == brokers.Redis {
				brokers.Nightly(t)
			}
			server, caller := setup{ID: "server", Works: true, Processors: 1}, setup{ID: "caller"}
			if over != "tcp" {
				server.Join = brokers.ForTest(t, over).URL()
				caller.Join = server.Join
			}
			goesOnAnswering(t, server, caller)
		})
	}
}

func goesOnAnswering(t *testing.T, serverSetup, callerSetup setup) {
	server := start(t, serverSetup)
	if callerSetup.Join == "" {
		callerSetup.Seeds = []string{server.addr}
	}
	caller := start(t, callerSetup)
	caller.awaitOffers("server")
	const work = time.Millisecond
	answered := func(r report) float64 { return float64(r.ByNode["server"]) / r.Took.Seconds() }
	started := server.processorTimes()
	alone := ask[report](caller, "load", workload{Callers: 4, For: time.Second, Work: work})
	capacity, share := answered(alone), server.shareSince(started)
	t.Logf("capacity %.0f/s with %.0f %% of a processor: %v", capacity, 100*share, alone)
	before := server.figures()

	started = server.processorTimes()
	flooded := ask[report](caller, "load", workload{Callers: 300, For: 2 * time.Second, Work: work, Timeout: 50 * time.Millisecond, Pause: 30 * time.Millisecond})
	goodput, floodedShare := answered(flooded), server.shareSince(started)
	t.Logf("asked for %.0f/s: %.0f/s answered in time with %.0f %%: %v", float64(flooded.Calls)/flooded.Took.Seconds(), goodput, 100*floodedShare, flooded)
	if flooded.Failed["ResourceExhausted/TooManyCalls"] == 0 {
		t.Errorf("no call was refused: %s", names(flooded.Failed))
	}
	for _, lost := range []string{"Unavailable/LinkLost", "Unavailable/ServiceUnavailable", "NotFound/ActionNotFound"} {
		if n := flooded.Failed[lost]; n > 0 {
			t.Errorf("%d calls ended with %s: an overloaded node is not a dead one", n, lost)
		}
	}
	ask[report](caller, "load", workload{Callers: 4, For: time.Second, Work: work, Timeout: waitLimit}) // so long it may take
	after := ask[report](caller, "load", workload{Callers: 4, For: time.Second, Work: work, Timeout: waitLimit})
	t.Logf("after the load %.0f/s: %v", answered(after), after)
	if after.failures() > 0 {
		t.Errorf("a second after the load: %v", after)
	}
	// Other processes may have taken the processor since: what the node could do is by the share of it that they left.
	if able := min(capacity, answered(after)) * min(1, floodedShare/share); goodput < able/2 {
		t.Errorf("%.0f/s were answered in time, of %.0f/s that the node can do", goodput, able)
	}
	if grown := server.figures().Heap - before.Heap; grown > 4<<20 {
		t.Errorf("the node holds %d bytes more than before the load", grown)
	}
}

// Clients over HTTP that give up close their connections, as those of net/http do. Each call takes 10 ms of the node's one processor. It
// runs alone: it measures.
func TestANodeThatIsAskedForMoreThanItCanDoOverHTTPGoesOnAnsweringInTime(t *testing.T) {
	server := start(t, setup{ID: "server", Works: true, HTTP: true, Processors: 1})
	c := &httpCallers{t: t, base: "http://" + ask[string](server, "http address", nil)}
	const lasting = 2 * time.Second
	started := server.processorTimes()
	alone := c.load(4, lasting/2, waitLimit, 0)
	capacity, share := float64(alone.answered)/(lasting/2).Seconds(), server.shareSince(started)
	started = server.processorTimes()
	stop := c.watchHealth()
	flooded := c.load(200, lasting, 500*time.Millisecond, 500*time.Millisecond)
	slowest, asked := stop()
	goodput, floodedShare := float64(flooded.answered)/lasting.Seconds(), server.shareSince(started)
	t.Logf("capacity %.0f/s with %.0f %% of a processor; asked for %.0f/s: %.0f/s answered in time with %.0f %%, %+v; health asked %d times, the slowest %v",
		capacity, 100*share, float64(flooded.answered+flooded.refused+flooded.late+flooded.other)/lasting.Seconds(), goodput, 100*floodedShare, flooded, asked, slowest)
	if goodput < capacity/3*min(1, floodedShare/share) {
		t.Errorf("%.0f/s were answered in time, of %.0f/s that the node can do", goodput, capacity)
	}
	if flooded.refused == 0 || flooded.other > 0 {
		t.Errorf("%+v", flooded)
	}
	c.load(4, time.Second, waitLimit, 0) // so long it may take
	if after := c.load(4, time.Second, waitLimit, 0); after.answered < int(capacity/2) || after.refused+after.late+after.other > 0 {
		t.Errorf("a second after the load: %+v of %.0f/s", after, capacity)
	}
}

// httpCallers call work.echo over HTTP.
type httpCallers struct {
	t    *testing.T
	base string
}

// httpCounts is how calls ended.
type httpCounts struct{ answered, refused, late, other int }

// load has so many callers call for a time, each with a timeout and pauses of about that length.
func (c *httpCallers) load(callers int, lasting, timeout, pause time.Duration) (counts httpCounts) {
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	defer client.CloseIdleConnections()
	var calling sync.WaitGroup
	var mu sync.Mutex
	end := time.Now().Add(lasting)
	for range callers {
		calling.Go(func() {
			for time.Now().Before(end) {
				if pause > 0 {
					time.Sleep(pause/2 + rand.N(pause))
				}
				status, err := c.call(&client, timeout)
				mu.Lock()
				switch {
				case err == nil && status == http.StatusOK:
					counts.answered++
				case err == nil && status == http.StatusServiceUnavailable:
					counts.refused++
				case errors.Is(err, context.DeadlineExceeded) || err == nil && status == http.StatusGatewayTimeout:
					counts.late++
				default:
					counts.other++
				}
				mu.Unlock()
			}
		})
	}
	calling.Wait()
	return counts
}

func (c *httpCallers) call(client *http.Client, timeout time.Duration) (status int, err error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/work/echo", strings.NewReader(`{"Work":10000000}`))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Request-Timeout", timeout.String())
	return statusOf(client.Do(r))
}

// watchHealth asks for /health again and again, on a new connection each time. An answer must come in waitLimit, and be 200.
func (c *httpCallers) watchHealth() (stop func() (slowest time.Duration, asked int)) {
	client := http.Client{Timeout: waitLimit, Transport: &http.Transport{DisableKeepAlives: true}}
	ctx, cancel := context.WithCancel(c.t.Context())
	var asking sync.WaitGroup
	var slowest time.Duration
	asked := 0
	asking.Go(func() {
		for ctx.Err() == nil {
			begun := time.Now()
			status, err := statusOf(client.Get(c.base + "/health"))
			if err != nil || status != http.StatusOK {
				c.t.Errorf("health: %d, %v", status, err)
			}
			slowest = max(slowest, time.Since(begun))
			asked++
		}
	})
	return func() (time.Duration, int) {
		cancel()
		asking.Wait()
		return slowest, asked
	}
}

func statusOf(answer *http.Response, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

// Alone the critical calls would leave the node some of its time; with the sheddable ones it is asked for many times what it can do.
func TestANodeThatIsAskedForMoreThanItCanDoAnswersCriticalCallsFirst(t *testing.T) {
	server := start(t, setup{ID: "server", Works: true, Processors: 1})
	caller := start(t, setup{ID: "caller", Seeds: []string{server.addr}})
	caller.awaitOffers("server")
	const work, timeout, lasting = time.Millisecond, 100 * time.Millisecond, 2 * time.Second
	sheddable := begin[report](caller, "load", workload{Callers: 300, For: lasting, Work: work, Timeout: timeout, Pause: 30 * time.Millisecond, Priority: "sheddable"})
	critical := ask[report](caller, "load", workload{Callers: 10, For: lasting, Work: work, Timeout: timeout, Pause: 40 * time.Millisecond, Priority: "critical"})
	shed := sheddable()
	t.Logf("critical: %v; sheddable: %v", critical, shed)
	answered := func(r report) float64 { return float64(r.ByNode["server"]) / float64(r.Calls) }
	if answered(critical) < 0.75 || answered(critical) < 2*answered(shed) {
		t.Errorf("answered: %.0f %% of the critical calls, %.0f %% of the sheddable ones", 100*answered(critical), 100*answered(shed))
	}
}
