package sabir

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"maps"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/tcp" // so that Join works as it is written everywhere
	"github.com/sabir-go/sabir/wire"
)

// Join makes the node a member of a cluster: it links itself to the other nodes, calls what their services offer, and
// offers them its own. The address says where it listens and by what transport: "tcp://:7700", "tls://10.0.0.5:7700",
// "unix:///run/shop.sock", "quic://:7700"; or at what broker the nodes meet: "nats://10.0.0.9:4222", "redis://…", "mqtt://…",
// "amqp://…", "nats://embedded". All but tcp, tls and unix want their package to be imported; docs/transports.md tells them apart.
//
// On one machine the address alone is enough, the same for every process: the first one listens there, those that come
// later find it, join it, and listen on an address of their own; when the first one goes, another takes the address over.
// On several machines, name nodes to find the others by, with [Seeds] or in the address:
// "tcp://0.0.0.0:7700?seeds=10.0.0.5:7700,10.0.0.6:7700".
//
// An address without a host means this machine only. To be reached from others, name the host and say who may join, with
// [ClusterKey] or a TLS configuration that demands client certificates; without either the node refuses to start.
func Join(address string, options ...JoinOption) NodeOption {
	config := joinConfig{address: address, cluster: "default", connections: 1}
	for _, o := range options {
		o.applyJoin(&config)
	}
	return nodeOption(func(n *Node) { n.joins, n.enter = append(n.joins, config), enter })
}

// JoinOption is an option of Join.
type JoinOption interface{ applyJoin(*joinConfig) }

type joinOption func(*joinConfig)

func (o joinOption) applyJoin(c *joinConfig) { o(c) }

type joinConfig struct {
	address     string
	cluster     string
	key         string
	tls         *tls.Config
	seeds       []string
	static      []string
	advertise   string
	zone        string
	labels      map[string]string
	connections int
	guest       bool
	bus         bool // the address is a broker's
	met         bool // the address is taken: there is a node to meet
	compression string
	above       int
	limits      LinkLimits
	codecs      []string // see Codecs
}

// ClusterName names the cluster; "default" without it. Nodes of clusters with other names refuse each other, so several
// clusters can share a network. Over a broker they do not see each other.
func ClusterName(name string) JoinOption {
	return joinOption(func(c *joinConfig) { c.cluster = name })
}

// ClusterKey is the secret that every node of the cluster must know, of at least 16 random bytes. It is proved, never sent.
// It keeps strangers out; it does not hide what is sent, for which there is tls://.
func ClusterKey(key string) JoinOption {
	return joinOption(func(c *joinConfig) { c.key = key })
}

// ClusterTLS is the TLS configuration of tls:// links, for both ends: the certificate of this node, the authorities that
// others' certificates must come from (RootCAs and ClientCAs), and whether they must show one.
func ClusterTLS(config *tls.Config) JoinOption {
	return joinOption(func(c *joinConfig) { c.tls = config })
}

// Seeds are addresses of nodes to find the cluster by. One that can be reached is enough; those that cannot are tried again
// for as long as the node runs.
func Seeds(addresses ...string) JoinOption {
	return joinOption(func(c *joinConfig) { c.seeds = append(c.seeds, addresses...) })
}

// Advertise is the host, or host:port, that the other nodes dial, where it is not the one that is listened on: in a
// container or behind an address translation.
func Advertise(host string) JoinOption {
	return joinOption(func(c *joinConfig) { c.advertise = host })
}

// Zone says where the node is, such as a data centre or a rack. Calls go to nodes of their own zone while there are any.
func Zone(name string) JoinOption {
	return joinOption(func(c *joinConfig) { c.zone = name })
}

// Labels tells the other nodes about this one; they show in listings, and calls prefer nodes that share more of them. All
// labels, the zone and the address together may take about 400 bytes.
func Labels(labels map[string]string) JoinOption {
	return joinOption(func(c *joinConfig) { c.labels = maps.Clone(labels) })
}

// Connections is how many connections are kept to each other node; 1 without it, which is fastest as a rule: the more
// calls share a connection, the more go in one system call.
func Connections(n int) JoinOption {
	return joinOption(func(c *joinConfig) { c.connections = min(max(n, 1), 64) })
}

// Guest makes a node that calls others and offers nothing: it does not listen, and the others do not look for it. Command
// lines and tools are guests.
func Guest() JoinOption {
	return joinOption(func(c *joinConfig) { c.guest = true })
}

// Compress makes values of at least above bytes smaller before they are sent, by "s2" (fast) or "zstd" (smaller), to
// nodes that have it switched on too. Without it nothing is compressed, which is right within a data centre.
func Compress(algorithm string, above int) JoinOption {
	return joinOption(func(c *joinConfig) { c.compression, c.above = algorithm, above })
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
	return joinOption(func(c *joinConfig) { c.limits = limits })
}

const defaultNodeCalls = 64 << 10

// join makes the node a member of its cluster, if it is to be one.
func (n *Node) join(ctx context.Context) error {
	if err := n.checkBalances(); err != nil {
		return err
	}
	for _, j := range n.joins {
		if err := linkedFormats(slices.Concat(n.codecs, j.codecs)); err != nil {
			return joinError("Codecs: ", err)
		}
	}
	switch len(n.joins) {
	case 0:
		return nil
	case 1:
	default:
		return &Error{Code: InvalidArgument, Name: nameJoin, Node: n.id, Message: "a node is a member of one cluster: give Join once"}
	}
	return n.enter(ctx, n, n.joins[0])
}

// enter makes the node a member. Only Join leads here, so a program without it is built without all that clusters need.
func enter(ctx context.Context, n *Node, config joinConfig) error {
	m, err := newMesh(n, config)
	if err != nil {
		return err
	}
	if err := m.start(ctx); err != nil {
		n.mesh.Store(nil)
		return err
	}
	return nil
}

// read takes what the address says besides where to listen.
func (c *joinConfig) read() error {
	u, err := transport.Parse(c.address)
	if err != nil {
		return &Error{Code: InvalidArgument, Name: nameJoin, Message: "Join: " + err.Error()}
	}
	query := u.Query()
	for _, seed := range strings.FieldsFunc(query.Get("seeds"), func(r rune) bool { return r == ',' }) {
		if !strings.Contains(seed, "://") {
			seed = u.Scheme + "://" + seed
		}
		c.seeds = append(c.seeds, seed)
	}
	if query.Has("seeds") {
		query.Del("seeds")
		u.RawQuery = query.Encode()
		c.address = u.String()
	}
	_, c.bus = transport.LookupBus(u.Scheme)
	if c.bus && len(c.seeds)+len(c.static) > 0 {
		return &Error{Code: InvalidArgument, Name: nameJoin, Message: "Join: nodes find each other at the broker " + u.Redacted() + ": leave out Seeds and Static"}
	}
	return nil
}

// secret is for brokers that the transport starts itself: made of the cluster key, and of no use for anything else.
func (c *joinConfig) secret() []byte {
	if c.key == "" {
		return nil
	}
	mac := hmac.New(sha256.New, []byte(c.key))
	mac.Write([]byte("sabir broker 1"))
	return mac.Sum(nil)
}

// wire is the configuration of the node's links.
func (c *joinConfig) wire(n *Node, about []byte) wire.Config {
	config := wire.Config{Node: n.id, Cluster: c.cluster, About: about, Compression: wire.Compression(c.compression), CompressAbove: c.above, Log: n.log}
	if c.key != "" {
		config.Key = []byte(c.key)
	}
	if c.limits.Node == 0 {
		c.limits.Node = defaultNodeCalls
	}
	config.Limits = wire.Limits{Message: c.limits.Message, Calls: c.limits.Calls, Streams: c.limits.Streams, Window: c.limits.Window,
		InFlight: wire.NewBudget(c.limits.Node)}
	return config
}
