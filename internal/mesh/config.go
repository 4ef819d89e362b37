package mesh

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/internal/wire"
)

// Host is the node that a mesh links with others. Its methods may be called by many goroutines at once.
type Host interface {
	// Services lists the services that the node offers to others.
	Services() []membership.Service
	// Waiting lists the services of the node that wait for others before they start.
	Waiting() []membership.Waiting
	// Decisions lists those of operators that the node knows.
	Decisions() []membership.Decision
	// Rebuild makes the tables that calls go by anew, after a change of what other nodes offer.
	Rebuild(view *membership.View)
	// Members asks another node, which this one is linked with, for the nodes that it knows.
	Members(ctx context.Context, from string) ([]membership.Member, error)
	// Route returns the target that serves the calls or events that the peer will send under the route's name.
	Route(l *wire.Link, r *wire.Route) wire.Target
	// Suspected reports that the peer of a link answers nothing for the moment, or answers again. It must not block.
	Suspected(l *wire.Link)
	// Look is called once a second, for what compares nodes.
	Look()
	// Linked, Posted and Unlinked report links, and the posts on them that the mesh has no use for. For one link they are
	// called one at a time in this order, by the goroutine that reads the link, so they must not block.
	Linked(l *wire.Link)
	Posted(l *wire.Link, topic uint8, data []byte)
	Unlinked(l *wire.Link, err error)
}

// Config holds a node's settings for its cluster.
type Config struct {
	Node string // its id
	Info Info   // what it sends of itself to others; the mesh adds what depends on the address
	Log  *slog.Logger

	Admission *admission.Control // of the requests of other nodes; nil for none
	Memory    *memory.Budget     // of the values that wait; nil for one of each link's own

	Address string // where to listen, or a broker's
	joining.Config

	bus          bool     // the address is a broker's
	addressTaken bool     // another node listens at the address: it is the first of ownSeeds
	ownSeeds     []string // by the address: they stay when Seeds are replaced
}

// read takes the seeds out of the address, and finds out whether it is a broker's.
func (c *Config) read() error {
	u, err := schemes.Parse(c.Address)
	if err != nil {
		return err
	}
	query := u.Query()
	for _, seed := range strings.FieldsFunc(query.Get("seeds"), func(r rune) bool { return r == ',' }) {
		if !strings.Contains(seed, "://") {
			seed = u.Scheme + "://" + seed
		}
		c.ownSeeds = append(c.ownSeeds, seed)
	}
	if query.Has("seeds") {
		query.Del("seeds")
		u.RawQuery = query.Encode()
		c.Address = u.String()
	}
	if err := c.readPlain(u, query); err != nil {
		return err
	}
	_, c.bus = transports.Bus(u.Scheme)
	if c.OfferedBy != nil && !c.LinksProveNames() {
		return errors.New("cluster.Config.OfferedBy needs nodes that prove their names: join over tls:// or quic:// with cluster.Config.TLS that demands certificates of other nodes, or with cluster.Config.NodeKeys")
	}
	if c.bus && (len(c.Seeds)+len(c.ownSeeds)+len(c.Members) > 0 || c.Directory != nil) {
		return fmt.Errorf("nodes find each other at the broker %s: leave out Seeds, Members and Directory", u.Redacted())
	}
	if len(c.Members) > 0 && c.Directory != nil {
		return errors.New("nodes find each other by a list of members or by a directory: leave out Members or Directory")
	}
	return nil
}

// readPlain takes plain=1 out of the address.
func (c *Config) readPlain(u *url.URL, query url.Values) error {
	if !query.Has("plain") {
		return nil
	}
	if query.Get("plain") != "1" {
		return fmt.Errorf("the address %s has plain=%q: it is 1, for links that are not encrypted, or left out", u.Redacted(), query.Get("plain"))
	}
	query.Del("plain")
	u.RawQuery = query.Encode()
	c.Plain, c.Address = true, u.String()
	return nil
}

// LinksProveNames reports whether links show the names that nodes prove: with node keys all do, with certificates those of transports on which
// TLS is between the two nodes. On others it may end at a proxy or a broker.
func (c *Config) LinksProveNames() bool {
	scheme, _, _ := strings.Cut(c.Address, ":")
	return c.NodeKeys != nil || c.TLS != nil && (scheme == "tls" || scheme == "quic")
}

// sharesCatalogs reports whether the node can be one of a cluster in which links are made on demand: its membership notices the end of nodes that it has
// no link to, and it may believe what others tell of them, which no certificate proves.
func (c *Config) sharesCatalogs() bool {
	return !c.ClientOnly && !c.ProvesNames() && c.Directory == nil && len(c.Members) == 0
}

// fullMesh is up to how many nodes of the cluster each keeps a link to each other.
func (c *Config) fullMesh() int {
	if c.FullMesh == 0 {
		return defaultFullMesh
	}
	return c.FullMesh
}

// defaultFullMesh is so large that clusters of usual sizes do without links on demand: where nodes have too little processor time, a node that
// membership takes for failed goes on being called over a link that there is, and is not called where it is at rest.
const defaultFullMesh = 128

// idleTime is for how long a side keeps a link on which it has begun nothing.
func (c *Config) idleTime() time.Duration {
	if c.IdleTime == 0 {
		return idleTime
	}
	return c.IdleTime
}

const defaultNodeCalls = 64 << 10

// wire is the configuration of the node's links.
func (c *Config) wire(info []byte) wire.Config {
	config := wire.Config{Node: c.Node, Cluster: c.Cluster, NodeInfo: info, Compression: wire.Compression(c.Compression), CompressAbove: c.CompressAbove, Log: c.Log, Admission: c.Admission, Keys: c.Keys, NodeKey: c.NodeKey, NodeKeys: c.NodeKeys, Plain: c.Plain, CallersRead: c.CallersRead}
	calls := c.Limits.Node
	if calls == 0 {
		calls = defaultNodeCalls
	}
	config.Limits = wire.Limits{Message: c.Limits.Message, Calls: c.Limits.Calls, Streams: c.Limits.Streams, Window: c.Limits.Window, InFlight: wire.NewBudget(calls)}
	return config
}
