package sabir

import (
	"strings"

	"github.com/sabir-go/sabir/cluster"
)

// Balance chooses how calls are shared among the nodes that offer an action: "round-robin" (the default), "random",
// "least" (the fewest calls in flight, of two picked by chance), "ewma" (the quickest lately, of two picked by chance) or
// "hash" (calls with the same [ByKey] go to the same node, and few move when nodes come and go). With a pattern, such as
// "sessions.*", it is for the actions whose full names the pattern takes; the last one given counts. Whichever it is,
// nodes of this node's [Zone] go first.
func Balance(balancer string, patterns ...string) NodeOption {
	return nodeOption(func(n *Node) { n.balances = append(n.balances, balance{balancer, patterns}) })
}

// balance is one use of the option Balance.
type balance struct {
	balancer string
	patterns []string
}

// PreferLocal says whether calls of actions that this node offers itself stay here. Default: true, such a call costs nothing. With
// false they are shared with the other nodes that offer the action, as the balancer decides.
func PreferLocal(prefer bool) NodeOption {
	return nodeOptionOnce("PreferLocal", callerSite(), func(n *Node) { n.shares = !prefer })
}

// balancerFor makes the balancer of an action.
func (n *Node) balancerFor(action string) cluster.Balancer {
	make := cluster.RoundRobin
	for _, b := range n.balances {
		if named, ok := cluster.Named(b.balancer); ok && b.takes(action) {
			make = named
		}
	}
	m := n.mesh.Load()
	if m == nil {
		return make()
	}
	self := m.Member()
	if self.Zone == "" && len(self.Labels) == 0 {
		return make()
	}
	return cluster.Nearest(self, make())
}

func (b balance) takes(action string) bool {
	for _, pattern := range b.patterns {
		if matches(pattern, action) {
			return true
		}
	}
	return len(b.patterns) == 0
}

// checkBalances finds names of balancers that do not exist.
func (n *Node) checkBalances() error {
	for _, b := range n.balances {
		if _, ok := cluster.Named(b.balancer); !ok {
			return &Error{Code: CodeInvalidArgument, Name: nameBadOption, Node: n.id,
				Message: "Balance knows no balancer " + b.balancer + ": there are " + strings.Join(cluster.Names(), ", ")}
		}
	}
	return nil
}
