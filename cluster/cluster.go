// Package cluster has the options of sabir.Join, by which a node becomes a member of a cluster, and the balancers that share
// calls among nodes.
//
//	node := sabir.NewNode(
//		sabir.Join("tcp://0.0.0.0:7700",
//			cluster.KeyFromEnv("CLUSTER_KEY"),
//			cluster.Seeds("tcp://10.0.0.5:7700", "tcp://10.0.0.6:7700"),
//			cluster.Zone("east")),
//		sabir.Balance(cluster.LeastInFlight),
//		sabir.Serve(orders))
//
// On one machine none of them is needed: nodes that join the same address find each other.
package cluster

import (
	"crypto/tls"
	"fmt"
	"maps"
	"os"
	"path"
	"strings"

	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/seal"
)

// Option is an option of sabir.Join: one of this package, of transport/compress, or sabir.Codecs. [Seeds], [Members] and
// Codecs add up; a node with two of another does not start.
type Option interface{ ApplyJoin(*joining.Config) }

type function func(*joining.Config)

func (f function) ApplyJoin(c *joining.Config) { f(c) }

// once is an option that can be given once.
func once(name string, at option.Site, apply func(*joining.Config)) Option {
	return function(func(c *joining.Config) {
		c.Once("cluster."+name, at)
		apply(c)
	})
}

// Name names the cluster. Default: "default". Nodes of clusters with other names refuse each other, so several clusters can
// share a network. Over a broker they do not see each other.
func Name(name string) Option {
	return once("Name", option.Caller(), func(c *joining.Config) { c.Cluster = name })
}

// Key is the secret that every node of the cluster must know, of at least 16 random bytes (openssl rand -hex 32). Nodes prove to
// each other that they have it, never send it, and encrypt with keys that come of it: links over every transport, and what nodes say to all
// over a broker. ?plain=1 behind the address of Join leaves links as they are.
//
// To replace it without a stop, start the nodes one after the other with Key(new, old), and when all have both, one after the
// other with Key(new). A node prefers the first key, and accepts each of them; at most two old ones.
//
// The key does not show where the options or the node are printed. An empty one is none.
func Key(key string, old ...string) Option {
	return once("Key", option.Caller(), func(c *joining.Config) { c.Keys = seal.NewKeys(append([]string{key}, old...)...) })
}

// KeyFile is [Key] with the keys of a file, such as a secret of Kubernetes or a credential of systemd: on lines of their own or
// separated by commas, the new one first; spaces around them do not count. The file is read when the option is made. One that
// cannot be read, or holds no key, keeps the node from starting.
func KeyFile(path string) Option {
	at := option.Caller()
	text, err := os.ReadFile(path)
	return keysFrom("cluster.KeyFile", "the file "+path, string(text), err, at)
}

// KeyFromEnv is [KeyFile] for the text of an environment variable, which programs that this one starts inherit. One that is not
// set, or holds no key, keeps the node from starting.
func KeyFromEnv(name string) Option {
	return keysFrom("cluster.KeyFromEnv", "the environment variable "+name, os.Getenv(name), nil, option.Caller())
}

func keysFrom(function, source, text string, err error, at option.Site) Option {
	keys := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' })
	for i := range keys {
		keys[i] = strings.TrimSpace(keys[i])
	}
	found := seal.NewKeys(keys...)
	return once("Key", at, func(c *joining.Config) {
		switch {
		case err != nil:
			c.Problems = append(c.Problems, fmt.Errorf("%s: %s: %w", at, function, err))
		case found.None():
			c.Problems = append(c.Problems, fmt.Errorf("%s: %s: %s holds no key", at, function, source))
		}
		c.Keys = found
	})
}

// TLS is the TLS configuration of tls:// links, for both ends: the certificate of this node, the authorities that others'
// certificates must come from (RootCAs and ClientCAs), and whether they must show one.
func TLS(config *tls.Config) Option {
	return once("TLS", option.Caller(), func(c *joining.Config) { c.TLS = config })
}

// Vouchers names the nodes whose word this one takes for whom a call is made (the principal of package web/auth): by patterns of the
// names in their certificates, as sabir.FromNodes does. They are the gateways, and the nodes that pass calls of theirs on. A principal that
// comes from any other node is dropped, so that its call is one of nobody.
//
// By default no node vouches where links have certificates. Where all nodes share a key, each could pretend to be any other, and all vouch.
func Vouchers(patterns ...string) Option {
	at := option.Caller()
	return once("Vouchers", at, func(c *joining.Config) {
		c.Vouchers = append([]string{}, patterns...)
		for _, p := range patterns {
			if _, err := path.Match(p, ""); err != nil || p == "" {
				c.Problems = append(c.Problems, fmt.Errorf("%s: cluster.Vouchers: the pattern %q takes no name", at, p))
			}
		}
	})
}

// Seeds are addresses of nodes to find the cluster by. One that can be reached is enough; those that cannot are tried again
// for as long as the node runs.
func Seeds(addresses ...string) Option {
	return function(func(c *joining.Config) { c.Seeds = append(c.Seeds, addresses...) })
}

// Members makes the cluster the nodes at these addresses and no others, without gossip: each node is given the addresses of
// all, its own may be among them. Addresses that do not answer are tried again for as long as the node runs.
func Members(addresses ...string) Option {
	return function(func(c *joining.Config) { c.Members = append(c.Members, addresses...) })
}

// Advertise is the host, or host:port, that the other nodes dial, where it is not the one that is listened on: in a
// container or behind an address translation.
func Advertise(host string) Option {
	return once("Advertise", option.Caller(), func(c *joining.Config) { c.Advertise = host })
}

// PacketSize bounds the bytes of a packet of quic, kcp and utp. Default and minimum: 1,200; TCP to other machines is held to
// packets of the same size on Linux. Give more where every path between the nodes carries it, and much is to be sent: packets
// that are too large for a path are lost, and links with them. See docs/transports-udp.md.
func PacketSize(bytes int) Option {
	return once("PacketSize", option.Caller(), func(c *joining.Config) { c.PacketSize = bytes })
}

// Zone names where the node runs, such as a data centre or a rack. Calls go to nodes of their own zone while there are any.
func Zone(name string) Option {
	return once("Zone", option.Caller(), func(c *joining.Config) { c.Zone = name })
}

// Labels describe this node to the others; they show in listings, and calls prefer nodes that share more of them. All
// labels, the zone and the address together may take about 400 bytes.
func Labels(labels map[string]string) Option {
	return once("Labels", option.Caller(), func(c *joining.Config) { c.Labels = maps.Clone(labels) })
}

// Connections sets how many connections are kept to each other node, 1 to 64. Default: 1, which is fastest as a rule: the more
// calls share a connection, the more go in one system call.
func Connections(n int) Option {
	return once("Connections", option.Caller(), func(c *joining.Config) { c.Connections = min(max(n, 1), 64) })
}

// ClientOnly makes a node that calls others and offers no actions: it does not listen, and the others do not look for it. Its
// handlers get the events that they listen to; emitters do not wait for them, as with sabir.BestEffort. It is
// meant for command lines and tools.
func ClientOnly() Option {
	return once("ClientOnly", option.Caller(), func(c *joining.Config) { c.ClientOnly = true })
}

// Limits is an option that bounds what other nodes can make this one hold. 0 stands for the default.
//
//	sabir.Join("tcp://:7700", cluster.Limits{Message: 8 << 20})
type Limits struct {
	Message int // bytes of one input, answer or value of a stream; 64 MiB
	Calls   int // calls in flight from one other node; 16,384
	Streams int // streams opened by one other node; 4,096
	Window  int // bytes of one stream that wait to be received; 256 KiB
	Node    int // calls in flight from all other nodes together; 65,536
}

// ApplyJoin makes Limits an Option.
func (l Limits) ApplyJoin(c *joining.Config) {
	c.Once("cluster.Limits", c.At)
	c.Limits = joining.Limits(l)
}
