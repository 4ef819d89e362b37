//go:build unix

package faults_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/wire"
)

// rollouts is how often the tests of this file do what they do.
func rollouts() int {
	if os.Getenv(brokers.TestAll) == "" {
		return 2
	}
	return 10
}

// A rollout as a supervisor does it: the next node is stopped as soon as GET /ready of the one before answers 200.
func TestARollingRestartThatGoesByReadinessAloneFailsNoCall(t *testing.T) {
	shared := freeAddress(t)
	for name, addresses := range map[string][]string{
		"with seeds":     {freeAddress(t), freeAddress(t), freeAddress(t)},
		"at one address": {shared, shared, shared},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRollout(t, addresses, setup{})
			r.restart(setup{}, rollouts())
		})
	}
}

// All nodes get the new key before the old one, and then the new one alone.
func TestTheKeyIsChangedByReadinessAloneWithoutAFailedCall(t *testing.T) {
	key := "the first key of the cluster"
	r := newRollout(t, []string{freeAddress(t), freeAddress(t), freeAddress(t)}, setup{Key: key})
	for i := range rollouts() {
		next := fmt.Sprintf("the key of the cluster after %d others", i+1)
		for _, keys := range []setup{{Key: next, FormerKey: key}, {Key: next}} {
			r.restart(keys, 1)
			r.startCaller(keys)
		}
		key = next
	}
}

func TestAPeerThatDoesNotConfirmKeepsANodeUnreadyForAFewSecondsOnly(t *testing.T) {
	h := startHost(t, setup{ID: "server", Works: true})
	began := time.Now()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.Info().Addr, "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	config := wire.Config{Node: "silent", Cluster: "faults", NodeInfo: []byte(`{"instance": 1, "guest": true}`)}
	secured, peer, err := wire.Handshake(t.Context(), conn, config, true, wire.ForLink)
	if err != nil {
		t.Fatal(err)
	}
	link := wire.New(secured, peer, config, silentPeer{})
	defer func() {
		link.Close(nil)
		<-link.Done()
	}()
	until(t, waitLimit, "the peer is linked", func() bool { return len(h.Nodes()) == 2 })
	if err := h.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "these nodes do not know yet what this one offers: silent") {
		t.Errorf("ready, or for another reason: %v", err)
	}
	until(t, waitLimit, "it is ready", func() bool { return h.Ready(t.Context()) == nil })
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("ready after %v", took)
	}
	if info := h.Info(); len(info.Checks) > 0 {
		t.Errorf("the check is there still: %v", info.Checks)
	}
}

// silentPeer is a node that says nothing over its link.
type silentPeer struct{}

func (silentPeer) Opened(*wire.Link)                         {}
func (silentPeer) Route(*wire.Link, *wire.Route) wire.Target { return nil }
func (silentPeer) Post(*wire.Link, uint8, []byte)            {}
func (silentPeer) GoAway(*wire.Link)                         {}
func (silentPeer) Closed(*wire.Link, error)                  {}

func TestANodeThatStandsStillKeepsNoOtherFromBeingReady(t *testing.T) {
	r := newRollout(t, []string{freeAddress(t), freeAddress(t), freeAddress(t)}, setup{})
	r.servers[0].stop()
	r.caller.suspend()
	began := time.Now()
	r.startServer(0, setup{})
	if took := time.Since(began); took > 20*time.Second { // to be linked with, and to confirm
		t.Errorf("ready after %v", took)
	}
}

// rollout is two servers and a node that calls them.
type rollout struct {
	t         *testing.T
	addresses []string // of the two servers and the caller
	servers   [2]*process
	caller    *process
}

// newRollout starts the nodes with the keys of a setup.
func newRollout(t *testing.T, addresses []string, keys setup) *rollout {
	t.Helper()
	r := &rollout{t: t, addresses: addresses}
	for i := range r.servers {
		r.startServer(i, keys)
	}
	r.startCaller(keys)
	return r
}

func (r *rollout) startServer(i int, s setup) {
	r.t.Helper()
	s.ID, s.Join, s.Seeds, s.Works, s.HTTP = fmt.Sprintf("server-%d", i), r.addresses[i], r.seeds(), true, true
	r.servers[i] = start(r.t, s)
	ready := "http://" + ask[string](r.servers[i], "http address", nil) + "/ready"
	until(r.t, waitLimit, s.ID+" is ready", func() bool {
		answer, err := http.Get(ready)
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// startCaller starts the caller, in the place of the one that there may be.
func (r *rollout) startCaller(s setup) {
	r.t.Helper()
	if r.caller != nil {
		r.caller.stop()
	}
	s.ID, s.Join, s.Seeds = "caller", r.addresses[2], r.seeds()
	r.caller = start(r.t, s)
	r.caller.awaitOffers("server-0", "server-1")
}

// seeds are the addresses of the servers; none where all nodes have one address.
func (r *rollout) seeds() []string {
	if r.addresses[0] == r.addresses[1] {
		return nil
	}
	return r.addresses[:2]
}

// restart restarts both servers with the keys of a setup, as often as told, while the caller calls them.
func (r *rollout) restart(keys setup, times int) {
	r.t.Helper()
	load := beginCalls(r.t, r.caller, workload{Callers: 20, Timeout: 10 * time.Second, Pause: time.Millisecond, Size: 500})
	for range times {
		for i := range r.servers {
			r.servers[i].stop()
			r.startServer(i, keys)
		}
	}
	ask[bool](r.caller, "halt", nil)
	report := load()
	r.t.Logf("%v, by node: %v", report, report.ByNode)
	if report.failures() > 0 || report.Calls < 1000 {
		r.t.Errorf("%d of %d calls failed: %v", report.failures(), report.Calls, report)
	}
}
