package grain_test

import (
	"context"
	"log/slog"
	"net"
	"net/url"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// cable is the TCP transport with links that the test cuts. Addresses are known by the names of nodes.
type cable struct {
	inner transport.Stream

	mu    sync.Mutex
	owner map[string]string // address to node
	cut   map[[2]string]bool
	conns map[[2]string][]net.Conn
}

var theCable = sync.OnceValue(func() *cable {
	inner, ok := transports.Stream("tcp")
	if !ok {
		panic("no tcp")
	}
	c := &cable{inner: inner, owner: map[string]string{}, cut: map[[2]string]bool{}, conns: map[[2]string][]net.Conn{}}
	transport.Register("cable", c)
	return c
})

func between(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

func onTCP(u *url.URL) *url.URL {
	inner := *u
	inner.Scheme = "tcp"
	return &inner
}

func (c *cable) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	l, err := c.inner.Listen(ctx, onTCP(at), config)
	if err != nil {
		return nil, err
	}
	made := cableListener{l}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owner[made.Addr()] = config.Name
	return made, nil
}

type cableListener struct{ transport.Listener }

func (l cableListener) Addr() string { return "cable" + l.Listener.Addr()[len("tcp"):] }

func (c *cable) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	conn, err := c.inner.Dial(ctx, onTCP(to), config)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	on := between(config.Name, c.owner[to.String()])
	if c.cut[on] {
		_ = conn.Close() // nothing was sent
		return nil, os.NewSyscallError("connect", syscall.EHOSTUNREACH)
	}
	c.conns[on] = append(c.conns[on], conn)
	return conn, nil
}

// sever ends the links between two nodes, until mend.
func (c *cable) sever(a, b string) {
	c.mu.Lock()
	c.cut[between(a, b)] = true
	conns := c.conns[between(a, b)]
	delete(c.conns, between(a, b))
	c.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close() // it may be closed already
	}
}

func (c *cable) mend(a, b string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.cut, between(a, b))
}

// member is a node of a test's cluster.
type member struct {
	*actor.System
	t      testing.TB
	id     string
	node   *sabir.Node
	grains *grain.Grains
	once   sync.Once
}

// testCluster is a cluster of the test, whose nodes share a store.
type testCluster struct {
	t     testing.TB
	name  string
	store store.Store
	meet  string
}

func newCluster(t testing.TB, st store.Store) *testCluster {
	theCable()
	return &testCluster{t: t, name: t.Name(), store: st}
}

// join starts a node, which serves the kinds.
func (w *testCluster) join(id string, kinds ...grain.Served) *member {
	w.t.Helper()
	return w.joinWith(id, grain.Config{}, kinds...)
}

func (w *testCluster) joinWith(id string, config grain.Config, kinds ...grain.Served) *member {
	w.t.Helper()
	m := &member{System: actor.NewSystem(actor.Config{}), t: w.t, id: id}
	config.Store = w.store
	m.grains = grain.New(m.System, config, kinds...)
	joins := []cluster.Option{cluster.Config{Name: w.name}}
	if w.meet != "" {
		joins = append(joins, cluster.Config{Seeds: []string{w.meet}})
	}
	m.node = sabir.NewNode(sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)), m.Option(), m.grains.Option(), sabir.Join("cable://127.0.0.1:0", joins...))
	if err := m.node.Start(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(m.stop)
	if w.meet == "" {
		w.meet = m.node.Info().Addr
	}
	return m
}

func (m *member) stop() {
	m.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if err := m.node.Stop(ctx); err != nil {
			m.t.Errorf("%s does not stop: %v", m.id, err)
		}
	})
}

// agree waits until all members know by their views that the nodes share out a kind.
func agree(t testing.TB, kind string, owners int, members ...*member) {
	t.Helper()
	until(t, "all nodes have the same view", func() bool {
		seen := map[string]bool{}
		for i := range 200 {
			of := grain.Address{Kind: kind, Key: string(rune('A' + i))}
			first, err := members[0].grains.Owner(of)
			if err != nil {
				return false
			}
			for _, m := range members[1:] {
				if owner, err := m.grains.Owner(of); err != nil || owner != first {
					return false
				}
			}
			seen[first] = true
		}
		return len(seen) == owners
	})
}
