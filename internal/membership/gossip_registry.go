package membership

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"
)

// Gossip is a [Membership] by gossip between the nodes. It needs no ports of its own: a [Carrier] carries it. The one that
// there is comes with the transports that dial addresses.
type Gossip interface {
	Membership

	// Packet takes a packet that another node sent with Carrier.Send. It copies data and does not block; it drops packets
	// that arrive faster than they can be handled.
	Packet(from string, data []byte)

	// Conn takes over a connection that another node made by Carrier.Dial. It does not block.
	Conn(conn net.Conn)

	// SetSeeds replaces the seeds: new ones are visited at once, those that are not among them no more.
	SetSeeds(seeds []string)
}

// Carrier transports the packets and connections of a [Gossip], over links or whatever else its owner has. All methods are
// called by many goroutines at once.
type Carrier interface {
	// Send sends a packet as UDP would: it may be lost, and Send does not wait for anything. It returns an error when the
	// packet certainly did not go, such as when there is no link to that node, which lets the others be asked sooner. The
	// node may be one that Members does not list: one that has just dialled this one is known by its ID only. Send may keep
	// packet and must not change it.
	Send(ctx context.Context, to Member, packet []byte) error

	// Lookup returns the addresses to dial for a seed's URL, without this node's own: one for each address of its name, or the
	// URL itself. It may wait for a name server.
	Lookup(ctx context.Context, seed string) []string

	// Dial makes a reliable connection for one exchange, to a node whose other side gives it to [Gossip].Conn. Both sides
	// have authenticated each other when it returns. to is a member, or a seed that only has an Addr. It returns an error
	// that wraps ErrSelf where this node answered itself.
	Dial(ctx context.Context, to Member) (net.Conn, error)
}

// GossipConfig is the configuration of [NewGossip]. Its zero value is for tests; a cluster has a name.
type GossipConfig struct {
	// Cluster is the cluster's name, up to 255 bytes. Packets and connections of another cluster are ignored.
	Cluster string

	// ProbeInterval is the interval at which a node probes another one; 400 ms where 0. All other times go by it: a
	// direct answer is expected in 2/5 of it, news is passed on every 1/5, and a node that did not answer has 3 intervals
	// (in a cluster of more than 10 nodes, 3·log10 of their number) to deny that it failed. With the default, in a cluster
	// of up to 10, a node that went silent is Failed about 2 s later (of 480 measured crashes, 3 took more than 3 s), and
	// one that stalls for a second is not. A shorter interval finds failures sooner and believes in more that are none.
	ProbeInterval time.Duration

	// Log is the logger; slog.Default where nil.
	Log *slog.Logger
}

var newGossip func(Carrier, []string, GossipConfig) Gossip

// RegisterGossip makes [NewGossip] call the function. A package of gossip calls it from its init. It panics for nil and where
// one is registered: each is a mistake in the program that shows at its start.
func RegisterGossip(make func(carrier Carrier, seeds []string, config GossipConfig) Gossip) {
	if make == nil {
		panic("membership: RegisterGossip was given nil")
	}
	if newGossip != nil {
		panic("membership: RegisterGossip: one is registered already")
	}
	newGossip = make
}

// NewGossip makes a membership by the gossip that the program links. It joins by way of seeds, the URLs of some nodes of the
// cluster. None is fine for the first node; this node's own URL may be among them. Its error names the import of a program that
// links no gossip.
func NewGossip(carrier Carrier, seeds []string, config GossipConfig) (Gossip, error) {
	if newGossip == nil {
		return nil, errors.New(`the program does not link the gossip by which nodes find each other: add import _ "github.com/sabir-go/sabir/transport/tcp", or that of another transport of addresses`)
	}
	return newGossip(carrier, seeds, config), nil
}
