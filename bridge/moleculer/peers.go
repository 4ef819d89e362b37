package moleculer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/introspect"
)

// peer is another node of the Moleculer project: a sabir.ForeignNode.
type peer struct {
	bridge  *bridge
	id      string
	name    string
	version string          // of the protocol, as it speaks it
	ctx     context.Context // ends when the node has gone
	gone    context.CancelFunc
	since   time.Time
	seen    atomic.Int64 // when it was last noticed, in Unix ns
	asked   atomic.Int64 // when it was last asked for an answer
	deaf    atomic.Bool  // it does not listen to PING, as those of pylecular

	offers atomic.Pointer[offers]

	instance string // guarded by peers.mu, as what follows
	seq      int
	info     infoPacket
	silent   bool
}

// peers are the other nodes by id.
type peers struct {
	applying sync.Mutex // one INFO at a time is applied; before mu
	mu       sync.Mutex
	known    map[string]*peer
	rival    string // the instance of the last other node that had this one's id
}

const (
	maxPeers     = 4096
	lookInterval = time.Second
	// askAfter is the silence after which a node is asked for an answer; one with calls in flight is asked sooner.
	askAfter = 3 * lookInterval
	// silentAfter is the time without an answer after which calls prefer other nodes.
	silentAfter = 3 * time.Second
)

func (p *peers) get(id string) *peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[id]
}

// contest notes that another node has this one's id. It is false for one that is known already, with which there would be no end of answers.
func (p *peers) contest(instance string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.rival == instance
	p.rival = instance
	return !known
}

func (p *peers) list() (list []*peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.known {
		list = append(list, one)
	}
	return list
}

// versions are those of the protocol that the nodes speak.
func (p *peers) versions() (spoken []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.known {
		if !slices.Contains(spoken, one.version) {
			spoken = append(spoken, one.version)
		}
	}
	return spoken
}

func (p *peers) touchAll() {
	for _, one := range p.list() {
		one.seen.Store(time.Now().UnixNano())
		one.asked.Store(0)
	}
}

// Name implements sabir.ForeignNode.
func (p *peer) Name() string { return p.name }

// naming is held from the choice of a name until the node has it, since two bridges of a node may meet peers of one id at once.
var naming sync.Mutex

// nameOf is the name of a new peer on this node: its id, before which the namespace stands where another bridge has a node of that id. Ids have
// no slashes.
func (b *bridge) nameOf(id string) string {
	if slices.ContainsFunc(b.node.Nodes(), func(n introspect.Node) bool { return n.ID == id && n.Framework != "" }) {
		return b.Namespace + "/" + id
	}
	return id
}

// noticed is called for each packet of a node.
func (b *bridge) noticed(id string) *peer {
	p := b.peers.get(id)
	if p != nil {
		p.seen.Store(time.Now().UnixNano())
		p.asked.Store(0)
	}
	return p
}

// drop forgets a node that has gone: calls in flight to it end, and so do the handlers of its calls.
func (b *bridge) drop(id, why string) {
	b.peers.mu.Lock()
	p := b.peers.known[id]
	delete(b.peers.known, id)
	b.peers.mu.Unlock()
	if p != nil {
		b.dropped(p, why)
	}
}

func (b *bridge) dropped(p *peer, why string) {
	p.gone()
	b.node.DropForeign(p)
	b.calls.failOf(p.id, why)
	b.node.Log().Info("a Moleculer node is not there any more", "node", b.id, "peer", p.id, "why", why)
}

func (b *bridge) dropPeers(why string) {
	for _, p := range b.peers.list() {
		b.drop(p.id, why)
	}
}

// look asks nodes that are silent, and drops those that were for too long.
func (b *bridge) look() {
	if b.down.Load() {
		return
	}
	if b.mistaken.Swap(false) && !b.leaving.Load() {
		b.sendInfo("", "")
	}
	now := time.Now()
	for _, p := range b.peers.list() {
		silence, asked := now.Sub(time.Unix(0, p.seen.Load())), p.asked.Load()
		if silence > b.Timeout && asked != 0 { // a node whose heartbeats are rare, or off, answers when it is asked
			b.drop(p.id, "was silent")
			continue
		}
		if b.calls.of(p.id) && now.Sub(p.since) > lookInterval || silence > min(askAfter, b.Timeout/2) {
			p.asked.CompareAndSwap(0, now.UnixNano())
			b.ask(p, now)
		}
		b.setSilent(p, asked != 0 && now.Sub(time.Unix(0, asked)) > silentAfter && !p.deaf.Load())
	}
}

// ask sends a PING. The broker reports where nobody listens to it, which is so a moment after a process was killed.
func (b *bridge) ask(p *peer, now time.Time) {
	if err := b.broker.Probe(b.prefix+"PING."+p.id, b.pingPacket(p.version, "look", now)); err != nil {
		b.note("a packet could not be sent", "PING."+p.id, err)
	}
}

// pingPacket makes a PING, whose id comes back with the answer.
func (b *bridge) pingPacket(version, id string, now time.Time) []byte {
	packet := append(appendTime(append(b.appendHead(nil, version), `,"time":`...), now), `,"id":`...)
	packet = append(appendText(packet, id), '}')
	packet, _ = b.wire.fromJSON(packet, "", nil) // it holds nothing that has no form
	return packet
}

func appendTime(dst []byte, t time.Time) []byte {
	dst, _ = json.Codec.Append(dst, t.UnixMilli())
	return dst
}

func (b *bridge) takeHeartbeat(data []byte) {
	var h heartbeat
	if !b.read("HEARTBEAT", data, &h) {
		return
	}
	if b.noticed(h.Sender) == nil {
		b.discover(h.Sender, h.Version) // its INFO was lost, or it was thought gone
	}
}

// discover asks a node what it offers.
func (b *bridge) discover(id, version string) { b.publish("DISCOVER."+id, b.packet(version, "")) }

func (b *bridge) takeDiscover(data []byte) {
	var h heartbeat
	if b.read("DISCOVER", data, &h) {
		b.noticed(h.Sender)
		b.sendInfo(h.Version, h.Sender)
	}
}

func (b *bridge) takeDisconnect(data []byte) {
	var h heartbeat
	if b.read("DISCONNECT", data, &h) {
		b.drop(h.Sender, "has left")
	} else if h.Sender == b.id {
		b.mistaken.Store(true)
	}
}

func (b *bridge) takePing(data []byte) {
	var h heartbeat
	if !b.read("PING", data, &h) {
		return
	}
	b.noticed(h.Sender)
	reply := append(append(b.appendHead(nil, h.Version), `,"time":`...), present(h.Time)...)
	reply = append(append(reply, `,"id":`...), present(h.ID)...)
	reply = appendTime(append(reply, `,"arrived":`...), time.Now())
	b.publish("PONG."+h.Sender, append(reply, '}'))
}

func (b *bridge) takePong(data []byte) {
	var h heartbeat
	if !b.read("PONG", data, &h) {
		return
	}
	if p := b.noticed(h.Sender); p != nil {
		p.deaf.Store(false)
	}
}

// read reads a packet of another node. One that is broken, of another version, or the node's own, is not for this node.
func (b *bridge) read(topic string, data []byte, packet carrier) bool {
	if err := b.wire.decode(data, packet); err != nil {
		r := b.refused(topic, data, err)
		b.unread(topic, &r, err)
		return false
	}
	h := packet.sentBy()
	return h.Sender != b.id && b.speaks(h.Version)
}

// refused logs that a packet cannot be read, and returns what it says of itself. One that does not say its sender is likely of nodes with
// other settings than the bridge.
func (b *bridge) refused(topic string, data []byte, why error) request {
	r := b.wire.signed(data)
	if r.Sender == "" {
		why = fmt.Errorf("%w: the bridge reads %s, and needs the Serializer, Compression and Encryption that Moleculer's nodes have", why, b.wire.values.Name())
	}
	b.note("a packet was refused", topic, why)
	return r
}

// unread ends the call of a packet that cannot be read, if it says whose it is: somebody waits for it.
func (b *bridge) unread(topic string, r *request, why error) {
	if !r.hasID() || r.check() != nil || r.Sender == b.id || !b.speaks(r.Version) {
		return
	}
	switch topic {
	case "REQ":
		err := sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the request cannot be read: %w", why)
		if !b.uploads.fail(r, err) {
			b.refuse(r, err)
		}
	case "RES":
		var id string
		if json.Codec.Decode(r.ID, &id) != nil {
			return
		}
		if c := b.calls.take(id, r.Sender); c != nil {
			c.fail(sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "the answer of %s cannot be read: %w", c.action, why))
		}
	}
}

func (b *bridge) speaks(version string) bool {
	return slices.Contains(b.versions, version)
}
