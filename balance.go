package sabir

import (
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/option"
)

// Balance chooses how calls are shared among the nodes that offer an action; by default it is [cluster.RoundRobin]. With a
// pattern, such as "sessions.*", it is for the actions whose full names the pattern takes; the last one given counts.
//
//	sabir.NewNode(
//		sabir.Balance(cluster.LeastInFlight),
//		sabir.Balance(cluster.Hash, "sessions.*"))
func Balance(balancer cluster.Balancer, patterns ...string) NodeOption {
	return nodeOption(func(n *Node) { n.balances = append(n.balances, balance{balancer, patterns}) })
}

// balance is one use of the option Balance.
type balance struct {
	balancer cluster.Balancer
	patterns []string
}

var balancers = map[cluster.Balancer]func() membership.Balancer{
	cluster.RoundRobin:    membership.RoundRobin,
	cluster.Random:        membership.Random,
	cluster.LeastInFlight: membership.LeastInFlight,
	cluster.EWMA:          membership.PeakEWMA,
	cluster.Hash:          membership.ConsistentHash,
}

// PreferLocal says whether calls of actions that this node offers itself stay here. Default: true, such a call costs nothing. With
// false they are shared with the other nodes that offer the action, as the balancer decides.
func PreferLocal(prefer bool) NodeOption {
	return nodeOptionOnce("PreferLocal", option.Caller(), func(n *Node) { n.shares = !prefer })
}

// balancerFor makes the balancer of an action.
func (n *Node) balancerFor(action string) membership.Balancer {
	make := membership.RoundRobin
	for _, b := range n.balances {
		if b.takes(action) {
			make = balancers[b.balancer] // checkBalances has seen that there is one
		}
	}
	m := n.cluster()
	if m == nil {
		return make()
	}
	return membership.Nearest(m.Place, make())
}

func (b balance) takes(action string) bool {
	for _, pattern := range b.patterns {
		if names.Match(pattern, action) {
			return true
		}
	}
	return len(b.patterns) == 0
}

// checkBalances finds balancers that do not exist.
func (n *Node) checkBalances() error {
	for _, b := range n.balances {
		if balancers[b.balancer] == nil {
			return &Error{Code: CodeInvalidArgument, Name: nameBadOption, Node: n.id,
				Message: "Balance was given " + b.balancer.String() + ", which is no balancer of package cluster"}
		}
	}
	return nil
}
