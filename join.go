package sabir

import (
	"context"
	"crypto/tls"
	"maps"
	"runtime"
	"slices"

	"github.com/sabir-go/sabir/internal/mesh"
	"github.com/sabir-go/sabir/internal/wire"
)

// Join makes the node a member of a cluster: it links itself to the other nodes, calls what their services offer, and
// offers them its own. The address sets where it listens and by what transport: "tcp://:7700", "tls://10.0.0.5:7700",
// "unix:///run/shop.sock", "quic://:7700"; or at what broker the nodes meet: "nats://10.0.0.9:4222", "redis://…", "mqtt://…",
// "amqp://…", "nats://embedded". The program imports the package of its transport, such as
// _ "github.com/sabir-go/sabir/transport/tcp" for the first three; docs/transports.md compares them.
//
// On one machine the address alone is enough, the same for every process: the first one listens there, those that come
// later find it, join it, and listen on an address of their own; when the first one goes, another takes the address over.
// On several machines, name nodes to find the others by, with [Seeds] or in the address:
// "tcp://0.0.0.0:7700?seeds=10.0.0.5:7700,10.0.0.6:7700".
//
// An address without a host means this machine only. To be reached from others, name the host and restrict who may join, with
// [ClusterKey] or a TLS configuration that demands client certificates; without either the node refuses to start.
func Join(address string, options ...JoinOption) NodeOption {
	j := joining{config: mesh.Config{Address: address, Cluster: "default", Connections: 1}}
	for _, o := range options {
		o.applyJoin(&j)
	}
	return nodeOptionOnce("Join", callerSite(), func(n *Node) {
		n.problems = append(n.problems, j.problems...)
		n.joins, n.joinCluster = append(n.joins, j.config), joinMesh
	})
}

// joining is a use of Join.
type joining struct {
	config   mesh.Config
	given    givenOptions
	problems []error // of the options
}

// JoinOption is an option of Join. [Seeds], [Members] and [Codecs] add up; a node with two of another does not start.
type JoinOption interface{ applyJoin(*joining) }

type joinOption func(*joining)

func (o joinOption) applyJoin(j *joining) { o(j) }

// ClusterName names the cluster. Default: "default". Nodes of clusters with other names refuse each other, so several
// clusters can share a network. Over a broker they do not see each other.
func ClusterName(name string) JoinOption {
	return joinOptionOnce("ClusterName", callerSite(), func(j *joining) { j.config.Cluster = name })
}

// ClusterKey is the secret that every node of the cluster must know, of at least 16 random bytes. It is proved, never sent.
// It keeps strangers out; it does not hide what is sent, for which there is tls://.
func ClusterKey(key string) JoinOption {
	return joinOptionOnce("ClusterKey", callerSite(), func(j *joining) { j.config.Key = key })
}

// ClusterTLS is the TLS configuration of tls:// links, for both ends: the certificate of this node, the authorities that
// others' certificates must come from (RootCAs and ClientCAs), and whether they must show one.
func ClusterTLS(config *tls.Config) JoinOption {
	return joinOptionOnce("ClusterTLS", callerSite(), func(j *joining) { j.config.TLS = config })
}

// Seeds are addresses of nodes to find the cluster by. One that can be reached is enough; those that cannot are tried again
// for as long as the node runs.
func Seeds(addresses ...string) JoinOption {
	return joinOption(func(j *joining) { j.config.Seeds = append(j.config.Seeds, addresses...) })
}

// Members makes the cluster the nodes at these addresses and no others, without gossip: each node is given the addresses of
// all, its own may be among them. Addresses that do not answer are tried again for as long as the node runs.
func Members(addresses ...string) JoinOption {
	return joinOption(func(j *joining) { j.config.Static = append(j.config.Static, addresses...) })
}

// Advertise is the host, or host:port, that the other nodes dial, where it is not the one that is listened on: in a
// container or behind an address translation.
func Advertise(host string) JoinOption {
	return joinOptionOnce("Advertise", callerSite(), func(j *joining) { j.config.Advertise = host })
}

// PacketSize bounds the bytes of a packet of quic, kcp and utp. Default and minimum: 1,200; TCP to other
// machines is held to packets of the same size on Linux. Give more where every path between the nodes carries it, and much is
// to be sent: packets that are too large for a path are lost, and links with them. See docs/transports.md.
func PacketSize(bytes int) JoinOption {
	return joinOptionOnce("PacketSize", callerSite(), func(j *joining) { j.config.PacketSize = bytes })
}

// Zone names the place of the node, such as a data centre or a rack. Calls go to nodes of their own zone while there are any.
func Zone(name string) JoinOption {
	return joinOptionOnce("Zone", callerSite(), func(j *joining) { j.config.Zone = name })
}

// Labels describe this node to the others; they show in listings, and calls prefer nodes that share more of them. All
// labels, the zone and the address together may take about 400 bytes.
func Labels(labels map[string]string) JoinOption {
	return joinOptionOnce("Labels", callerSite(), func(j *joining) { j.config.Labels = maps.Clone(labels) })
}

// Connections sets how many connections are kept to each other node. Default: 1, which is fastest as a rule: the more
// calls share a connection, the more go in one system call.
func Connections(n int) JoinOption {
	return joinOptionOnce("Connections", callerSite(), func(j *joining) { j.config.Connections = min(max(n, 1), 64) })
}

// ClientOnly makes a node that calls others and offers nothing: it does not listen, and the others do not look for it. It is
// meant for command lines and tools.
func ClientOnly() JoinOption {
	return joinOptionOnce("ClientOnly", callerSite(), func(j *joining) { j.config.Observer = true })
}

// Compress makes values of at least above bytes smaller before they are sent, by "s2" (fast) or "zstd" (smaller), to
// nodes that have it switched on too. By default nothing is compressed, which is right within a data centre. Import
// _ "github.com/sabir-go/sabir/transport/compress" for it.
func Compress(algorithm string, above int) JoinOption {
	return joinOptionOnce("Compress", callerSite(), func(j *joining) { j.config.Compression, j.config.CompressAbove = algorithm, above })
}

// LinkLimits bounds what other nodes can make this one hold. 0 stands for the default.
type LinkLimits struct {
	Message int // bytes of one input, answer or value of a stream; 64 MiB
	Calls   int // calls in flight from one other node; 16,384
	Streams int // streams opened by one other node; 4,096
	Window  int // bytes of one stream that wait to be received; 256 KiB
	Node    int // calls in flight from all other nodes together; 65,536
}

// Limit sets the limits of links.
func Limit(limits LinkLimits) JoinOption {
	return joinOptionOnce("Limit", callerSite(), func(j *joining) {
		j.config.Limits = wire.Limits{Message: limits.Message, Calls: limits.Calls, Streams: limits.Streams, Window: limits.Window}
		j.config.NodeCalls = limits.Node
	})
}

// join makes the node a member of its cluster, if it is to be one.
func (n *Node) join(ctx context.Context) error {
	if err := n.checkBalances(); err != nil {
		return err
	}
	for _, j := range n.joins {
		if err := linkedFormats(slices.Concat(n.codecs, j.Codecs)); err != nil {
			return joinError("Codecs: ", err)
		}
	}
	if len(n.joins) == 0 {
		return nil
	}
	return n.joinCluster(ctx, n, n.joins[0])
}

// joinMesh makes the node a member. Only Join leads here, so a program without it is built without all that clusters need.
func joinMesh(ctx context.Context, n *Node, config mesh.Config) error {
	config.Node, config.Log = n.id, n.log
	config.Info = mesh.Info{Instance: uint64(n.epoch.UnixNano()), Codecs: n.acceptedFormats(), Host: hostname(), PID: processID,
		Go: runtime.Version(), CPUs: runtime.GOMAXPROCS(0), Since: n.started}
	m, err := mesh.New(meshHost{n}, config)
	if err != nil {
		return joinError("Join: ", err)
	}
	if err := m.Listen(ctx); err != nil {
		return joinError("", err)
	}
	n.mesh.Store(m) // before it is linked: the node may be asked things while it starts
	if err := m.Enter(ctx); err != nil {
		n.mesh.Store(nil)
		return joinError("", err)
	}
	return nil
}

func joinError(what string, err error) *Error {
	return &Error{Code: CodeUnavailable, Name: nameJoinFailed, cause: err, Message: what + err.Error()}
}
