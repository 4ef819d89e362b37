package sabir

import (
	"context"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/vouch"
	"github.com/sabir-go/sabir/internal/wire"
)

func init() {
	vouch.Of = func(node any) vouch.Node {
		n := node.(*Node)
		if len(n.joins) == 0 {
			return vouch.Node{}
		}
		j := &n.joins[0]
		return vouch.Node{ID: n.id, Keys: j.Keys, TLS: j.TLS, NodeKey: j.NodeKey, NodeKeys: j.NodeKeys, Nodes: j.Vouchers, LinksProveNames: j.LinksProveNames()}
	}
}

// vouched reports whether the node at the other end of the link that a call came over may say for whom it is made, see
// [cluster.Config.Vouchers].
func (n *Node) vouched(ctx context.Context) bool {
	if len(n.joins) == 0 || !n.joins[0].ProvesNames() && n.joins[0].Vouchers == nil {
		return true
	}
	link, _ := ctx.Value(wire.LinkKey{}).(*wire.Link)
	if link != nil && identity.Takes(n.joins[0].Vouchers, link.Peer().Names) {
		return true
	}
	n.unvouched.Do(func() {
		node := ""
		if link != nil {
			node = link.Peer().Node
		}
		n.log.Warn("a call says for whom it is made, and its node does not vouch here: name it with cluster.Config.Vouchers, or the call counts as nobody's", "node", n.id, "peer", node)
	})
	return false
}
