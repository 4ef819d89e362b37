package moleculer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/secret"
)

// Config has the settings of [Bridge]. A mistake in them is an error of the node's start.
type Config struct {
	// Namespace is the namespace of the Moleculer nodes. Default: none, as theirs.
	Namespace string
	// Address names the broker, such as "nats://10.0.0.9:4222". Default: that of sabir.Join. For projects whose nodes meet over TCP without a broker
	// it is where this node listens: "tcp://10.0.0.4:4100", with Open unless it is of this machine only.
	Address string
	// Open states that whoever reaches the Address tcp:// may call what is exposed, and tell of other nodes: Moleculer's nodes prove nothing. Restrict
	// who reaches it by the network.
	Open bool
	// Peers are nodes that meet over TCP, at their addresses: "tcp://10.0.0.5:4100/node-1", as in Moleculer's option urls. All others are learnt from them.
	// They are for an Address of tcp://.
	Peers []string
	// Discovery is the address at which nodes that meet over TCP look for each other by UDP: a multicast group and a port, Moleculer's options udpMulticast
	// and udpPort; "none" looks for nobody, so that Peers are needed. Where Address is of this machine only, so is the search. Default:
	// "239.0.0.0:4445", as theirs.
	Discovery string
	// NodeID is the id among the Moleculer nodes. Default: that of the node. No two nodes of a namespace may have one id: a Moleculer node that
	// meets its own id ends its process, so a node whose id is taken does not start.
	NodeID string
	// Expose names the actions that Moleculer nodes may call, by patterns of names as sabir.On has them: "orders.*", "**". Only public actions
	// of this node are exposed. The event handlers of a service get the events of Moleculer nodes where an action of it is exposed, or the
	// pattern would take one: "audit.*" exposes the handlers of the service audit. Default: nothing is exposed.
	Expose []string
	// Protocol restricts the bridge to one version of Moleculer's protocol: 5 of Moleculer 0.15, or 4 of 0.14. Default: both.
	Protocol int
	// Heartbeat is how often the node says that it is there. Default: every 2 seconds, so that the shortest timeouts in use are kept.
	Heartbeat time.Duration
	// Timeout is after how much silence another node counts as gone, not less than Heartbeat. A node that was killed is noticed within
	// seconds where the broker reports that nobody listens, as NATS and RabbitMQ do. Default: 30 seconds, as Moleculer's.
	Timeout time.Duration
	// Serializer is the codec of the packets, which is one for all nodes of a project: msgpack.Codec where Moleculer's nodes have the
	// serializer MsgPack or Notepack, cbor.Codec where they have CBOR. With these, bytes and times keep their kinds both ways. Default: JSON.
	Serializer codec.Codec
	// Compression is for projects whose nodes have Moleculer's middleware Compression with the method: "deflate", which is its default, "deflateRaw" or
	// "gzip". Packets from 1 KiB on are compressed. Default: none.
	Compression string
	// Encryption is for projects whose nodes have Moleculer's middleware Encryption. Default: none.
	Encryption *Encryption
	// TopicSeparator is for projects whose nodes meet at MQTT and have the option topicSeparator: "." or "/". Default: ".", as theirs.
	TopicSeparator string
	// DisableBalancer is for projects whose nodes have Moleculer's option disableBalancer, so that the broker shares out their calls and events:
	// the node takes its part of those. It needs a broker that can share out messages: NATS. What the node itself calls and emits is shared out
	// by its own balancer, which also leaves out nodes that do not answer.
	DisableBalancer bool
}

// Encryption has the arguments of Moleculer's middleware Encryption. It hides packets, but does not prove who sent them, and with one iv for all packets
// equal beginnings look equal: keep the broker closed to others anyway.
type Encryption struct {
	// Password is the key itself, as many bytes as the algorithm wants, such as 32 for "aes-256-cbc".
	Password secret.Secret
	// Algorithm is AES of 128, 192 or 256 bits as CBC or CTR. Default: "aes-256-cbc", as Moleculer's.
	Algorithm string
	// IV has 16 bytes.
	IV string
	// First is for projects whose nodes list this middleware before Compression.
	First bool
}

// config is a Config as the bridge works with it.
type config struct {
	Config
	versions  []string
	wire      *serializer
	discovery netip.AddrPort // not valid where nobody is looked for
	problem   error
}

func configOf(from Config) config {
	c := config{Config: from, versions: []string{"5", "4"}, discovery: netip.MustParseAddrPort("239.0.0.0:4445")}
	c.Heartbeat, c.Timeout = cmp.Or(from.Heartbeat, 2*time.Second), cmp.Or(from.Timeout, 30*time.Second)
	var problems []error
	problem := func(format string, arguments ...any) { problems = append(problems, fmt.Errorf(format, arguments...)) }
	for _, p := range from.Expose {
		if err := names.CheckPattern(p); err != nil {
			problem("Expose: %w", err)
		}
	}
	for _, text := range from.Peers {
		if _, _, err := peerAddress(text); err != nil {
			problem("Peers: %w", err)
		}
	}
	switch from.Discovery {
	case "":
	case "none":
		c.discovery = netip.AddrPort{}
	default:
		at, err := netip.ParseAddrPort(from.Discovery)
		if err != nil || !at.Addr().Is4() || !at.Addr().IsMulticast() {
			problem("Discovery %q: want a group of IPv4 and a port, such as 239.0.0.0:4445, or none", from.Discovery)
		}
		c.discovery = at
	}
	switch from.Protocol {
	case 0:
	case 4, 5:
		c.versions = []string{fmt.Sprint(from.Protocol)}
	default:
		problem("Protocol %d: the versions are 4 and 5", from.Protocol)
	}
	if c.Heartbeat <= 0 || c.Timeout < c.Heartbeat {
		problem("Heartbeat %v, Timeout %v: the heartbeat is more than 0, and not more than the timeout", c.Heartbeat, c.Timeout)
	}
	if !slices.Contains([]string{"", ".", "/"}, from.TopicSeparator) {
		problem("TopicSeparator %q: the separators are . and /", from.TopicSeparator)
	}
	wire, err := newSerializer(from.Serializer)
	if err != nil {
		problem("Serializer: %w", err)
		wire, _ = newSerializer(nil)
	}
	c.wire = wire
	if wire.layers, err = from.layers(); err != nil {
		problem("%w", err)
	}
	if len(problems) > 0 {
		c.problem = fmt.Errorf("moleculer.Config: %w", errors.Join(problems...))
	}
	return c
}

// layers are those of Moleculer's middlewares, in their order.
func (c *Config) layers() (list []layer, err error) {
	switch c.Compression {
	case "":
	case "deflate", "deflateRaw", "gzip":
		list = append(list, compression(c.Compression))
	default:
		err = fmt.Errorf("Compression %q: the methods are deflate, deflateRaw and gzip", c.Compression)
	}
	e := c.Encryption
	if e == nil {
		return list, err
	}
	one, failed := newEncryption(e.Password.Bytes(), cmp.Or(e.Algorithm, "aes-256-cbc"), []byte(e.IV))
	if failed != nil {
		return list, errors.Join(err, fmt.Errorf("Encryption: %w", failed))
	}
	if e.First {
		return append([]layer{one}, list...), err
	}
	return append(list, one), err
}

// option is the bridge as an option of a node, and of sabir.Join where the Moleculer nodes are at the same broker.
type option struct {
	sabir.NodeOption // of both parts of the bridge
}

// ApplyJoin makes the bridge an option of Join.
func (o option) ApplyJoin(c *joining.Config) {
	c.NodeOptions = append(c.NodeOptions, o.NodeOption)
}

// Bridge makes the node a node of a Moleculer project too. It is an option of sabir.NewNode, and of sabir.Join where the Moleculer nodes are at the
// same broker. A node may have several bridges, to different projects.
func Bridge(c Config) interface {
	sabir.NodeOption
	cluster.Option
} {
	b := newBridge(configOf(c))
	return option{sabir.Options(sabir.WithExtension(b), sabir.WithGateway(func(*sabir.Node) (gateway.Gateway, error) { return asGateway{b}, nil }))}
}

// asGateway is the bridge as a gateway: it lets calls in when the node's services run, and no more before they stop.
type asGateway struct{ *bridge }

func (i asGateway) Start(context.Context) error {
	i.open.Store(true)
	i.announce()
	return nil
}

func (i asGateway) Stop(ctx context.Context) error { return i.withdraw(ctx) }
