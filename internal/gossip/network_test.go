package gossip_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/gossip"
	"github.com/sabir-go/sabir/internal/membership"
)

// network joins gossips in memory. Connections between nodes can be cut, with or without an error for the sender.
type network struct {
	lock   sync.Mutex
	nodes  map[string]*node    // by URL
	alias  map[string]string   // other URLs of nodes; set before they start
	names  map[string][]string // URLs whose name stands for several addresses
	cut    func(from, to string) bool
	silent bool    // packets over a cut vanish without an error, and dials hang
	loss   float64 // share of packets that vanish
	conns  []pipe
	stall  *node // takes part in nothing: what is sent to it or by it waits, as in the buffers of its links
	waits  []func()
	resume chan struct{}
	dials  map[string]int // by dialling id and URL
}

type pipe struct {
	a, b     string
	one, two net.Conn
}

// node is a member of the network: a Membership, its Carrier and the changes it received.
type node struct {
	*gossip.Membership
	network *network
	self    membership.Member
	lock    sync.Mutex
	changes []membership.Change
	stopped bool
	gone    bool // guarded by network.lock
}

func newNetwork(t *testing.T) *network {
	t.Cleanup(func() { time.Sleep(10 * time.Second) }) // the last: memberlist's probes end after Stop, and time must pass for that
	return &network{nodes: make(map[string]*node), dials: make(map[string]int), cut: func(string, string) bool { return false }}
}

func url(id string) string { return "mem://" + id }

// start makes a node and starts it. It stops with the test unless it was stopped before.
func (n *network) start(t *testing.T, self membership.Member, config membership.GossipConfig, seeds ...string) *node {
	t.Helper()
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	m := &node{network: n, self: self}
	m.Membership = gossip.New(m, seeds, config)
	n.lock.Lock()
	key := self.Addr
	if key == "" {
		key = "observer " + self.ID
	}
	n.nodes[key] = m
	n.lock.Unlock()
	if err := m.Start(t.Context(), self, m.watch); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.stop() })
	return m
}

// node starts a usual node.
func (n *network) node(t *testing.T, id string, seeds ...string) *node {
	t.Helper()
	return n.start(t, membership.Member{ID: id, Addr: url(id)}, membership.GossipConfig{Cluster: "test"}, seeds...)
}

func (m *node) watch(c membership.Change) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.changes = append(m.changes, c)
}

// log returns the changes that watch received, such as "joined b".
func (m *node) log() []string {
	m.lock.Lock()
	defer m.lock.Unlock()
	var list []string
	for _, c := range m.changes {
		list = append(list, c.Kind.String()+" "+c.Member.String())
	}
	return list
}

// last is the last change that watch received of a node.
func (m *node) last(id string) string {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, c := range slices.Backward(m.changes) {
		if c.Member.ID == id {
			return c.Kind.String()
		}
	}
	return ""
}

func (m *node) ids() []string {
	var ids []string
	for _, other := range m.Members() {
		ids = append(ids, other.ID)
	}
	return ids
}

func (m *node) stop() error {
	if m.stopped {
		return nil
	}
	m.stopped = true
	err := m.Stop(context.Background())
	m.vanish()
	return err
}

// vanish takes the node off the network as a crash would.
func (m *node) vanish() {
	m.network.lock.Lock()
	m.gone = true
	maps.DeleteFunc(m.network.nodes, func(_ string, other *node) bool { return other == m })
	m.network.lock.Unlock()
	m.network.closeConns(func(a, b string) bool { return a == m.self.ID || b == m.self.ID })
}

// split cuts the nodes of one side from the others; heal joins them again.
func (n *network) split(silent bool, side ...*node) {
	var ids []string
	for _, m := range side {
		ids = append(ids, m.self.ID)
	}
	cut := func(a, b string) bool { return slices.Contains(ids, a) != slices.Contains(ids, b) }
	n.lock.Lock()
	n.cut, n.silent = cut, silent
	n.lock.Unlock()
	n.closeConns(cut)
}

func (n *network) heal() {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.cut = func(string, string) bool { return false }
}

func (n *network) closeConns(which func(a, b string) bool) {
	n.lock.Lock()
	defer n.lock.Unlock()
	for _, p := range n.conns {
		if which(p.a, p.b) {
			p.one.Close()
			p.two.Close()
		}
	}
}

var errCut = errors.New("no way there")

// find is nil where there is no way; silent reports whether that shows.
func (m *node) find(to membership.Member) (found *node, silent bool) {
	n := m.network
	n.lock.Lock()
	defer n.lock.Unlock()
	if usual, ok := n.alias[to.Addr]; ok {
		to.Addr = usual
	}
	for key, other := range n.nodes {
		if to.ID != "" && other.self.ID == to.ID || to.ID == "" && key == to.Addr {
			if m.gone || n.cut(m.self.ID, other.self.ID) {
				return nil, n.silent
			}
			return other, false
		}
	}
	return nil, n.silent
}

// Send makes a node a Carrier, with Dial.
func (m *node) Send(_ context.Context, to membership.Member, packet []byte) error {
	other, silent := m.find(to)
	switch {
	case other == nil && silent:
		return nil
	case other == nil:
		return errCut
	case m.network.waiting(m, other, func() { other.Packet(m.self.ID, packet) }):
		return nil
	case m.network.loss > 0 && rand.Float64() < m.network.loss:
		return nil
	}
	other.Packet(m.self.ID, packet)
	return nil
}

// Lookup finds the addresses of a seed, as a Carrier does.
func (m *node) Lookup(_ context.Context, seed string) []string {
	m.network.lock.Lock()
	defer m.network.lock.Unlock()
	addresses, isName := m.network.names[seed]
	if !isName {
		return []string{seed}
	}
	return slices.DeleteFunc(slices.Clone(addresses), func(addr string) bool { return addr == m.self.Addr })
}

// Dial makes a node a Carrier, with Send.
func (m *node) Dial(ctx context.Context, to membership.Member) (net.Conn, error) {
	m.network.lock.Lock()
	m.network.dials[m.self.ID+" "+to.Addr]++
	m.network.lock.Unlock()
	other, silent := m.find(to)
	switch {
	case other == m:
		return nil, fmt.Errorf("dialling %s: %w", to.Addr, membership.ErrSelf)
	case other == nil && silent:
		<-ctx.Done()
		return nil, ctx.Err()
	case other == nil || other.self.Addr == "":
		return nil, errCut
	}
	if m.network.waiting(m, other, func() {}) {
		select {
		case <-m.network.resume:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	one, two := net.Pipe()
	m.network.lock.Lock()
	m.network.conns = append(m.network.conns, pipe{m.self.ID, other.self.ID, one, two})
	m.network.lock.Unlock()
	other.Conn(two)
	return one, nil
}

// waiting reports whether one of two nodes is stalled, and puts by what is to happen between them.
func (n *network) waiting(a, b *node, then func()) bool {
	n.lock.Lock()
	defer n.lock.Unlock()
	if n.stall == nil || n.stall != a && n.stall != b {
		return false
	}
	n.waits = append(n.waits, then)
	return true
}

// stalls keeps a node from the others for a while, as SIGSTOP or a busy machine does.
func (n *network) stalls(m *node, d time.Duration) {
	n.lock.Lock()
	n.stall, n.resume = m, make(chan struct{})
	n.lock.Unlock()
	time.Sleep(d)
	n.lock.Lock()
	waits := n.waits
	n.stall, n.waits = nil, nil
	close(n.resume)
	n.lock.Unlock()
	for _, then := range waits {
		then()
	}
}

// dialled returns how often a node dialled a URL.
func (n *network) dialled(from, url string) int {
	n.lock.Lock()
	defer n.lock.Unlock()
	return n.dials[from+" "+url]
}

// within waits for a condition, in the fake time of a synctest bubble.
func within(t *testing.T, limit time.Duration, what string, condition func() bool) (took time.Duration) {
	t.Helper()
	begin := time.Now()
	for {
		bubbletest.Wait()
		if condition() {
			return time.Since(begin)
		}
		if time.Since(begin) >= limit {
			t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// meet waits until all know all.
func meet(t *testing.T, limit time.Duration, nodes ...*node) time.Duration {
	t.Helper()
	return within(t, limit, "all nodes know each other", func() bool { return acquainted(nodes...) })
}

func acquainted(nodes ...*node) bool {
	for _, m := range nodes {
		if len(m.Members()) != len(nodes)-1 {
			return false
		}
	}
	return true
}

// logged is a log that a test reads while it is written.
type logged struct {
	lock sync.Mutex
	text strings.Builder
}

func (l *logged) Write(line []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.Write(line)
}

func (l *logged) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.String()
}

func pipePair() (one, two net.Conn) { return net.Pipe() }
