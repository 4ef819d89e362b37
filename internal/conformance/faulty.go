package conformance

import (
	"context"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// faultyPrefix makes the scheme of a transport whose connections tests can break: "faulty+tcp".
const faultyPrefix = "faulty+"

// faulty is a transport with faults: it hands on to another, and remembers the connections by the nodes at their ends.
type faulty struct {
	inner transport.Stream

	mu    sync.Mutex
	owner map[string]string // address to the node that listens there
	conns map[path][]net.Conn
	cut   map[path]bool
	dead  map[string]bool
}

// path is two nodes in the order of their names; the second is "" for a connection accepted from an unknown node.
type path struct{ a, b string }

func pathOf(a, b string) path { return path{min(a, b), max(a, b)} }

var faultyLock sync.Mutex

// breaker is a transport between whose nodes tests can break what they like.
type breaker interface {
	kill(node string)
	sever(a, b string)
	mend(a, b string)
}

// faultyFor finds or makes the faulty form of the transport of an address.
func faultyFor(t testing.TB, address string) (breaker, string) {
	scheme, _, _ := strings.Cut(address, "://")
	faultyLock.Lock()
	defer faultyLock.Unlock()
	if bus, ok := transports.Bus(scheme); ok {
		return faultyBusFor(bus, scheme), faultyPrefix + address
	}
	if known, ok := transports.Stream(faultyPrefix + scheme); ok {
		return known.(*faulty), faultyPrefix + address
	}
	inner, ok := transports.Stream(scheme)
	if !ok {
		t.Fatalf("no transport is registered for %s://", scheme)
	}
	f := &faulty{inner: inner, owner: make(map[string]string), conns: make(map[path][]net.Conn), cut: make(map[path]bool), dead: make(map[string]bool)}
	transport.Register(faultyPrefix+scheme, f)
	return f, faultyPrefix + address
}

// Listen listens on the inner transport.
func (f *faulty) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	l, err := f.inner.Listen(ctx, innerURL(at), config)
	if err != nil {
		return nil, err
	}
	made := &faultyListener{Listener: l, faulty: f, node: config.Name}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.owner[made.Addr()] = config.Name
	return made, nil
}

// Dial dials on the inner transport, unless the test has broken the connection.
func (f *faulty) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	f.mu.Lock()
	on := pathOf(config.Name, f.owner[to.String()])
	err := f.broken(on)
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	conn, err := f.inner.Dial(ctx, innerURL(to), config)
	if err != nil {
		return nil, err
	}
	return conn, f.keep(on, conn)
}

// innerURL is the address as the inner transport knows it.
func innerURL(u *url.URL) *url.URL {
	inner := *u
	inner.Scheme = strings.TrimPrefix(u.Scheme, faultyPrefix)
	return &inner
}

// broken returns what is wrong between two nodes. It runs under mu.
func (f *faulty) broken(on path) error {
	switch {
	case f.dead[on.a] || f.dead[on.b]:
		return os.NewSyscallError("connect", syscall.ECONNREFUSED)
	case f.cut[on]:
		return os.NewSyscallError("connect", syscall.EHOSTUNREACH)
	}
	return nil
}

// keep remembers a connection, unless it is broken before it is made.
func (f *faulty) keep(on path, conn net.Conn) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.broken(on); err != nil {
		conn.Close()
		return err
	}
	f.conns[on] = append(f.conns[on], conn)
	return nil
}

// kill ends all connections of a node at once and lets it make no more: what the others see of a killed process.
func (f *faulty) kill(node string) {
	f.mu.Lock()
	f.dead[node] = true
	var conns []net.Conn
	for on, list := range f.conns {
		if on.a == node || on.b == node {
			conns = append(conns, list...)
			delete(f.conns, on)
		}
	}
	f.mu.Unlock()
	abort(conns)
}

// sever ends all connections between two nodes, and lets no new ones be made until mend.
func (f *faulty) sever(a, b string) {
	f.mu.Lock()
	f.cut[pathOf(a, b)] = true
	conns := f.conns[pathOf(a, b)]
	delete(f.conns, pathOf(a, b))
	f.mu.Unlock()
	abort(conns)
}

func (f *faulty) mend(a, b string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.cut, pathOf(a, b))
}

// interrupt ends all connections between two nodes, which may make new ones.
func (f *faulty) interrupt(a, b string) {
	f.mu.Lock()
	conns := f.conns[pathOf(a, b)]
	delete(f.conns, pathOf(a, b))
	f.mu.Unlock()
	abort(conns)
}

// abort closes connections without a goodbye where they can be closed so.
func abort(conns []net.Conn) {
	for _, c := range conns {
		if lingers, ok := c.(interface{ SetLinger(int) error }); ok {
			_ = lingers.SetLinger(0)
		}
		_ = c.Close()
	}
}

type faultyListener struct {
	transport.Listener
	faulty *faulty
	node   string
}

// Addr is the address that the faulty transport dials.
func (l *faultyListener) Addr() string { return faultyPrefix + l.Listener.Addr() }

func (l *faultyListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.faulty.keep(pathOf(l.node, ""), conn) == nil {
			return conn, nil
		}
	}
}

// faultyCluster is a cluster whose links can be broken. Each of its nodes listens at an address of its own and is found by
// the first one's.
type faultyCluster struct {
	*testCluster
	faulty breaker
}

func (s *suite) faultyCluster(t testing.TB) *faultyCluster {
	f, address := faultyFor(t, s.Address(t))
	return &faultyCluster{s.clusterAt(t, address), f}
}

// start starts a node under a name that no other cluster has.
func (c *faultyCluster) start(id string, more ...sabir.NodeOption) *sabir.Node {
	c.t.Helper()
	return c.join(c.name+"-"+id, nil, more...)
}

func (c *faultyCluster) join(id string, joins []cluster.Option, more ...sabir.NodeOption) *sabir.Node {
	c.t.Helper()
	c.mu.Lock()
	first := len(c.nodes) == 0
	c.mu.Unlock()
	if first || c.suite.Broker {
		return c.testCluster.join(id, joins, more...)
	}
	meet := c.meet
	_, c.meet = faultyFor(c.t, c.suite.Address(c.t))
	defer func() { c.meet = meet }()
	return c.testCluster.join(id, append([]cluster.Option{cluster.Config{Seeds: []string{meet}}}, joins...), more...)
}

// interrupt ends the links of two nodes, and lets them be linked again: at once, or where a link ends by its silence, when
// both have noticed.
func (c *faultyCluster) interrupt(a, b *sabir.Node) {
	c.t.Helper()
	if f, ok := c.faulty.(*faulty); ok {
		f.interrupt(a.ID(), b.ID())
		return
	}
	c.faulty.sever(a.ID(), b.ID())
	eventually(c.t, "both have lost each other", func() bool { return !sees(a, b.ID()) && !sees(b, a.ID()) })
	c.faulty.mend(a.ID(), b.ID())
}

// kill breaks all that a node has, for good. Nothing waits for it any more.
func (c *faultyCluster) kill(n *sabir.Node) {
	c.faulty.kill(n.ID())
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, other := range c.nodes {
		if other == n {
			c.nodes = append(c.nodes[:i:i], c.nodes[i+1:]...)
		}
	}
	c.t.Cleanup(func() {
		c.suite.stopping.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
			defer cancel()
			_ = n.Stop(ctx) // it has no peer left to send a goodbye to
		})
	})
}
