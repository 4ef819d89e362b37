package moleculer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/accept"
	"github.com/sabir-go/sabir/transport"
)

// tcp is Moleculer's transporter TCP, which has no broker: each node listens, and dials every other to write to it. Nodes learn of each other by
// gossip: see gossip.go. To the bridge it is a broker: topics for one node go to that node, and topics for all are what gossip tells.
type tcp struct {
	bridge   *bridge
	listener net.Listener
	hosts    []string // by which others reach this node, the best first
	port     int
	from     net.Addr   // of what is dialled: the other node dials back to where that came from
	announce *announcer // nil without discovery by UDP
	dialing  chan struct{}
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu        sync.Mutex
	nodes     map[string]*tcpNode
	takes     map[string]func([]byte) // by topic
	readers   map[net.Conn]struct{}
	cpu       int
	cpuSeq    int
	announced int // seq of the INFO that others were given last
	closed    bool
}

const (
	// tcpLimit is the most that Moleculer's reader has in its buffer, unless its option maxPacketSize says otherwise: a packet with its header.
	tcpLimit = 1 << 20
	// maxReaders bounds the connections of other nodes, of which a node has one.
	maxReaders = 1024
	// helloLimit is the time in which whoever connects must have sent a packet.
	helloLimit  = 10 * time.Second
	acceptPause = 50 * time.Millisecond
	// dialsAtOnce bounds the nodes that are dialled at once.
	dialsAtOnce = 16
)

// peerAddress reads an address of Peers.
func peerAddress(text string) (id, address string, err error) {
	at, err := url.Parse(text)
	if err == nil {
		id = strings.TrimPrefix(at.Path, "/")
	}
	if err != nil || at.Scheme != "tcp" || at.Hostname() == "" || at.Port() == "" || badTopic(id) {
		return "", "", fmt.Errorf("%q is not the address of a node: want tcp://host:port/id", text)
	}
	return id, at.Host, nil
}

// openTCP listens. What comes is taken from begin on.
func openTCP(ctx context.Context, b *bridge, address string) (*tcp, error) {
	at, err := url.Parse(address)
	if err != nil || at.Path != "" {
		return nil, fmt.Errorf("moleculer.Config: Address %q: want tcp://host:port, where this node listens", address)
	}
	// Keyed leaves the check to this function, whose error names what can be done.
	bound, err := transport.Config{Keyed: true}.ListenAddr(ctx, at)
	if err != nil {
		return nil, err
	}
	if !bound.Addr().IsLoopback() && !b.Open {
		return nil, fmt.Errorf("refusing to listen on %s (%s), where other machines could call without proof: set Open where the network restricts "+
			"who reaches it, or leave out the host (\"tcp://:%d\") to be reached from this machine only", at, bound, bound.Port())
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", bound.String())
	if err != nil {
		return nil, err
	}
	m := &tcp{bridge: b, listener: listener, dialing: make(chan struct{}, dialsAtOnce), nodes: make(map[string]*tcpNode),
		takes: make(map[string]func([]byte)), readers: make(map[net.Conn]struct{})}
	m.ctx, m.cancel = context.WithCancel(b.ctx)
	m.port = listener.Addr().(*net.TCPAddr).Port
	if bound.Addr().IsUnspecified() {
		m.hosts = reachableHosts()
	} else {
		m.hosts, m.from = []string{bound.Addr().String()}, &net.TCPAddr{IP: bound.Addr().AsSlice()}
	}
	if b.discovery.IsValid() {
		if m.announce, err = newAnnouncer(m, b.discovery, bound.Addr().IsLoopback()); err != nil {
			m.cancel()
			return nil, errors.Join(fmt.Errorf("nodes cannot be looked for at %s (Discovery of moleculer.Config): %w", b.discovery, err), listener.Close())
		}
	}
	return m, nil
}

// begin takes the connections of other nodes, and looks for others, when the bridge has subscribed to all: a node that listened at this address
// before may have left others that dial it at once.
func (m *tcp) begin() {
	if m.announce != nil {
		m.running.Go(m.announce.receive)
		m.running.Go(m.announce.send)
	}
	m.running.Go(m.accept)
	m.running.Go(m.gossip)
}

// Addr implements transport.Broker.
func (m *tcp) Addr() string { return "tcp://" + m.listener.Addr().String() }

// MaxMessage implements transport.Broker. It leaves place for the question that is sent behind a large packet: see link.write.
func (m *tcp) MaxMessage() int { return tcpLimit - frameHeader - 512 }

// Subscribe implements transport.Broker.
func (m *tcp) Subscribe(_ context.Context, subject string, deliver func([]byte)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.takes[subject] = deliver
	return nil
}

// Publish implements transport.Broker.
func (m *tcp) Publish(subject string, data []byte) error {
	kind, id, one := strings.Cut(strings.TrimPrefix(subject, m.bridge.prefix), ".")
	switch {
	case kind == "INFO" && !one:
		m.tell()
		return nil
	case kind == "DISCOVER" && one:
		m.discover(id)
		return nil
	case frameKinds[kind] == 0 || !one:
		return nil // gossip and the connections themselves say the rest
	}
	l, err := m.linkTo(id)
	if err != nil {
		return err
	}
	return l.send(appendFrame(nil, frameKinds[kind], data), len(data) > controlSize)
}

// Probe implements transport.Broker.
func (m *tcp) Probe(subject string, data []byte) error { return m.Publish(subject, data) }

// Close implements transport.Broker.
func (m *tcp) Close() error {
	m.mu.Lock()
	m.closed = true
	var links []*link
	for _, n := range m.nodes {
		if n.link != nil {
			links = append(links, n.link)
		}
	}
	m.mu.Unlock()
	for _, l := range links {
		l.leave()
	}
	m.cancel()
	err := m.listener.Close()
	if m.announce != nil {
		m.announce.close()
	}
	m.mu.Lock()
	for c := range m.readers {
		c.Close()
	}
	m.mu.Unlock()
	m.running.Wait()
	return err
}

func (m *tcp) accept() {
	failures := accept.NewFailures(m.bridge.node.Log(), m.Addr(), "nodes of Moleculer")
	for {
		c, err := m.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files: connections that end make place
			failures.Pause(err, m.ctx.Done())
			continue
		}
		failures.Accepted()
		m.mu.Lock()
		refused := m.closed || len(m.readers) >= maxReaders
		if !refused {
			m.readers[c] = struct{}{}
		}
		m.mu.Unlock()
		if refused {
			c.Close()
			m.bridge.note("a connection was refused", c.RemoteAddr().String(), fmt.Errorf("%d are open, which is all there may be", maxReaders))
			continue
		}
		m.running.Go(func() { m.read(c) })
	}
}

// read takes the packets of a connection, on which nothing is written.
func (m *tcp) read(c net.Conn) {
	defer func() {
		c.Close()
		m.mu.Lock()
		delete(m.readers, c)
		m.mu.Unlock()
	}()
	from, _ := c.RemoteAddr().(*net.TCPAddr)
	r := bufio.NewReaderSize(c, 64<<10)
	_ = c.SetReadDeadline(time.Now().Add(helloLimit))
	for first := true; ; first = false {
		kind, body, err := readFrame(r)
		if err != nil {
			if !isEnd(err) {
				m.bridge.note("a connection of a node was ended", c.RemoteAddr().String(), err)
			}
			return
		}
		if first {
			_ = c.SetReadDeadline(time.Time{})
		}
		m.take(kind, body, from.IP)
	}
}

// take takes a packet.
func (m *tcp) take(kind byte, body []byte, from net.IP) {
	switch kind {
	case frameHello, frameGossipRequest, frameGossipResponse:
		var g gossipPacket
		if m.bridge.read("gossip", body, &g) {
			m.takeGossip(kind, &g, from)
		}
		return
	case frameKinds["PONG"]:
		var h heartbeat
		var id string
		if m.bridge.wire.decode(body, &h) == nil && json.Codec.Decode(h.ID, &id) == nil {
			m.answered(h.Sender, id)
		}
	}
	for name, k := range frameKinds {
		if k == kind {
			m.mu.Lock()
			to := m.takes[m.bridge.prefix+name+"."+m.bridge.id]
			m.mu.Unlock()
			if to != nil {
				to(body)
			}
		}
	}
}

// reachableHosts are the names and addresses of this machine that others can dial.
func reachableHosts() (list []string) {
	all, _ := net.InterfaceAddrs()
	for _, one := range all {
		if n, ok := one.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			list = append(list, n.IP.String())
		}
	}
	return append(list, "127.0.0.1")
}

func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
