package moleculer

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/membership"
)

const (
	// gossipInterval is the time between the questions that a node asks another, as Moleculer's.
	gossipInterval = 2 * time.Second
	askPause       = 500 * time.Millisecond
)

// gossipPacket is HELLO, with the address of its sender; GOSSIP_REQ, with what it knows of each node; and GOSSIP_RES, with what the other did not know.
type gossipPacket struct {
	head
	Host    string         `json:"host"`
	Port    int            `json:"port"`
	Online  map[string]raw `json:"online"`
	Offline map[string]raw `json:"offline"`
}

// gossip asks one node after another what it knows, and dials those that are known but not linked.
func (m *tcp) gossip() {
	for _, text := range m.bridge.Peers {
		id, address, _ := peerAddress(text) // which was checked
		m.learn(id, true, address)
	}
	ticker := time.NewTicker(gossipInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-m.ctx.Done():
			return
		}
		m.mu.Lock()
		m.cpu = int(m.bridge.node.Info().Load.CPU * 100)
		m.cpuSeq++
		var ask string
		var dial []*tcpNode
		for id, n := range m.nodes { // in any order
			switch {
			case n.linked:
				ask = id
			case n.link == nil && !n.fixed && time.Since(n.noticed) > forgetAfter:
				delete(m.nodes, id)
			case n.link == nil && len(dial) < dialsAtOnce:
				dial = append(dial, n)
			}
		}
		for _, n := range dial {
			m.dial(n)
		}
		m.mu.Unlock()
		if ask != "" {
			m.ask(ask)
		}
	}
}

// frame makes a frame of gossip, from the members of its packet.
func (m *tcp) frame(dst []byte, kind byte, members []byte) []byte {
	packet, err := m.bridge.wire.fromJSON(m.bridge.packet(m.bridge.versions[0], string(members)), "", nil)
	if err != nil {
		m.bridge.note("a packet could not be sent", "gossip", err)
		return dst
	}
	return appendFrame(dst, kind, packet)
}

// greeting has the frames that a link begins with: who this is, what it offers and what it knows of others.
func (m *tcp) greeting() []byte {
	hello := appendText([]byte(`,"host":`), m.hosts[0])
	hello = strconv.AppendInt(append(hello, `,"port":`...), int64(m.port), 10)
	out := m.frame(nil, frameHello, hello)
	out = m.frame(out, frameGossipResponse, m.ownRow())
	return m.frame(out, frameGossipRequest, m.question())
}

// appendPing appends a PING, which the node answers when it has read all before.
func (m *tcp) appendPing(dst []byte, node, id string) []byte {
	version := m.bridge.versions[0]
	if p := m.bridge.peers.get(node); p != nil {
		version = p.version
	}
	return appendFrame(dst, frameKinds["PING"], m.bridge.pingPacket(version, id, time.Now()))
}

// tell gives all linked nodes what this one offers, once for each change.
func (m *tcp) tell() {
	_, seq := m.bridge.infoMembers()
	m.mu.Lock()
	var links []*link
	if m.announced != seq {
		m.announced = seq
		for _, n := range m.nodes {
			if n.linked {
				links = append(links, n.link)
			}
		}
	}
	m.mu.Unlock()
	for _, l := range links {
		_ = l.send(m.frame(nil, frameGossipResponse, m.ownRow()), false) // the next gossip tells it again
	}
}

// ask asks a node what it knows that this one does not.
func (m *tcp) ask(id string) {
	m.mu.Lock()
	n := m.nodes[id]
	recent := n != nil && time.Since(n.asked) < askPause
	if n != nil && !recent {
		n.asked = time.Now()
	}
	m.mu.Unlock()
	if recent {
		return
	}
	if l, err := m.linkTo(id); err == nil {
		_ = l.send(m.frame(nil, frameGossipRequest, m.question()), false)
	}
}

// question says which INFO this node has of which node: [seq, cpuSeq, cpu].
func (m *tcp) question() []byte {
	_, own := m.bridge.infoMembers()
	m.mu.Lock()
	defer m.mu.Unlock()
	online := map[string][3]int{m.bridge.id: {own, m.cpuSeq, m.cpu}}
	for id, n := range m.nodes {
		if n.linked && n.info != nil {
			online[id] = [3]int{n.info.Seq, 0, 0}
		}
	}
	out, _ := json.Codec.Append([]byte(`,"online":`), online)
	return out
}

// ownRow makes the row that tells others of this node: [info, cpuSeq, cpu].
func (m *tcp) ownRow() []byte {
	return m.answer(map[string]raw{m.bridge.id: m.rowOf(m.bridge.ownInfo())})
}

func (m *tcp) rowOf(info []byte) raw {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := append(append([]byte{'['}, info...), ',')
	out = strconv.AppendInt(append(strconv.AppendInt(out, int64(m.cpuSeq), 10), ','), int64(m.cpu), 10)
	return append(out, ']')
}

func (m *tcp) answer(rows map[string]raw) []byte {
	out, _ := json.Codec.Append([]byte(`,"online":`), rows)
	return out
}

// takeGossip takes a packet of gossip that came from an address.
func (m *tcp) takeGossip(kind byte, g *gossipPacket, from net.IP) {
	switch kind {
	case frameHello:
		if g.Port > 0 && g.Port < 1<<16 {
			m.learn(g.Sender, false, hostPort(from.String(), g.Port))
		}
		return
	case frameGossipRequest:
		m.takeQuestion(g)
	case frameGossipResponse:
		for _, id := range slices.Sorted(maps.Keys(g.Online)) {
			m.takeRow(id, g.Online[id])
		}
	}
	if m.bridge.noticed(g.Sender) == nil {
		m.discover(g.Sender)
	}
}

// takeQuestion answers with what the other does not know.
func (m *tcp) takeQuestion(g *gossipPacket) {
	b := m.bridge
	if claimed := seqOf(g.Offline[b.id]); claimed > 0 {
		b.raiseSeq(claimed) // it takes this node for one that has left
	}
	_, own := b.infoMembers()
	rows := make(map[string]raw)
	if seqOf(g.Online[b.id]) < own {
		rows[b.id] = m.rowOf(b.ownInfo())
	}
	news := false
	size := 0
	m.mu.Lock()
	for id, n := range m.nodes {
		switch theirs := seqOf(g.Online[id]); {
		case n.info == nil || !n.linked || id == g.Sender:
			news = news || theirs > 0
		case theirs < n.info.Seq && seqOf(g.Offline[id]) < n.info.Seq && size+len(n.text) < tcpLimit/2:
			size += len(n.text)
			rows[id] = slices.Concat(raw("["), n.text, raw(",0,0]"))
		case theirs > n.info.Seq:
			news = true
		}
	}
	for id := range g.Online {
		news = news || m.nodes[id] == nil && id != b.id
	}
	m.mu.Unlock()
	if len(rows) > 0 {
		if l, err := m.linkTo(g.Sender); err == nil {
			_ = l.send(m.frame(nil, frameGossipResponse, m.answer(rows)), false)
		}
	}
	if news {
		m.ask(g.Sender)
	}
}

// seqOf is the seq in what a question says of a node: [seq, cpuSeq, cpu], or the seq alone; 0 for none.
func seqOf(row raw) int {
	var list []float64
	if len(row) > 0 && row[0] == '[' {
		if json.Codec.Decode(row, &list) == nil && len(list) > 0 {
			return int(min(max(list[0], 0), 1<<53))
		}
		return 0
	}
	var one float64
	if len(row) == 0 || json.Codec.Decode(row, &one) != nil {
		return 0
	}
	return int(min(max(one, 0), 1<<53))
}

// takeRow takes what was told of a node: its INFO, or only how busy it is.
func (m *tcp) takeRow(id string, row raw) {
	if badTopic(id) || len(row) > membership.MaxCatalog {
		return
	}
	var parts []raw
	if json.Codec.Decode(row, &parts) != nil || len(parts) == 0 || len(parts[0]) == 0 || parts[0][0] != '{' {
		return
	}
	info := new(infoPacket)
	if err := json.Codec.Decode(parts[0], info); err != nil {
		m.bridge.note("a packet was refused", "gossip", err)
		return
	}
	if id == m.bridge.id {
		if info.InstanceID != m.bridge.instance {
			m.bridge.node.Log().Error("another node has this one's id among the Moleculer nodes: give one of them another", "node", id)
		}
		return
	}
	info.Sender, info.Version = id, m.bridge.versionOf(info)
	if !m.bridge.speaks(info.Version) {
		return
	}
	addresses := make([]string, 0, maxAddresses)
	if info.Port > 0 && info.Port < 1<<16 {
		for _, host := range append(slices.Clone(info.IPList[:min(len(info.IPList), maxAddresses-2)]), info.Hostname) {
			if host != "" && len(host) < 256 {
				addresses = append(addresses, hostPort(host, info.Port))
			}
		}
	}
	m.learnBehind(id, addresses)
	m.mu.Lock()
	n := m.nodes[id]
	if n == nil || n.info != nil && n.info.InstanceID == info.InstanceID && n.info.Seq >= info.Seq {
		m.mu.Unlock()
		return
	}
	n.info, n.text = info, parts[0]
	linked := n.linked
	m.mu.Unlock()
	if linked {
		m.bridge.putPeer(info)
	}
}

// versionOf is the version of the protocol that a node speaks, which gossip does not tell: it follows from what the node runs. Of the implementations beside
// Moleculer's own, which is "nodejs", none is known to speak 5.
func (b *bridge) versionOf(info *infoPacket) string {
	switch c := info.Client; {
	case c.Type == "sabir":
		return b.versions[0]
	case c.Type == "nodejs" && !strings.HasPrefix(c.Version, "0.14."):
		return "5"
	default:
		return "4"
	}
}
