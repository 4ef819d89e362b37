package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/introspect"
	"github.com/sabir-go/sabir/lease"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/secret"
)

// world is the cluster of one simulation.
type world struct {
	history History
	network *network
	record  *record
	log     *slog.Logger
	members []*member
	running sync.WaitGroup // steps that are not over
	broker  *simBroker     // nil where the nodes have connections of their own
	store   store.Store    // of the grains
	mu      sync.Mutex     // guards what follows
	checks  []func()       // of what steps did, when all is quiet
	watched []*watched
	pairs   []*pairOfLodgers
}

// member is a node of the cluster and its successors of the same name.
type member struct {
	world *world
	name  string

	changing chan struct{}  // one start, stop or change of services at a time; a bubble's time stands while a mutex is waited for
	mu       sync.Mutex     // guards what follows
	running  *incarnation   // nil where the node does not run
	extra    *sabir.Service // that comes and goes
}

// incarnation is one run of a node.
type incarnation struct {
	name   string
	node   *sabir.Node
	system *actor.System
	store  *nodeStore
	worker actor.PID
}

type (
	request struct {
		ID   int
		Work time.Duration
		Pad  []byte
	}
	answer struct {
		ID   int
		Node string
		Pad  int
	}
)

// groups of the handlers of events: all nodes are of the first, every second one of the other.
const (
	everywhere = "everywhere"
	somewhere  = "somewhere"
)

func newWorld(h History, log *slog.Logger) *world {
	w := &world{history: h, network: newNetwork(h.Seed), record: newRecord(), log: log, store: store.Memory()}
	for i := range h.Nodes {
		w.members = append(w.members, &member{world: w, name: nodeName(i), changing: make(chan struct{}, 1)})
	}
	return w
}

func (w *world) member(name string) *member {
	for _, m := range w.members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// join is how a node joins the cluster.
func (w *world) join(name string) sabir.NodeOption {
	at, options := brokerScheme+"://"+brokerName, []cluster.Option{}
	if !w.history.Broker {
		var seeds []string
		for _, m := range w.members {
			seeds = append(seeds, address(m.name).String())
		}
		at, options = address(name).String(), append(options, cluster.Config{Seeds: seeds})
	}
	if w.history.Key {
		options = append(options, cluster.Config{Key: secret.New("the key of simulated clusters")})
	}
	if w.history.Sparse {
		options = append(options, cluster.Links{FullMesh: 1}, shortIdleTime{})
	}
	return sabir.Join(at, options...)
}

// shortIdleTime lets links rest within a history.
type shortIdleTime struct{}

func (shortIdleTime) ApplyJoin(c *joining.Config) { c.IdleTime = 3 * time.Second }

// start makes a new node, as a supervisor of its process does: again where the broker cannot be reached. The caller holds changing.
func (m *member) start(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		i, err := m.begin(ctx)
		if err == nil {
			m.mu.Lock()
			m.running, m.extra = i, nil
			m.mu.Unlock()
			return
		}
		if !m.world.history.Broker || sabir.AsError(err).Name != "JoinFailed" || backoff.Sleep(ctx, time.Second) != nil {
			m.world.record.fail("node %s does not start: %v", m.name, err)
			return
		}
	}
}

func (m *member) begin(ctx context.Context) (*incarnation, error) {
	w := m.world
	services := []sabir.Servable{m.base(), m.own(), m.single(), m.listener(everywhere)}
	if slices.Index(w.members, m)%2 == 0 {
		services = append(services, m.listener(somewhere))
	}
	if w.history.Sparse {
		return m.beginSparse(ctx, services)
	}
	i := &incarnation{name: m.name, system: actor.NewSystem(actor.Config{Logger: w.log}), store: &nodeStore{Store: w.store, network: w.network, node: m.name}}
	i.node = sabir.NewNode(sabir.NodeID(m.name), sabir.Logger(w.log), sabir.Use(policy.Retry{}), sabir.PreferLocal(false), sabir.Serve(services...),
		i.system.Option(), grain.New(i.system, grain.Config{Store: i.store}, ledgers).Option(), lease.New(i.store, lease.Config{}).Option(), w.join(m.name))
	if err := i.node.Start(ctx); err != nil {
		return nil, err
	}
	return i, i.spawnAll(w.record)
}

// beginSparse starts a node without processes.
func (m *member) beginSparse(ctx context.Context, services []sabir.Servable) (*incarnation, error) {
	w := m.world
	i := &incarnation{name: m.name, store: &nodeStore{Store: w.store, network: w.network, node: m.name}}
	i.node = sabir.NewNode(sabir.NodeID(m.name), sabir.Logger(w.log), sabir.Use(policy.Retry{}), sabir.PreferLocal(false), sabir.Serve(services...),
		lease.New(i.store, lease.Config{}).Option(), w.join(m.name))
	return i, i.node.Start(ctx)
}

// current is the run of the node that goes on, nil for none.
func (m *member) current() *incarnation {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.running
}

// take takes the node, so that no step uses it from now on.
func (m *member) take() *incarnation {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.running
	m.running, m.extra = nil, nil
	return i
}

// base is the service that all nodes have.
func (m *member) base() *sabir.Service {
	s := sabir.NewService("base")
	sabir.Handle(s, "once", m.serve)
	sabir.Handle(s, "again", m.serve, sabir.Idempotent())
	sabir.HandleStream(s, "count", m.count)
	return s
}

// own is the service that only this node has.
func (m *member) own() *sabir.Service {
	s := sabir.NewService("own-" + m.name)
	sabir.Handle(s, "once", m.serve)
	return s
}

func (m *member) listener(group string) *sabir.Service {
	s := sabir.NewService(group)
	sabir.On(s, "thing.happened", func(ctx context.Context, in request) error {
		m.world.record.receive(in.ID, group)
		work(ctx, in.Work)
		return nil
	})
	return s
}

func (m *member) serve(ctx context.Context, in request) (answer, error) {
	m.world.record.handle(in.ID)
	work(ctx, in.Work)
	return answer{in.ID, m.name, len(in.Pad)}, nil
}

// count answers each number with itself.
func (m *member) count(ctx context.Context, s *sabir.Stream[request, answer]) error {
	in, err := s.Recv()
	if err != nil {
		return err
	}
	m.world.record.handle(in.ID)
	for i := range len(in.Pad) {
		if i%16 == 0 {
			work(ctx, in.Work/16)
		}
		if err := s.Send(answer{in.ID, m.name, i}); err != nil {
			return err
		}
	}
	return nil
}

func work(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// offered lists the services of the running nodes, as "service@node", sorted.
func (w *world) offered() (list []string) {
	for i, m := range w.members {
		m.mu.Lock()
		if m.running != nil {
			list = append(list, "base@"+m.name, everywhere+"@"+m.name, "own-"+m.name+"@"+m.name)
			if i%2 == 0 {
				list = append(list, somewhere+"@"+m.name)
			}
			if m.extra != nil {
				list = append(list, "extra@"+m.name)
			}
		}
		m.mu.Unlock()
	}
	slices.Sort(list)
	return list
}

// callable lists the services of one node only that another node would call, in the same form. It comes from the routing
// tables, not from the catalogs.
func callable(n *sabir.Node) (list []string) {
	actions, err := sabir.Call[[]introspect.Action](context.Background(), n, "$node.actions", sabir.Empty{})
	if err != nil {
		return []string{err.Error()}
	}
	for _, a := range actions {
		nodes := a.Nodes
		if len(nodes) == 0 {
			nodes = []string{a.Node}
		}
		for _, node := range nodes {
			list = append(list, a.Service+"@"+node)
		}
	}
	list = only(list, "own-")
	slices.Sort(list)
	return list
}

func only(list []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !strings.HasPrefix(s, prefix) })
}

// known lists the services that a node believes to be in the cluster, in the same form, but the one that moves by itself.
func known(n *sabir.Node) (list []string) {
	for _, s := range n.Services() {
		if !strings.HasPrefix(s.Name, "$") && s.Name != singleName {
			list = append(list, s.Name+"@"+s.Node)
		}
	}
	slices.Sort(list)
	return list
}

// difference describes how a node's view of the cluster is not that of the world; "" where it is.
func (w *world) difference() string {
	want := w.offered()
	var all []string
	for _, m := range w.members {
		if i := m.current(); i != nil {
			n := i.node
			if !w.history.Sparse && w.groupDifference(i) {
				all = append(all, fmt.Sprintf("the group of %s is %v", m.name, i.system.Members(workers)))
			}
			if got := known(n); !slices.Equal(got, want) {
				all = append(all, fmt.Sprintf("%s lacks %v and has %v too many", m.name, without(want, got), without(got, want)))
			}
			if got, own := callable(n), only(want, "own-"); !slices.Equal(got, own) {
				all = append(all, fmt.Sprintf("calls of %s do not reach %v, and reach %v", m.name, without(own, got), without(got, own)))
			}
		}
	}
	return strings.Join(all, "; ")
}

func without(list, other []string) (left []string) {
	for _, s := range list {
		if !slices.Contains(other, s) {
			left = append(left, s)
		}
	}
	return left
}
