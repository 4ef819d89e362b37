// Package cluster has the options of sabir.Join, by which a node becomes a member of a cluster, and the balancers that share
// calls among nodes.
//
//	node := sabir.NewNode(
//		sabir.Join("tcp://0.0.0.0:7700", cluster.Config{
//			KeyFromEnv: "CLUSTER_KEY",
//			Seeds:      []string{"tcp://10.0.0.5:7700", "tcp://10.0.0.6:7700"},
//			Zone:       "east",
//		}),
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

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/seal"
	"github.com/sabir-go/sabir/secret"
)

// Option is an option of sabir.Join: [Config], [Links], [Limits], [Outlier], one of transport/compress, or sabir.Codecs. Of several Config in one
// Join each sets fields of its own, but for Seeds, Members and OfferedBy, which add up; a node that is given a field, or another option,
// twice does not start.
type Option interface{ ApplyJoin(*joining.Config) }

// Config is an option of sabir.Join that says who the cluster is, how nodes find it, and what this node is in it. The zero value of a field
// is the default.
type Config struct {
	// Name names the cluster. Default: "default". Nodes of clusters with other names refuse each other, so several clusters can
	// share a network. Over a broker they do not see each other.
	Name string

	// Key is the secret that every node of the cluster must know, of at least 16 random bytes (openssl rand -hex 32). Nodes prove to
	// each other that they have it, never send it, and encrypt with keys that come of it: links over every transport, and what nodes say to all
	// over a broker. ?plain=1 behind the address of Join leaves links as they are. Default: none.
	//
	// To replace it without a stop, start the nodes one after the other with the new one as Key and the old one among OldKeys, and when all
	// have both, one after the other without the old one.
	Key secret.Secret
	// OldKeys are keys that the node accepts besides Key, which it prefers: at most two. Without a Key they are an error.
	OldKeys []secret.Secret
	// KeyFile names a file with the keys, such as a secret of Kubernetes or a credential of systemd: on lines of their own or separated by
	// commas, the new one first; spaces around them do not count. The file is read by Join. One that cannot be read, or holds no key, keeps the
	// node from starting. So does a Key besides.
	KeyFile string
	// KeyFromEnv is KeyFile for the text of an environment variable, which programs that this one starts inherit. One that is not
	// set, or holds no key, keeps the node from starting.
	KeyFromEnv string

	// NodeKey is a private key by which this node proves its id to those that ask for that by their NodeKeys: a random text of at least 32
	// bytes (openssl rand -hex 32). A node has one of its own, or shares one with the nodes of its group, as NodeKeys says. `sabir pubkey`
	// prints its public key. It never leaves the node, and needs a cluster Key, in whose handshake it signs. Default: none.
	NodeKey secret.Secret
	// NodeKeyFile names a file with the NodeKey, whose text is taken without the spaces around it. The file is read by Join. One that cannot be
	// read, or holds no key, keeps the node from starting. So does a NodeKey besides.
	NodeKeyFile string
	// NodeKeys asks each other node to prove its id by a NodeKey, and refuses links with those that cannot. The public keys stand beside
	// the ids for which they are, which are patterns: "*" stands for any text without a slash.
	//
	//	cluster.Config{NodeKeys: map[string]string{
	//		"orders-*":  "3cd2a7c7b8ecaf67310d548d80ae1b87a9b379b35c9c6063d0508695733be5cd",
	//		"billing-*": "45d051a8404405c3b54edc67f10828998fb3b00c174f97facbbeecbf38096143",
	//	}}
	//
	// A node that has the key of "orders-*" alone cannot say that it is "billing-1", whatever cluster key it has; which of the nodes called
	// "orders-*" it is, nothing proves. So rules by sabir.Allow and Vouchers hold by ids, over every transport and brokers, without
	// certificates. Several keys for one pattern are separated by commas, as while one is replaced. A map without keys is an error.
	//
	// To introduce node keys without a stop, give all nodes their NodeKey first, and NodeKeys when all have one. Default: ids are not proven.
	NodeKeys map[string]string
	// TLS is the TLS configuration of tls:// links, for both ends: the certificate of this node, the authorities that others'
	// certificates must come from (RootCAs and ClientCAs), and whether they must show one. Other transports that encrypt take it too; certificates
	// prove the names of nodes to each other over tls:// and quic:// only, see NodeKeys for the rest. Default: none.
	TLS *tls.Config
	// Vouchers names the nodes whose word this one takes for whom a call is made (the principal of package web/auth): by patterns of their
	// proven names, as sabir.Allow does. They are the gateways, and the nodes that pass calls of theirs on. A principal that
	// comes from any other node is dropped, so that its call is one of nobody. An empty list that is not nil names none.
	//
	// By default no node vouches where links have certificates or there are NodeKeys. Where all nodes share a key, each could pretend to be any other, and all vouch.
	Vouchers []string
	// OfferedBy names the nodes from which this one takes a service, by patterns of their proven names, as sabir.Allow does. What another node
	// offers under the name, in any version, is left out, with a warning in the log: this node neither calls it there nor sends it events. Nor
	// does another node get events as a member of a group of the name. "*" in the service's name stands for any text.
	//
	//	cluster.Config{OfferedBy: map[string][]string{"billing": {"billing-*"}}}
	//
	// It takes TLS with certificates, or NodeKeys. Default: each node may offer anything.
	OfferedBy map[string][]string

	// Seeds are addresses of nodes to find the cluster by. One that can be reached is enough; those that cannot are tried again
	// for as long as the node runs.
	Seeds []string
	// Members makes the cluster the nodes at these addresses and no others, without gossip: each node is given the addresses of
	// all, its own may be among them. Addresses that do not answer are tried again for as long as the node runs.
	Members []string
	// Directory has nodes find each other in a directory, in place of gossip, Seeds and Members: each enters its address, dials those that it
	// finds, and is taken out when it stops or its lease ends. What is linked stays linked while the directory cannot be reached, or has lost what
	// it knew.
	//
	//	sabir.Join("tcp://10.0.0.5:7700", cluster.Config{
	//		KeyFromEnv: "KEY",
	//		Directory:  &cluster.Etcd{URLs: []string{"http://10.0.0.9:2379"}},
	//	})
	//
	// Whoever can write to the directory can have nodes dial an address, and no more than that where there is a Key or TLS: who listens there must have it too.
	Directory Directory
	// Advertise is the host, or host:port, that the other nodes dial, where it is not the one that is listened on: in a
	// container or behind an address translation.
	Advertise string

	// Zone names where the node runs, such as a data centre or a rack. Calls go to nodes of their own zone while there are any.
	Zone string
	// Labels describe this node to the others; they show in listings, and calls prefer nodes that share more of them. At most
	// 256, and all of them together 15 KB.
	Labels map[string]string
	// ClientOnly makes a node that calls others and offers no actions: it does not listen, and the others do not look for it. Its
	// handlers get the events that they listen to; emitters do not wait for them, as with BestEffort of sabir.Delivery. It is
	// meant for command lines and tools.
	ClientOnly bool
}

// ApplyJoin makes Config an Option.
func (c Config) ApplyJoin(j *joining.Config) {
	once := func(field string, given bool) bool {
		if given {
			j.Once("cluster.Config."+field, j.At)
		}
		return given
	}
	if once("Name", c.Name != "") {
		j.Cluster = c.Name
	}
	c.applyKeys(j)
	c.applyTrust(j)
	if once("TLS", c.TLS != nil) {
		j.TLS = c.TLS
	}
	j.Seeds, j.Members = append(j.Seeds, c.Seeds...), append(j.Members, c.Members...)
	if once("Directory", c.Directory != nil) {
		j.Directory = c.Directory
	}
	if once("Advertise", c.Advertise != "") {
		j.Advertise = c.Advertise
	}
	if once("Zone", c.Zone != "") {
		j.Zone = c.Zone
	}
	if once("Labels", c.Labels != nil) {
		j.Labels = maps.Clone(c.Labels)
	}
	if once("ClientOnly", c.ClientOnly) {
		j.ClientOnly = true
	}
}

// problem notes a mistake in a field, with the line of Join where it is one of Join's.
func problem(j *joining.Config, format string, args ...any) {
	err := fmt.Errorf("cluster.Config."+format, args...)
	if j.At != 0 {
		err = fmt.Errorf("%s: %w", j.At, err)
	}
	j.Problems = append(j.Problems, err)
}

// applyKeys sets the cluster's keys and the node's own.
func (c *Config) applyKeys(j *joining.Config) {
	if !c.Key.None() {
		j.Once("cluster.Config.Key", j.At)
		keys := []string{string(c.Key.Bytes())}
		for _, old := range c.OldKeys {
			keys = append(keys, string(old.Bytes()))
		}
		j.Keys = seal.NewKeys(keys...)
	} else if len(c.OldKeys) > 0 {
		problem(j, "OldKeys needs a Key beside it")
	}
	if c.KeyFile != "" {
		text, err := os.ReadFile(c.KeyFile)
		keysFrom(j, "KeyFile", "the file "+c.KeyFile, string(text), err)
	}
	if c.KeyFromEnv != "" {
		keysFrom(j, "KeyFromEnv", "the environment variable "+c.KeyFromEnv, os.Getenv(c.KeyFromEnv), nil)
	}
	if !c.NodeKey.None() {
		nodeKeyFrom(j, "NodeKey", string(c.NodeKey.Bytes()), nil)
	}
	if c.NodeKeyFile != "" {
		text, err := os.ReadFile(c.NodeKeyFile)
		nodeKeyFrom(j, "NodeKeyFile", strings.TrimSpace(string(text)), err)
	}
}

func keysFrom(j *joining.Config, field, source, text string, err error) {
	keys := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' })
	for i := range keys {
		keys[i] = strings.TrimSpace(keys[i])
	}
	found := seal.NewKeys(keys...)
	j.Once("cluster.Config.Key", j.At)
	switch {
	case err != nil:
		problem(j, "%s: %w", field, err)
	case found.None():
		problem(j, "%s: %s holds no key", field, source)
	}
	j.Keys = found
}

func nodeKeyFrom(j *joining.Config, field, text string, err error) {
	var key identity.Key
	if err == nil {
		key, err = identity.NewKey(text)
	}
	j.Once("cluster.Config.NodeKey", j.At)
	if err != nil {
		problem(j, "%s: %w", field, err)
	}
	j.NodeKey = key
}

// applyTrust sets whose names and words are taken.
func (c *Config) applyTrust(j *joining.Config) {
	pattern := func(field, p string) {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			problem(j, "%s: the pattern %q takes no name", field, p)
		}
	}
	if c.NodeKeys != nil {
		j.Once("cluster.Config.NodeKeys", j.At)
		known, err := identity.NewKnown(c.NodeKeys)
		if err != nil {
			problem(j, "NodeKeys: %w", err)
		}
		j.NodeKeys = known
	}
	if c.Vouchers != nil {
		j.Once("cluster.Config.Vouchers", j.At)
		j.Vouchers = append([]string{}, c.Vouchers...)
		for _, p := range c.Vouchers {
			pattern("Vouchers", p)
		}
	}
	for service, nodes := range c.OfferedBy {
		for _, p := range append([]string{service}, nodes...) {
			pattern("OfferedBy", p)
		}
		if len(nodes) == 0 {
			problem(j, "OfferedBy names no nodes for %q", service)
		}
		if j.OfferedBy == nil {
			j.OfferedBy = map[string][]string{}
		}
		j.OfferedBy[service] = append(j.OfferedBy[service], nodes...)
	}
}

// Directory keeps the addresses of nodes, so that they find each other: in etcd ([Etcd]), in Consul
// ([Consul]), or elsewhere, by an implementation of your own.
type Directory = joining.Directory

// DirectoryEntry names a node and its address, which a [Directory] tells the others.
type DirectoryEntry = joining.Entry

// Links is an option that says how the links to other nodes are made and read. The zero value of a field is the default.
//
//	sabir.Join("tcp://:7700", cluster.Links{FullMesh: 300})
type Links struct {
	// Connections is how many connections are kept to each other node, 1 to 64. Default: 1, which is fastest as a rule: the more
	// calls share a connection, the more go in one system call.
	Connections int
	// FullMesh is up to how many nodes of the cluster each keeps a link to each other node. Default: 128. In a larger cluster a node has links
	// to eight others or so, which tell it what all nodes offer, and to those that it has called within half a minute: the first call to a node
	// makes a link. All nodes should be given the same number. Nodes keep all links whatever it says where they find each other by Members or
	// a Directory or prove their names, see TLS and NodeKeys of [Config], and nodes that have systems of processes keep those between them.
	FullMesh int
	// PacketSize bounds the bytes of a packet of quic, kcp and utp. Default and minimum: 1,200; TCP to other machines is held to
	// packets of the same size on Linux. Give more where every path between the nodes carries it, and much is to be sent: packets
	// that are too large for a path are lost, and links with them. See docs/transports-udp.md.
	PacketSize int
	// CallersRead has a caller that is alone on a link read its answer from the connection by itself, and a node poll its connections over TCP and Unix sockets for
	// up to 50 microseconds before it sleeps, as long as something mostly comes within that. A call then waits for fewer goroutines and processors to be woken, which is
	// most of what it takes where processors are idle and one caller makes calls one after the other. Give it to both nodes: the one that is called polls for the next
	// call. In return, the link wakes once a millisecond while such calls come, the end of such a call by its context or its time limit may come 2 ms late, and so may
	// what the other node sends by itself just after an answer.
	CallersRead bool
}

// ApplyJoin makes Links an Option.
func (l Links) ApplyJoin(c *joining.Config) {
	c.Once("cluster.Links", c.At)
	if l.Connections < 0 || l.Connections > 64 {
		c.Problems = append(c.Problems, fmt.Errorf("%s: Connections of cluster.Links is %d: want 1 to 64", c.At, l.Connections))
	}
	if l.FullMesh < 0 {
		c.Problems = append(c.Problems, fmt.Errorf("%s: FullMesh of cluster.Links is %d: want a positive number, or none for the default", c.At, l.FullMesh))
	}
	c.Connections, c.FullMesh, c.PacketSize, c.CallersRead = max(l.Connections, 1), l.FullMesh, l.PacketSize, l.CallersRead
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
