package bus

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/address"
	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/seal"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// Window is the number of bytes of one direction of a connection that may be unread by the other side before a Write waits.
const Window = 1 << 20

const (
	largestPacket = 256 << 10
	backlog       = 128                     // connections that wait for Accept
	probeAfter    = 150 * time.Millisecond  // without a sign that what was sent has arrived
	maxProbePause = 2 * time.Second         // the pause between two questions grows up to this
	unheardLimit  = 1200 * time.Millisecond // how long the broker must report that nothing listens to a peer's inbox
	lingerLimit   = 2 * time.Second         // how long what was written before Close is kept for a peer that misses it
	lookEvery     = 100 * time.Millisecond
	lingerLook    = 2 * time.Millisecond
	maxRefusals   = 1024
)

// Config identifies a hub.
type Config struct {
	// Cluster and Node name the subjects; see [Token].
	Cluster, Node string
	// Transport is given to the driver.
	Transport transport.Config
	// Keys are the cluster keys. With one, sessions are sealed, and others are not taken.
	Keys seal.Keys
	// Plain leaves sessions with hubs that are plain too as they are: everybody at the broker can read and change them.
	Plain bool
	// Refusals counts the packets that nobody with a key made; nil counts nothing.
	Refusals *seal.Refusals
	// Log takes the faults that no method can return as an error; nil is no log.
	Log *slog.Logger
}

// Hub is a node's place on a bus. All methods may be called from any number of goroutines at once.
type Hub struct {
	config    Config
	at        string // the broker's address, for the log: events may come before there is a broker
	broker    transport.Broker
	inbox     string
	everybody string
	largest   int // bytes of the largest text of a packet
	listener  *listener

	mu             sync.Mutex
	changed        sync.Cond // there is work, or nothing more is done
	sessions       map[end]*conn
	unproven       map[*conn]struct{} // those of sessions whose other side has not shown that it has the keys
	work           []*conn            // conns that have something to send, each once
	refusals       []refusal          // bounded by maxRefusals
	closed         bool
	left           bool // closed, and nothing more is done
	lost           bool
	outage         backoff.Outage // while lost
	onBroadcast    func(message []byte)
	onInterruption func(interrupted bool)

	running sync.WaitGroup
	done    chan struct{}
}

// end is one side of a session. Both may be of one hub.
type end struct {
	session sessionID
	dialled bool
}

// refusal is a session that another hub began and that is not taken.
type refusal struct {
	to     string
	packet packet
}

// Open joins the bus at a broker's address, which may be that of another hub. All subjects begin with the address's prefix and
// the cluster's name, so that a broker's rights can hold a cluster to its own. What is broadcast and sent from then on arrives.
func Open(ctx context.Context, broker string, config Config) (*Hub, error) {
	at, err := schemes.Parse(broker)
	if err != nil {
		return nil, err
	}
	at.Fragment = ""
	// The driver reports what is wrong with the parameters; here only the prefix is of interest.
	prefix := address.Read(at).Prefix(address.WithDots)
	driver, ok := transports.Bus(at.Scheme)
	if !ok {
		return nil, fmt.Errorf("no bus is called %q", at.Scheme)
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{config: config, at: at.Redacted(), sessions: make(map[end]*conn), unproven: make(map[*conn]struct{}), done: make(chan struct{})}
	h.changed.L = &h.mu
	h.everybody = prefix + "." + Token(config.Cluster)
	h.inbox = h.everybody + "." + Token(config.Node) + "-" + strings.ToLower(rand.Text()[:8])
	h.broker, err = driver.Connect(ctx, at, config.Transport, transport.BusEvents{Lost: h.brokerLost, Restored: h.brokerRestored, Unheard: h.unheard})
	if err != nil {
		return nil, err
	}
	h.largest = min(h.broker.MaxMessage(), largestPacket) - maxHeader - sealedOverhead
	err = h.broker.Subscribe(ctx, h.inbox, h.arrived)
	if err == nil {
		err = h.broker.Subscribe(ctx, h.everybody, h.broadcast)
	}
	if err != nil {
		h.broker.Close()
		return nil, fmt.Errorf("%s: %w", at.Redacted(), err)
	}
	h.running.Go(h.serve)
	h.running.Go(h.look)
	return h, nil
}

// Addr is the address at which others dial this hub's listener: the broker's address, and behind a # the inbox.
func (h *Hub) Addr() string {
	address := h.broker.Addr() + "#" + h.inbox
	if h.config.Plain {
		address += plainMark
	}
	return address
}

// Broadcast sends a message to all hubs of the cluster, this one included. It may be lost.
func (h *Hub) Broadcast(message []byte) error { return h.broker.Publish(h.everybody, message) }

// Hear calls onBroadcast with what hubs of this cluster broadcast, its own too, and onInterruption with true when the connection
// to the broker is lost and with false when it is back. They are called one at a time, must not block, and may keep the
// message. What came before Hear is not delivered.
func (h *Hub) Hear(onBroadcast func(message []byte), onInterruption func(interrupted bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.onBroadcast, h.onInterruption = onBroadcast, onInterruption
}

func (h *Hub) broadcast(message []byte) {
	h.mu.Lock()
	onBroadcast := h.onBroadcast
	h.mu.Unlock()
	if onBroadcast != nil {
		onBroadcast(message)
	}
}

// Listener starts to accept connections. There is one at a time.
func (h *Hub) Listener() transport.Listener {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listener = newListener(h)
	return h.listener
}

// Dial connects to the listener at an address, within ctx and the transport's DialTimeout.
func (h *Hub) Dial(ctx context.Context, address string) (net.Conn, error) {
	to, err := url.Parse(address)
	if err != nil || to.Fragment == "" {
		return nil, fmt.Errorf("the address %q is not that of a node on a bus", address)
	}
	ctx, cancel := h.config.Transport.WithDialLimit(ctx)
	defer cancel()
	var id sessionID
	rand.Read(id[:])
	inbox, sealed := h.seals(to.Fragment)
	c := newConn(h, end{id, true}, inbox)
	c.keyed = sealed
	if err := ctx.Err(); err != nil { // before a peer is asked, which might answer at once
		return nil, &net.OpError{Op: "dial", Net: "bus", Addr: c.RemoteAddr(), Err: err}
	}
	if err := h.add(c); err != nil {
		return nil, err
	}
	if err := c.dial(ctx); err != nil {
		c.Close()
		return nil, &net.OpError{Op: "dial", Net: "bus", Addr: c.RemoteAddr(), Err: err}
	}
	return c, nil
}

// Close leaves the bus. Its connections end, and so do the other sides'. For what was written before connections were closed
// it waits until it has arrived, two seconds at most: brokers lose it where they end with the hub.
func (h *Hub) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	listener := h.listener
	h.mu.Unlock()
	if listener != nil {
		listener.Close()
	}
	h.linger()
	h.mu.Lock()
	h.left = true
	h.changed.Broadcast()
	h.mu.Unlock()
	close(h.done)
	h.running.Wait()
	h.mu.Lock()
	work := h.work
	h.work = nil
	h.mu.Unlock()
	for _, c := range work { // the last words of those that were closed
		c.serve()
	}
	for _, c := range h.all() {
		c.mu.Lock()
		said := c.state == closing
		c.finish(net.ErrClosed)
		c.mu.Unlock()
		if !said {
			c.send(c.packet(kindReset))
		}
	}
	return h.broker.Close()
}

// linger waits for the last words of connections that were closed.
func (h *Hub) linger() {
	again := time.NewTicker(lingerLook)
	defer again.Stop()
	for h.lingers() {
		<-again.C
	}
}

func (h *Hub) lingers() bool {
	h.mu.Lock()
	lost := h.lost
	h.mu.Unlock()
	return !lost && slices.ContainsFunc(h.all(), (*conn).lingers)
}

func (h *Hub) add(c *conn) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return net.ErrClosed
	}
	h.sessions[c.end] = c
	return nil
}

func (h *Hub) forget(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[c.end] == c {
		delete(h.sessions, c.end)
	}
	delete(h.unproven, c)
}

func (h *Hub) all() []*conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*conn, 0, len(h.sessions))
	for _, c := range h.sessions {
		list = append(list, c)
	}
	return list
}

// arrived takes a message to the inbox. It runs on the driver's goroutine and does not block.
func (h *Hub) arrived(message []byte) {
	p, err := parseHead(message)
	if err != nil {
		h.config.Log.Debug("message not understood", "node", h.config.Node, "error", err)
		return
	}
	h.mu.Lock()
	c := h.sessions[end{p.session, p.toDialler}]
	h.mu.Unlock()
	rest := message[headSize:]
	if c != nil && c.keyed && p.kind.sealed() {
		var ok bool
		if rest, ok = c.unseal(message); !ok {
			h.config.Refusals.Note("the broker", c.peer)
			return
		}
	}
	if err := p.parseRest(rest); err != nil {
		h.config.Log.Debug("message not understood", "node", h.config.Node, "error", err)
		return
	}
	switch {
	case c != nil && c.keyed && !p.kind.sealed():
		c.mu.Lock()
		ok := c.handshake(&p)
		c.mu.Unlock()
		if !ok {
			h.config.Refusals.Note("the broker", c.peer)
		}
	case c != nil:
		if c.arrived(&p) {
			h.proven(c)
		}
	case p.kind == kindOpen && !p.toDialler:
		h.opened(&p)
	case p.kind == kindProbe, p.kind == kindClose: // it is over, and the other side does not know
		if h.config.Keys.None() || h.config.Plain { // with a key nobody would believe it; the link above finds out
			h.refuse(string(p.text), packet{kind: kindReset, toDialler: !p.toDialler, session: p.session})
		}
	}
}

// queue adds a conn to the list of work.
func (h *Hub) queue(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.work = append(h.work, c)
	h.changed.Signal()
}

// opened takes in a session that another hub began.
func (h *Hub) opened(p *packet) {
	inbox, offer, sealed := bytes.Cut(p.text, []byte{0})
	from := string(inbox)
	if !validSubject(from) {
		return
	}
	h.mu.Lock()
	l := h.listener
	h.mu.Unlock()
	switch {
	case sealed && !h.config.Keys.None():
		h.openedSealed(p, from, offer, l)
		return
	case !sealed && !h.config.Keys.None() && !h.config.Plain:
		h.config.Refusals.Note("the broker", from)
		return
	}
	c := newConn(h, end{p.session, false}, from)
	c.state = open
	refused := packet{kind: kindRefuse, toDialler: true, session: p.session}
	if sealed || l == nil || h.add(c) != nil {
		h.refuse(from, refused)
		return
	}
	if !l.offer(c) {
		h.forget(c)
		h.refuse(from, refused)
		return
	}
	c.mu.Lock()
	c.want(wantAccept)
	c.mu.Unlock()
}

// refuse answers another hub about a session that this one does not have. Beyond a number of waiting refusals, the other
// finds out by itself.
func (h *Hub) refuse(inbox string, p packet) {
	if !validSubject(inbox) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.refusals) < maxRefusals {
		h.refusals = append(h.refusals, refusal{inbox, p})
		h.changed.Signal()
	}
}

// serve sends the packets that were marked as wanted by code that must not block.
func (h *Hub) serve() {
	for {
		h.mu.Lock()
		for len(h.work) == 0 && len(h.refusals) == 0 && !h.left {
			h.changed.Wait()
		}
		if h.left {
			h.mu.Unlock()
			return
		}
		work, refusals := h.work, h.refusals
		h.work, h.refusals = nil, nil
		h.mu.Unlock()
		for _, r := range refusals {
			h.broker.Publish(r.to, r.packet.append(nil)) // a peer that misses it asks again
		}
		for _, c := range work {
			c.serve()
		}
	}
}

// look sees to sessions whose peer has not confirmed what it was sent, and to those that are over.
func (h *Hub) look() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-h.done:
			return
		case now := <-ticker.C:
			h.tellOutage(now)
			for _, c := range h.all() {
				c.look(now)
			}
		}
	}
}

func (h *Hub) brokerLost(err error) {
	h.mu.Lock()
	again, onInterruption := h.lost, h.onInterruption
	if h.lost = true; !again {
		h.outage = backoff.NewOutage()
	}
	h.mu.Unlock()
	if again {
		return
	}
	h.config.Log.Warn("the broker is lost", "node", h.config.Node, "broker", h.at, "error", err)
	if onInterruption != nil {
		onInterruption(true)
	}
}

// tellOutage logs why a broker that is lost cannot be reached, where its driver knows: what ended the connection says nothing of that.
func (h *Hub) tellOutage(now time.Time) {
	h.mu.Lock()
	due := h.lost && h.outage.Due(now)
	h.mu.Unlock()
	driver, knows := h.broker.(interface{ WhyLost() error })
	if !due || !knows {
		return
	}
	if err := driver.WhyLost(); err != nil {
		h.config.Log.Warn("the broker cannot be reached; trying again", "node", h.config.Node, "broker", h.at, "error", err)
	}
}

func (h *Hub) brokerRestored() {
	h.mu.Lock()
	h.lost = false
	onInterruption := h.onInterruption
	h.mu.Unlock()
	h.config.Log.Info("the broker is back", "node", h.config.Node, "broker", h.at)
	for _, c := range h.all() {
		c.mu.Lock()
		c.unheardSince = time.Time{}
		c.want(wantProbe)
		c.mu.Unlock()
	}
	if onInterruption != nil {
		onInterruption(false)
	}
}

func (h *Hub) unheard(subject string) {
	for _, c := range h.all() {
		if c.peer == subject {
			c.unheard()
		}
	}
}
