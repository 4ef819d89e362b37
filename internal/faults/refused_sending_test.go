//go:build linux

package faults_test

import (
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
)

// Whatever the system says while a packet cannot leave or its path is closed, packets may get through again a moment later. TCP
// does not end a connection for it (RFC 1122, section 4.2.3.9), so links over UDP must not either.
func TestCallsGoOnWhereTheSystemRefusedToSendForASecond(t *testing.T) {
	t.Parallel()
	for _, refusal := range []struct {
		name         string
		refuse, heal func(n *network)
	}{
		{"a packet filter forbids to send", func(n *network) {
			for i := range n.names {
				n.in(i, "nft", "add rule inet faults output oif cable drop")
			}
		}, (*network).heal},
		{"a packet filter of the receiver rejects", func(n *network) { n.filter("reject with icmpx type admin-prohibited") }, (*network).heal},
		{"the route is gone", func(n *network) {
			for i := range n.names {
				n.in(i, "ip", "route", "add", "unreachable", n.host(1-i)+"/32")
			}
		}, func(n *network) {
			for i := range n.names {
				n.in(i, "ip", "route", "del", "unreachable", n.host(1-i)+"/32")
			}
		}},
		{"the cable is out", func(n *network) { n.in(0, "ip", "link", "set", "cable", "down") }, func(n *network) { n.in(0, "ip", "link", "set", "cable", "up") }},
	} {
		for _, carrier := range []string{"tcp", "quic", "kcp", "utp"} {
			t.Run(carrier+" where "+refusal.name, func(t *testing.T) {
				brokers.Slow(t)
				t.Parallel()
				n := newNetwork(t)
				nodes := n.startAs(overIPv4(t, n, carrier))
				var loads [2]func() report
				for i, node := range nodes {
					loads[i] = beginCalls(t, node, workload{Once: true, To: nodes[1-i].id, Callers: 4, Size: 1 << 10})
				}
				goOn := func(when string) {
					t.Helper()
					for _, node := range nodes {
						before := node.figures().Made
						until(t, waitLimit, "calls of "+node.id+" "+when, func() bool { return node.figures().Made >= before+100 })
					}
				}
				goOn("before")
				refusal.refuse(n)
				<-time.After(time.Second) // the refusal lasts so long
				refusal.heal(n)
				goOn("after")
				for _, node := range nodes {
					ask[bool](node, "halt", nil)
				}
				for i, load := range loads {
					if r := load(); r.failures() > 0 {
						t.Errorf("calls of %s: %v", nodes[i].id, r)
					}
				}
			})
		}
	}
}
