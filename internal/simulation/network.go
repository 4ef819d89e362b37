package simulation

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/internal/backoff"
	_ "github.com/sabir-go/sabir/internal/gossip" // by which the nodes find each other
	"github.com/sabir-go/sabir/transport"
)

// scheme is that of the addresses of simulated nodes, sim://name.
const scheme = "sim"

func init() { transport.Register(scheme, driver{}) }

// running is the network of the simulation that runs. There is one at a time in a process.
var running atomic.Pointer[network]

type driver struct{}

func (driver) Listen(_ context.Context, at *url.URL, _ transport.Config) (transport.Listener, error) {
	return running.Load().listen(at.Host)
}

func (driver) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	c, err := running.Load().dial(ctx, config.Name, to.Host)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: scheme, Source: address(config.Name), Addr: address(to.Host), Err: err}
	}
	return c, nil
}

// network is the paths between nodes, and what befalls them. Delays follow from its seed.
type network struct {
	seed    uint64
	written atomic.Int64 // bytes of all connections

	mu        sync.Mutex
	listeners map[string]*listener
	paths     map[[2]string]*path // by the names of the two ends, from and to
	pairs     map[*pair]struct{}
	dialled   map[[2]string]uint64 // connections made so far
	down      map[string]downKind  // nodes that do not run
	healed    chan struct{}        // closed and replaced when something heals
}

// downKind is how a node that does not run looks to the others.
type downKind uint8

const (
	runs     downKind = iota
	killed            // its machine refuses connections
	vanished          // its machine answers nothing
)

// path is the way from one node to another.
type path struct {
	held atomic.Bool // nothing arrives, and waits
	cut  atomic.Bool // there is no way
	slow atomic.Bool

	holds, cuts, slows int // faults under way that want it; guarded by network.mu
}

// Delays on a path.
const (
	leastDelay  = 200 * time.Microsecond
	usualJitter = 2 * time.Millisecond
	rareDelay   = 60 * time.Millisecond // of one write in a hundred
	slowDelay   = 150 * time.Millisecond
	slowRate    = 64 << 10 // bytes per second
)

func (p *path) delay(random *rand.Rand, size int) time.Duration {
	d := leastDelay + time.Duration(random.Int64N(int64(usualJitter)))
	if random.IntN(100) == 0 {
		d += time.Duration(random.Int64N(int64(rareDelay)))
	}
	if p.slow.Load() {
		d += slowDelay + time.Duration(size)*time.Second/slowRate
	}
	return d
}

// pair is a connection, as the network knows it.
type pair struct {
	from, to    string
	there, back *flow
}

func newNetwork(seed uint64) *network {
	return &network{seed: seed, listeners: map[string]*listener{}, paths: map[[2]string]*path{}, pairs: map[*pair]struct{}{},
		dialled: map[[2]string]uint64{}, down: map[string]downKind{}, healed: make(chan struct{})}
}

// pathOf is called with mu held.
func (n *network) pathOf(from, to string) *path {
	key := [2]string{from, to}
	p := n.paths[key]
	if p == nil {
		p = &path{}
		n.paths[key] = p
	}
	return p
}

func (n *network) listen(name string) (transport.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[name] != nil {
		return nil, &net.OpError{Op: "listen", Net: scheme, Addr: address(name), Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	l := &listener{network: n, name: name, incoming: make(chan net.Conn, 128), closed: make(chan struct{})}
	n.listeners[name] = l
	return l, nil
}

// dial takes the time of a packet there and back, and longer where that is held.
func (n *network) dial(ctx context.Context, from, to string) (net.Conn, error) {
	for {
		n.mu.Lock()
		there, back := n.pathOf(from, to), n.pathOf(to, from)
		healed, waits := n.healed, there.held.Load() || back.held.Load() || n.down[to] == vanished || n.down[from] == vanished
		n.mu.Unlock()
		if there.cut.Load() || back.cut.Load() {
			return nil, os.NewSyscallError("connect", syscall.EHOSTUNREACH)
		}
		if !waits {
			break
		}
		select {
		case <-healed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	random := n.random(from, to)
	trip := time.NewTimer(2 * (leastDelay + time.Duration(random.Int64N(int64(usualJitter)))))
	defer trip.Stop()
	select {
	case <-trip.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return n.connect(from, to, random)
}

// pass takes the time that one message takes from one machine to another, and longer while that is held.
func (n *network) pass(ctx context.Context, from, to string) error {
	random := n.random(from, to)
	for {
		n.mu.Lock()
		p, healed := n.pathOf(from, to), n.healed
		down := n.down[to] != runs || n.down[from] != runs
		n.mu.Unlock()
		switch {
		case p.cut.Load() || down:
			return os.NewSyscallError("connect", syscall.EHOSTUNREACH)
		case p.held.Load():
			select {
			case <-healed:
			case <-ctx.Done():
				return ctx.Err()
			}
		default:
			return backoff.Sleep(ctx, p.delay(random, 0))
		}
	}
}

// random is the source of delays for the next connection between two nodes.
func (n *network) random(from, to string) *rand.Rand {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dialled[[2]string{from, to}]++
	hash := fnv.New64a()
	hash.Write([]byte(from + ">" + to))
	return rand.New(rand.NewPCG(n.seed^hash.Sum64(), n.dialled[[2]string{from, to}]))
}

func (n *network) connect(from, to string, random *rand.Rand) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.listeners[to]
	if l == nil || n.down[from] != runs {
		return nil, os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	p := &pair{from: from, to: to,
		there: newFlow(n.pathOf(from, to), rand.New(rand.NewPCG(random.Uint64(), 1))),
		back:  newFlow(n.pathOf(to, from), rand.New(rand.NewPCG(random.Uint64(), 2)))}
	open := 2
	side := func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if open--; open == 0 {
			delete(n.pairs, p)
		}
	}
	dialled := &conn{in: p.back, out: p.there, local: address(from), peer: address(to), closedOnSide: side}
	accepted := &conn{in: p.there, out: p.back, local: address(to), peer: address(from), closedOnSide: side}
	select {
	case l.incoming <- accepted:
		n.pairs[p] = struct{}{}
		return dialled, nil
	default:
		return nil, os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
}

// connections is the number of those that are not closed on both sides.
func (n *network) connections() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.pairs)
}

// apply begins a fault of paths, or ends it.
func (n *network) apply(kind FaultKind, from, to string, by int) {
	n.mu.Lock()
	p := n.pathOf(from, to)
	switch kind {
	case Cut:
		p.cuts += by
		p.cut.Store(p.cuts > 0)
	case Slow:
		p.slows += by
		p.slow.Store(p.slows > 0)
	default:
		p.holds += by
		p.held.Store(p.holds > 0)
	}
	close(n.healed)
	n.healed = make(chan struct{})
	n.mu.Unlock()
	n.each(func(p *pair) bool { return true }, func(p *pair) {
		p.there.change(func() {})
		p.back.change(func() {})
	})
}

// between reports whether a connection is one of two nodes.
func between(a, b string) func(p *pair) bool {
	return func(p *pair) bool { return p.from == a && p.to == b || p.from == b && p.to == a }
}

func of(name string) func(p *pair) bool {
	return func(p *pair) bool { return p.from == name || p.to == name }
}

func (n *network) each(which func(*pair) bool, do func(*pair)) {
	n.mu.Lock()
	var chosen []*pair
	for p := range n.pairs {
		if which(p) {
			chosen = append(chosen, p)
		}
	}
	n.mu.Unlock()
	for _, p := range chosen {
		do(p)
	}
}

// reset breaks connections for both sides.
func (n *network) reset(which func(*pair) bool) {
	n.each(which, func(p *pair) {
		for _, f := range []*flow{p.there, p.back} {
			f.change(func() { f.readerReset, f.writerReset, f.segments, f.size = true, true, nil, 0 })
		}
	})
}

// halfOpen breaks connections for the side of one node only. The other learns of it by nothing that arrives.
func (n *network) halfOpen(side string, which func(*pair) bool) {
	n.each(which, func(p *pair) {
		in, out := p.back, p.there // those of the side that dialled
		if p.to == side {
			in, out = out, in
		}
		in.change(func() { in.readerReset, in.severed = true, true })
		out.change(func() { out.writerReset, out.severed = true, true })
	})
}

// end takes a node down at once, as kill -9 does, or with its machine as loss of power does: then its connections are half open for
// the others. What is left of it in this process reaches nobody any more.
func (n *network) end(name string, kind downKind) {
	n.mu.Lock()
	n.down[name] = kind
	l := n.listeners[name]
	n.mu.Unlock()
	if l != nil {
		l.Close()
	}
	if kind == vanished {
		n.halfOpen(name, of(name))
	} else {
		n.reset(of(name))
	}
}

// begin lets a node of that name run again.
func (n *network) begin(name string) {
	n.reset(of(name)) // what a machine that vanished left open: its successor answers with a reset
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.down, name)
	close(n.healed)
	n.healed = make(chan struct{})
}

type listener struct {
	network  *network
	name     string
	incoming chan net.Conn
	closed   chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.incoming:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: scheme, Addr: address(l.name), Err: net.ErrClosed}
	}
}

func (l *listener) Close() error {
	l.network.mu.Lock()
	if l.network.listeners[l.name] != l {
		l.network.mu.Unlock()
		return errors.New("closed before")
	}
	delete(l.network.listeners, l.name)
	close(l.closed)
	l.network.mu.Unlock()
	for {
		select {
		case c := <-l.incoming:
			c.Close()
		default:
			return nil
		}
	}
}

func (l *listener) Addr() string { return address(l.name).String() }
