package mesh

import (
	"context"
	"fmt"
	"net"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/wire"
)

// gossipCarrier is the network of the membership library: packets go as posts on links, and each connection is dialled
// beside them.
type gossipCarrier struct{ mesh *Mesh }

// Send is the method of membership.Carrier.
func (g gossipCarrier) Send(_ context.Context, to membership.Member, packet []byte) error {
	m := g.mesh
	m.mu.Lock()
	p := m.peers[to.ID]
	m.mu.Unlock()
	if p != nil {
		if l := p.Link(); l != nil && l.TryPost(topicGossip, packet) {
			return nil
		}
	}
	if m.Sparse() && to.Addr != "" && m.packets.send(to, packet) {
		return nil
	}
	return fmt.Errorf("no link to %s", to)
}

// Lookup is the method of membership.Carrier.
func (g gossipCarrier) Lookup(ctx context.Context, seed string) []string {
	return g.mesh.lookup(ctx, seed)
}

// Dial is the method of membership.Carrier.
func (g gossipCarrier) Dial(ctx context.Context, to membership.Member) (net.Conn, error) {
	if to.Addr == g.mesh.OwnAddress() {
		return nil, fmt.Errorf("%s: %w", to, membership.ErrSelf)
	}
	if g.mesh.isDraining() { // its own side of the handshake would refuse
		return nil, membership.ErrLeaving
	}
	conn, p, _, err := g.mesh.connect(ctx, to.Addr, wire.ForGossip)
	if err != nil {
		return nil, err
	}
	if to.ID != "" && p.Node != to.ID {
		conn.Close()
		return nil, fmt.Errorf("at %s is node %s, not %s", to.Addr, p.Node, to.ID)
	}
	return conn, nil
}
