//go:build linux

package faults_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
	_ "github.com/sabir-go/sabir/transport/grpc"
	_ "github.com/sabir-go/sabir/transport/h2"
	_ "github.com/sabir-go/sabir/transport/http"
	_ "github.com/sabir-go/sabir/transport/kcp"
	_ "github.com/sabir-go/sabir/transport/quic"
	_ "github.com/sabir-go/sabir/transport/utp"
)

// leastPath is the size of the largest packets on a path that carries 1,200 bytes of UDP over IPv4, and leastPath6 over IPv6.
const (
	leastPath  = 1200 + 8 + 20
	leastPath6 = 1200 + 8 + 40
)

// carrier is a transport by which the nodes of a network join.
type carrier struct {
	name    string
	scheme  string
	setups  func(t *testing.T, n *network, scheme string) [2]setup
	narrows int // the size of the largest packets that it must be content with
	nightly bool
}

// byDay leaves a carrier that differs from another one only in what lies below it for the night.
func (c carrier) byDay(t *testing.T) {
	if c.nightly {
		brokers.Nightly(t)
	}
}

// carriers are the transports that nodes link by over IP, and one broker for all: brokers are dialled alike.
var carriers = []carrier{
	{"tcp", "tcp", overIPv4, leastPath, false},
	{"tcp over IPv6", "tcp", overIPv6, leastPath6, false},
	{"tls", "tls", withCertificates, leastPath, true},
	{"quic", "quic", overIPv4, leastPath, false},
	{"quic over IPv6", "quic", overIPv6, leastPath6, true},
	{"quic with certificates", "quic", withCertificates, leastPath, true},
	{"kcp", "kcp", overIPv4, leastPath, false},
	{"kcp over IPv6", "kcp", overIPv6, leastPath6, true},
	{"utp", "utp", overIPv4, leastPath, false},
	{"utp over IPv6", "utp", overIPv6, leastPath6, true},
	{"grpc", "grpc", overIPv4, leastPath, true},
	{"grpc+tls", "grpc+tls", withCertificates, leastPath, true},
	{"h2c", "h2c", overIPv4, leastPath, true},
	{"http", "http", overIPv4, leastPath, false},
	{"https", "https", withCertificates, leastPath, true},
	{"nats", "nats", throughBroker, leastPath, false},
}

func overIPv4(_ *testing.T, n *network, scheme string) (setups [2]setup) {
	for i := range setups {
		setups[i] = setup{Join: scheme + "://" + net.JoinHostPort(n.host(i), "7700"), Seeds: []string{scheme + "://" + net.JoinHostPort(n.host(0), "7700")}}
	}
	return setups
}

func overIPv6(_ *testing.T, n *network, scheme string) (setups [2]setup) {
	for i := range setups {
		setups[i] = setup{Join: scheme + "://" + net.JoinHostPort(n.host6(i), "7700"), Seeds: []string{scheme + "://" + net.JoinHostPort(n.host6(0), "7700")}}
	}
	return setups
}

func withCertificates(t *testing.T, n *network, scheme string) [2]setup {
	setups := overIPv4(t, n, scheme)
	authority := transporttest.NewAuthority(t, "test authority")
	for i := range setups {
		files := authority.Issue(t, t.TempDir(), n.host(i))
		setups[i].TLS = &files
	}
	return setups
}

// throughBroker has the first node run the broker.
func throughBroker(_ *testing.T, n *network, _ string) [2]setup {
	return [2]setup{{Join: "nats://embedded?host=" + n.host(0)}, {Join: "nats://" + n.host(0)}}
}

// narrow has packets of more than so many bytes vanish on the way into the given ends of the cable.
func (n *network) narrow(size int, ends ...int) {
	n.t.Helper()
	for _, i := range ends {
		n.filterAt(i, fmt.Sprintf("meta length > %d counter drop", size))
	}
}

// newPath is a network that has no larger packets inside than on the cable: without that the kernel joins those of one
// connection, and a filter sees them before they are cut.
func newPath(t *testing.T) *network {
	t.Helper()
	n := newNetwork(t)
	for i := range n.names {
		n.in(i, "ip", "link", "set", "cable", "gso_max_segs", "1")
		n.in(i, "ip", "addr", "add", n.host6(i)+"/64", "dev", "cable", "nodad")
	}
	return n
}

func (n *network) host6(i int) string { return fmt.Sprintf("fd77::%d", i+1) }

func TestNodesLinkAndCallEachOtherOverAPathThatLosesLargePackets(t *testing.T) {
	t.Parallel()
	for _, test := range carriers {
		for _, path := range []struct {
			name string
			size int
			ends []int
		}{
			{"both ways", 1280, []int{0, 1}},
			{"both ways, as narrow as QUIC allows", test.narrows, []int{0, 1}},
			{"one way", 1280, []int{0}},
			{"the other way", 1280, []int{1}},
		} {
			t.Run(test.name+" "+path.name, func(t *testing.T) {
				test.byDay(t)
				t.Parallel()
				n := newPath(t)
				n.narrow(path.size, path.ends...)
				nodes := n.startAs(test.setups(t, n, test.scheme))
				var loads [2]func() report
				for i, node := range nodes {
					loads[i] = begin[report](node, "load", workload{Once: true, To: nodes[1-i].id, Callers: 2, Calls: 4, Size: 1 << 20})
				}
				for i, load := range loads {
					if r := load(); r.failures() > 0 || r.Calls != 4 {
						t.Errorf("calls with 1 MiB from %s: %v", nodes[i].id, r)
					}
				}
				if lost := n.dropped(); lost > 0 {
					t.Errorf("%d packets were too large for the path", lost)
				}
			})
		}
	}
}

func TestCallsGoOnWhileThePathOfAStandingLinkShrinksAndGrowsBack(t *testing.T) {
	t.Parallel()
	for _, test := range carriers {
		t.Run(test.name, func(t *testing.T) {
			test.byDay(t)
			t.Parallel()
			n := newPath(t)
			nodes := n.startAs(test.setups(t, n, test.scheme))
			var loads [2]func() report
			for i, node := range nodes {
				loads[i] = beginCalls(t, node, workload{Once: true, To: nodes[1-i].id, Callers: 2, Size: 100 << 10})
			}
			goOn := func(path string) {
				t.Helper()
				for _, node := range nodes {
					before := node.figures().Made
					until(t, waitLimit, "calls of "+node.id+" over "+path, func() bool { return node.figures().Made >= before+20 })
				}
			}
			goOn("the whole path")
			n.narrow(1280, 0, 1)
			goOn("a path of 1,280 bytes")
			n.narrow(test.narrows, 0, 1)
			goOn("as narrow a path as QUIC allows")
			lost := n.dropped()
			n.heal()
			goOn("the path as it was")
			for _, node := range nodes {
				ask[bool](node, "halt", nil)
			}
			for i, load := range loads {
				r := load()
				t.Logf("from %s: %v", nodes[i].id, r)
				if r.failures() > 0 || r.Slowest > givenUp {
					t.Errorf("calls from %s: %v", nodes[i].id, r)
				}
				if ran := nodes[1-i].figures().Ran; ran != r.Calls {
					t.Errorf("%d calls of %s ran %d times", r.Calls, nodes[i].id, ran)
				}
			}
			for i, node := range nodes {
				node.awaitNodes(nodes[1-i].id)
			}
			if lost > 0 {
				t.Errorf("%d packets were too large for the path", lost)
			}
		})
	}
}
