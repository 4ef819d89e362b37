package moleculer

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/names"
)

// Option is an option of [Bridge].
type Option func(*config)

type config struct {
	namespace string
	address   string
	nodeID    string
	expose    []string
	versions  []string
	heartbeat time.Duration
	timeout   time.Duration
	wire      *serializer
	layers    []layer
	peers     []string
	discovery netip.AddrPort
	opened    bool // see Open
	slashes   bool // see TopicSeparator
	balanced  bool // see DisableBalancer
	problems  []error
}

// Namespace is the namespace of the Moleculer nodes. Default: none, as theirs.
func Namespace(name string) Option { return func(c *config) { c.namespace = name } }

// At is the address of the broker, such as "nats://10.0.0.9:4222". Default: that of sabir.Join. For projects whose nodes meet over TCP without a broker it
// is where this node listens: "tcp://10.0.0.4:4100", with [Open] unless it is of this machine only.
func At(address string) Option { return func(c *config) { c.address = address } }

// NodeID is the id among the Moleculer nodes. Default: that of the node. No two nodes of a namespace may have one id: a Moleculer node that
// meets its own id ends its process, so a node whose id is taken does not start.
func NodeID(id string) Option { return func(c *config) { c.nodeID = id } }

// Expose names the actions that Moleculer nodes may call, by patterns of names as sabir.On has them: "orders.*", "**". Only public actions
// of this node are exposed. The event handlers of a service get the events of Moleculer nodes where an action of it is exposed, or the
// pattern would take one: "audit.*" exposes the handlers of the service audit. Default: nothing is exposed.
func Expose(patterns ...string) Option {
	return func(c *config) {
		for _, p := range patterns {
			if err := names.CheckPattern(p); err != nil {
				c.problems = append(c.problems, fmt.Errorf("moleculer.Expose: %w", err))
			}
		}
		c.expose = append(c.expose, patterns...)
	}
}

// Protocol restricts the bridge to one version of Moleculer's protocol: 5 of Moleculer 0.15, or 4 of 0.14. Default: both.
func Protocol(version int) Option {
	return func(c *config) {
		if version != 4 && version != 5 {
			c.problems = append(c.problems, fmt.Errorf("moleculer.Protocol(%d): the versions are 4 and 5", version))
		}
		c.versions = []string{fmt.Sprint(version)}
	}
}

// Heartbeat sets how often the node says that it is there, and after how much silence another node counts as gone. Defaults: every 2
// seconds, so that the shortest timeouts in use are kept, and 30 seconds, as Moleculer's. A node that was killed is noticed within
// seconds where the broker reports that nobody listens, as NATS and RabbitMQ do.
func Heartbeat(interval, timeout time.Duration) Option {
	return func(c *config) {
		if interval <= 0 || timeout < interval {
			c.problems = append(c.problems, fmt.Errorf("moleculer.Heartbeat(%v, %v): the interval is more than 0, and not more than the timeout", interval, timeout))
		}
		c.heartbeat, c.timeout = interval, timeout
	}
}

// Serializer is the codec of the packets, which is one for all nodes of a project: msgpack.Codec where Moleculer's nodes have the
// serializer MsgPack or Notepack, cbor.Codec where they have CBOR. With these, bytes and times keep their kinds both ways. Default: JSON.
func Serializer(c codec.Codec) Option {
	return func(to *config) {
		wire, err := newSerializer(c)
		if err != nil {
			to.problems = append(to.problems, err)
			return
		}
		to.wire = wire
	}
}

// TopicSeparator is for projects whose nodes meet at MQTT and have the option topicSeparator: "." or "/". Default: ".", as theirs.
func TopicSeparator(separator string) Option {
	return func(c *config) {
		if separator != "." && separator != "/" {
			c.problems = append(c.problems, fmt.Errorf("moleculer.TopicSeparator(%q): the separators are . and /", separator))
		}
		c.slashes = separator == "/"
	}
}

// DisableBalancer is for projects whose nodes have Moleculer's option disableBalancer, so that the broker shares out their calls and events:
// the node takes its part of those. It needs a broker that can share out messages: NATS. What the node itself calls and emits is shared out
// by its own balancer, which also leaves out nodes that do not answer.
func DisableBalancer() Option { return func(c *config) { c.balanced = true } }

// BridgeOption is an option of sabir.NewNode, and of sabir.Join where the Moleculer nodes are at the same broker.
type BridgeOption struct {
	sabir.NodeOption // of both parts of the bridge
}

// ApplyJoin makes the bridge an option of Join.
func (o BridgeOption) ApplyJoin(c *joining.Config) {
	c.NodeOptions = append(c.NodeOptions, o.NodeOption)
}

// Bridge makes the node a node of a Moleculer project too. A node may have several bridges, to different projects.
func Bridge(options ...Option) BridgeOption {
	b := newBridge(configOf(options))
	return BridgeOption{sabir.Options(sabir.WithExtension(b), sabir.WithGateway(func(*sabir.Node) (gateway.Gateway, error) { return asGateway{b}, nil }))}
}

func configOf(options []Option) config {
	c := config{versions: []string{"5", "4"}, heartbeat: 2 * time.Second, timeout: 30 * time.Second, discovery: netip.MustParseAddrPort("239.0.0.0:4445")}
	c.wire, _ = newSerializer(nil)
	for _, o := range options {
		o(&c)
	}
	c.wire.layers = c.layers
	return c
}

// asGateway is the bridge as a gateway: it lets calls in when the node's services run, and no more before they stop.
type asGateway struct{ *bridge }

func (i asGateway) Start(context.Context) error {
	i.open.Store(true)
	i.announce()
	return nil
}

func (i asGateway) Stop(ctx context.Context) error { return i.withdraw(ctx) }
