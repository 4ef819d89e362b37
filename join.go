package sabir

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"runtime"
	"slices"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/mesh"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/wire"
	"github.com/sabir-go/sabir/secret"
)

// Join makes the node a member of a cluster: it links itself to the other nodes, calls what their services offer, and
// offers them its own. The address sets where it listens and by what transport: "tcp://:7700", "tls://10.0.0.5:7700",
// "unix:///run/shop.sock", "quic://:7700"; or at what broker the nodes meet: "nats://10.0.0.9:4222", "redis://…", "mqtt://…",
// "amqp://…", "nats://embedded". The program imports the package of its transport, such as
// _ "github.com/sabir-go/sabir/transport/tcp" for the first three; docs/transports.md compares them.
//
// On one machine the address alone is enough, the same for every process: the first one listens there, those that come
// later find it, join it, and listen on an address of their own; when the first one goes, another takes the address over.
// On several machines, name nodes to find the others by, with [cluster.Config.Seeds] or in the address:
// "tcp://0.0.0.0:7700?seeds=10.0.0.5:7700,10.0.0.6:7700".
//
// An address without a host means this machine only. To be reached from others, name the host and restrict who may join, with
// [cluster.Config.Key] or a TLS configuration that demands client certificates; without either the node refuses to start.
func Join(address string, options ...cluster.Option) NodeOption {
	at := option.Caller()
	native.Codec() // registers it
	config := mesh.Config{Address: address, Config: joining.Config{Cluster: "default", Connections: 1, At: at}}
	for _, o := range options {
		o.ApplyJoin(&config.Config)
	}
	return nodeOptionOnce("Join", at, func(n *Node) {
		n.problems = append(n.problems, config.Problems...)
		n.outlier = config.Outlier
		for _, o := range config.NodeOptions {
			o.(NodeOption).applyNode(n)
		}
		n.joins = append(n.joins, config)
		n.join = joinMesh
	})
}

// SetJoin gives a node that has joined its cluster another zone, other labels and other seeds: the Zone, Labels and Seeds of config; what is left out
// it has no more, but the seeds in the address of Join stay. The other nodes learn of zone and labels in a moment, and calls to and from the
// node go by them from then on. New seeds are tried at once, and what was found by the old ones stays a member.
//
// Any other field that is set, and a value that no node could have, is an error with the name BadOption; a node that has not joined is one with the name
// NodeState. Nothing changes then.
func (n *Node) SetJoin(config cluster.Config) error {
	place := membership.Place{Zone: config.Zone, Labels: maps.Clone(config.Labels)}
	seeds := slices.Clone(config.Seeds)
	config.Zone, config.Labels, config.Seeds = "", nil, nil
	if !reflect.ValueOf(config).IsZero() {
		return Errorf(CodeInvalidArgument, nameBadOption, "Node.SetJoin takes Zone, Labels and Seeds of cluster.Config: any other field is for Join")
	}
	m := n.cluster()
	if m == nil {
		return Errorf(CodeFailedPrecondition, nameNodeState, "node %s has joined no cluster, so zone, labels and seeds are those that Join is given", n.id)
	}
	if err := m.Set(place, seeds); err != nil {
		return Errorf(CodeInvalidArgument, nameBadOption, "%w", err)
	}
	return nil
}

// enterCluster makes the node a member of its cluster, if it is to be one.
func (n *Node) enterCluster(ctx context.Context) error {
	if err := errors.Join(n.checkBalances(), n.checkToward()); err != nil {
		return err
	}
	if len(n.joins) == 0 {
		return nil
	}
	return n.join(ctx, n, n.joins[0])
}

// joinedCluster is the cluster that a node is a member of, and peer another node of it, as calls know them. Only Join leads to the types behind them, so
// a program without it is built without all that clusters need. Where a name is not that of the method it stands for, a type that each program has
// has a method of that name too.
type joinedCluster interface {
	Secret() secret.Secret
	Place() *membership.Place
	Set(at membership.Place, seeds []string) error
	Member() membership.Member
	Nodes() []mesh.Node
	Forged() uint64
	Links() int
	Load() wire.Load
	Local() *membership.Candidate
	CatalogChanged()
	Few([]*membership.Candidate) []int
	Unconfirmed(context.Context) []string
	drain(context.Context) error
	leave(context.Context) error
	addProviders(to map[string]provider)
	provider(node string) (p provider, known bool)
}

type peer interface {
	Reachable() bool
	Suspected() bool
	HasLeft() bool
	call(context.Context, *remoteCaller, *remoteRequest) error
	open(ctx, own context.Context, a *remoteAction, types streamTypes) (streamEnd, error)
}

type joinedMesh struct{ *mesh.Mesh }

func (m joinedMesh) drain(ctx context.Context) error { return m.Drain(ctx) }
func (m joinedMesh) leave(ctx context.Context) error { return m.Leave(ctx) }

func (m joinedMesh) addProviders(to map[string]provider) {
	for id, p := range m.Peers() {
		to[id] = provider{id: id, peer: meshPeer{p}, candidate: p.Stats()}
	}
}

func (m joinedMesh) provider(node string) (provider, bool) {
	p := m.Peer(node)
	if p == nil {
		return provider{}, false
	}
	return provider{id: p.ID, peer: meshPeer{p}, candidate: p.Stats()}, true
}

type meshPeer struct{ *mesh.Peer }

func (p meshPeer) call(ctx context.Context, c *remoteCaller, f *remoteRequest) error {
	return c.callOverLink(ctx, p.Peer, f)
}

func (p meshPeer) open(ctx, own context.Context, a *remoteAction, types streamTypes) (streamEnd, error) {
	return openOverLink(ctx, own, a, p.Peer, types)
}

// cluster is the cluster that the node is a member of; nil for none.
func (n *Node) cluster() joinedCluster {
	if m := n.mesh.Load(); m != nil {
		return *m
	}
	return nil
}

// joinMesh makes the node a member.
func joinMesh(ctx context.Context, n *Node, config mesh.Config) error {
	config.Node, config.Log, config.Admission, config.Memory = n.id, n.log, n.admission, n.memory
	config.Info = mesh.Info{Instance: uint64(n.epoch.UnixNano()), Codecs: n.acceptedFormats(), Host: hostname(), PID: processID,
		Go: runtime.Version(), CPUs: runtime.GOMAXPROCS(0), Since: n.started, Keeps: n.talksOverLinks()}
	m, err := mesh.New(meshHost{n}, config)
	if err != nil {
		return joinError("Join: ", err)
	}
	var inCluster joinedCluster = joinedMesh{m}
	if err := m.Listen(ctx); err != nil {
		return joinError("", err)
	}
	n.mesh.Store(&inCluster) // before it is linked: the node may be asked things while it starts
	if err := m.Enter(ctx); err != nil {
		n.mesh.Store(nil)
		return joinError("", err)
	}
	if !config.ClientOnly {
		n.log.Info("node joined its cluster", "node", n.id, "cluster", config.Cluster, "address", m.OwnAddress())
		n.holdHeap()
	}
	return nil
}

func joinError(what string, err error) *Error {
	return &Error{Code: CodeUnavailable, Name: nameJoinFailed, cause: err, Message: what + err.Error()}
}
