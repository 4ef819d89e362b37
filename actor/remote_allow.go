package actor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/vouch"
	"github.com/sabir-go/sabir/internal/wire"
)

// checkAllowed returns what is wrong with Nodes of the Config.
func (n *network) checkAllowed(node *sabir.Node) error {
	for _, p := range n.allowed {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return fmt.Errorf("actor: Config.Nodes has the pattern %q, which takes no name", p)
		}
	}
	if n.allowed != nil && node.JoinAddress() != "" && !vouch.Of(node).LinksProveNames {
		return errors.New("actor: Config.Nodes needs nodes that prove their names: join over tls:// or quic:// with cluster.Config.TLS that demands certificates of other nodes, or with cluster.Config.NodeKeys")
	}
	return nil
}

// allows reports whether processes may reach each other over the link.
func (n *network) allows(l *wire.Link) bool {
	if n.allowed == nil {
		return true
	}
	allowed := identity.Takes(n.allowed, l.Peer().Names)
	n.audit(l.Peer(), "processes", allowed)
	return allowed
}

// audit logs a verdict on another node.
func (n *network) audit(peer wire.Peer, action string, allowed bool) {
	level, verdict := slog.LevelWarn, "refused"
	if allowed {
		level, verdict = slog.LevelInfo, "allowed"
	}
	n.system.log.Log(context.Background(), level, "audit", "node", peer.Node, "names", peer.Names, "action", action, "verdict", verdict)
}
