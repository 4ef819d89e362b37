//go:build linux

package faults_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/wire"
)

// network is two machines, as far as their processes can tell: two network namespaces with a cable between them.
type network struct {
	t     testing.TB
	names [2]string
}

// networks counts those of this process, so that each has a name of its own.
var networks atomic.Int32

const clusterKey = "a key for the tests of networks"

// newNetwork makes the namespaces, which go with the test. The machine's own interfaces are not touched: the ends of the
// cable are made inside the namespaces.
func newNetwork(t *testing.T) *network {
	t.Helper()
	if os.Getuid() != 0 {
		brokers.NotTested(t, "network namespaces need root")
	}
	brokers.Program(t, "ip", "iproute2")
	brokers.Program(t, "nft", "nftables")
	sweep()
	n := &network{t: t}
	id := fmt.Sprintf("sabir-%d-%d", os.Getpid(), networks.Add(1))
	for i := range n.names {
		n.names[i] = fmt.Sprintf("%s-%d", id, i)
		if out, err := exec.Command("ip", "netns", "add", n.names[i]).CombinedOutput(); err != nil {
			brokers.NotTested(t, "this machine allows no network namespaces: %v: %s", err, out)
		}
		t.Cleanup(func() { n.run("ip", "netns", "del", n.names[i]) })
	}
	if out, err := exec.Command("ip", "link", "add", "cable", "netns", n.names[0], "type", "veth", "peer", "name", "cable", "netns", n.names[1]).CombinedOutput(); err != nil {
		brokers.NotTested(t, "this machine allows no veth interfaces: %v: %s", err, out)
	}
	for i := range n.names {
		n.in(i, "ip", "addr", "add", n.host(i)+"/24", "dev", "cable")
		n.in(i, "ip", "link", "set", "cable", "up")
		n.in(i, "ip", "link", "set", "lo", "up") // the namespace's own
		if out, err := exec.Command("ip", "netns", "exec", n.names[i], "nft", "add table inet faults; add chain inet faults input { type filter hook input priority 0; }; "+
			"add chain inet faults output { type filter hook output priority 0; }").CombinedOutput(); err != nil {
			brokers.NotTested(t, "this machine allows no packet filter: %v: %s", err, out)
		}
	}
	return n
}

// sweep removes the namespaces of test processes that were killed before they could.
func sweep() {
	out, _ := exec.Command("ip", "netns", "list").Output()
	for _, found := range regexp.MustCompile(`sabir-(\d+)-\d+-\d`).FindAllStringSubmatch(string(out), -1) {
		if _, err := os.Stat("/proc/" + found[1]); errors.Is(err, os.ErrNotExist) {
			_ = exec.Command("ip", "netns", "del", found[0]).Run() // another process may be faster
		}
	}
}

// host is the address of one of the two.
func (n *network) host(i int) string { return fmt.Sprintf("10.77.0.%d", i+1) }

func (n *network) join(i int) string { return "tcp://" + n.host(i) + ":7700" }

func (n *network) run(line ...string) string {
	n.t.Helper()
	out, err := exec.Command(line[0], line[1:]...).CombinedOutput()
	if err != nil {
		n.t.Errorf("%s: %v: %s", strings.Join(line, " "), err, out)
	}
	return string(out)
}

// in runs a command inside one of the namespaces.
func (n *network) in(i int, line ...string) string {
	n.t.Helper()
	return n.run(append([]string{"ip", "netns", "exec", n.names[i]}, line...)...)
}

// filter adds a rule to the packets that come into both, other than from themselves.
func (n *network) filter(rule string) {
	n.t.Helper()
	for i := range n.names {
		n.filterAt(i, rule)
	}
}

// filterAt adds a rule to the packets that come into one of them.
func (n *network) filterAt(i int, rule string) {
	n.t.Helper()
	n.in(i, "nft", "add rule inet faults input iif cable "+rule)
}

// dropped is the number of packets that rules with a counter took.
func (n *network) dropped() (packets int) {
	n.t.Helper()
	for i := range n.names {
		for _, found := range regexp.MustCompile(`packets (\d+)`).FindAllStringSubmatch(n.in(i, "nft", "list chain inet faults input"), -1) {
			count, _ := strconv.Atoi(found[1])
			packets += count
		}
	}
	return packets
}

// heal removes all rules.
func (n *network) heal() {
	n.t.Helper()
	for i := range n.names {
		n.in(i, "nft", "flush ruleset")
	}
}

// start runs a node in each namespace, and waits until they know each other.
func (n *network) start() [2]*process {
	n.t.Helper()
	var setups [2]setup
	for i := range setups {
		setups[i] = setup{Join: n.join(i), Seeds: []string{n.join(0)}}
	}
	return n.startAs(setups)
}

func (n *network) startAs(setups [2]setup) [2]*process {
	n.t.Helper()
	var nodes [2]*process
	for i, id := range []string{"left", "right"} {
		s := setups[i]
		s.ID, s.Key, s.Works = id, clusterKey, true
		nodes[i] = launch(n.t, s, "ip", "netns", "exec", n.names[i])
		nodes[i].awaitStart()
	}
	nodes[0].awaitNodes("right")
	nodes[1].awaitNodes("left")
	return nodes
}

func TestCallsAndStreamsArriveWholeOverANetworkThatLosesPackets(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	nodes := n.start()
	n.filter("numgen random mod 100 < 1 counter drop")
	var loads [2]func() report
	for i, node := range nodes {
		other := nodes[1-i]
		loads[i] = begin[report](node, "load", workload{To: other.id, Callers: 50, Calls: 10_000, Size: 600})
	}
	const size = 20 << 20
	stream := begin[pushed](nodes[0], "push", push{To: "right", Bytes: size})
	for i, load := range loads {
		r := load()
		t.Logf("from %s: %v", nodes[i].id, r)
		if r.failures() > 0 || r.Calls != 10_000 {
			t.Errorf("calls from %s over a network that loses 1 %%: %v", nodes[i].id, r)
		}
	}
	p := stream()
	lost := n.dropped()
	t.Logf("a stream of %d MiB took %v; %d packets were lost", size>>20, p.Took, lost)
	if p.Name != "" || !p.Whole || p.Sent != size {
		t.Errorf("the stream: %+v", p)
	}
	if lost < 10 {
		t.Errorf("only %d packets were lost: the network is too good for this test", lost)
	}
}

func TestNodesThatAPartitionSeparatesDropEachOtherAndComeTogetherAgain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		cut, mend func(n *network)
	}{
		{"packets vanish", func(n *network) { n.filter("drop") }, (*network).heal},
		{"the cable is out", func(n *network) { n.in(0, "ip", "link", "set", "cable", "down") }, func(n *network) { n.in(0, "ip", "link", "set", "cable", "up") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t)
			nodes := n.start()
			endless := begin[report](nodes[0], "load", workload{Hold: true, To: "right", Callers: 10, Calls: 10})
			until(t, waitLimit, "the calls are held", func() bool { return nodes[1].figures().Held == 10 })

			test.cut(n)
			cut := time.Now()
			const timeout = time.Second
			timed := ask[report](nodes[1], "load", workload{To: "left", Callers: 10, Calls: 10, Timeout: timeout})
			if timed.Failed["DeadlineExceeded/DeadlineExceeded"] != 10 || timed.Slowest > timeout+late {
				t.Errorf("calls with a deadline of %v: %v", timeout, timed)
			}
			r := endless()
			t.Logf("calls without a deadline: %v", r)
			if r.Failed["Unavailable/LinkLost"] != 10 || time.Since(cut) > givenUp {
				t.Errorf("calls without a deadline: %v, %v after the cut, want ErrLinkLost within %v", r, time.Since(cut), givenUp)
			}
			for _, node := range nodes {
				node.awaitNodes()
				t.Logf("%s is alone %v after the cut", node.id, time.Since(cut))
			}
			if alone := time.Since(cut); alone > givenUp+wire.DefaultSilenceLimit {
				t.Errorf("they knew of each other for %v", alone)
			}
			until(t, waitLimit, "the handlers of lost calls are cancelled", func() bool { return nodes[1].figures().Held == 0 })

			test.mend(n)
			mended := time.Now()
			for i, node := range nodes {
				node.awaitNodes(nodes[1-i].id)
				t.Logf("%s knows the other one again %v after the network", node.id, time.Since(mended))
				if r := ask[report](node, "load", workload{To: nodes[1-i].id, Callers: 10, Calls: 1000, Timeout: 5 * time.Second}); r.failures() > 0 {
					t.Errorf("calls of %s when they are together again: %v", node.id, r)
				}
			}
		})
	}
}

func TestAConnectionToAForeignServerThatCarriesNothingIsLeft(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	brokers.Program(t, "ss", "iproute2")
	server := launch(t, setup{ID: "server", Works: true, GRPC: n.host(1) + ":7800"}, "ip", "netns", "exec", n.names[1])
	server.awaitStart()
	client := launch(t, setup{ID: "client", Dials: "http://" + n.host(1) + ":7800"}, "ip", "netns", "exec", n.names[0])
	client.awaitStart()
	calls := workload{Callers: 1, Calls: 1, Timeout: time.Second}
	until(t, waitLimit, "calls are answered", func() bool { return ask[report](client, "load", calls).failures() == 0 })

	of := regexp.MustCompile(`:(\d+) +\S+:7800`).FindStringSubmatch(n.in(0, "ss", "-Htn", "state", "established"))
	if of == nil {
		t.Fatal("there is no connection")
	}
	n.filterAt(1, "tcp sport "+of[1]+" drop") // as when another machine has taken the address over
	lost := time.Now()
	if r := ask[report](client, "load", calls); r.failures() == 0 {
		t.Fatal("a call over the connection was answered: the rule drops nothing")
	}
	until(t, waitLimit, "calls are answered over another connection", func() bool { return ask[report](client, "load", calls).failures() == 0 })
	t.Logf("calls were answered again after %v", time.Since(lost))
}
