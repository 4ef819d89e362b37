package mesh

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/wire"
)

type membershipRun = membership.Run

// relay holds what the nodes of a sparse cluster tell each other of all nodes. Each catalog goes from neighbour to neighbour as a summary, and
// each service is asked for once, from the node that its hash came from first. It is guarded by mesh.mu.
type relay struct {
	summaries map[membershipRun]*relayed
	services  map[string]keptService // by hash
	asked     map[string]time.Time   // when each missing service was last asked for
	own       membership.Summary
	compared  time.Time              // when digests were last compared, or unused summaries forgotten
	bytes     int                    // of what came: summaries and services
	unapplied map[membershipRun]bool // of the summaries: whose catalogs are not in the registry
	retry     bool                   // one of these may have become applicable
}

// keptService is a service that other nodes are told of.
type keptService struct {
	*membership.Service
	came []byte // the bytes that are sent of it, where this node would write others: see membership.Received
	size int    // bytes that it came in; 0 for one that did not come by itself
}

// text returns the bytes that other nodes are sent, whose hash is that of the service.
func (s keptService) text() []byte {
	if s.came != nil {
		return s.came
	}
	return s.Service.Text()
}

// relayed is the summary of a run of a node. It may come before membership knows of that run.
type relayed struct {
	membership.Summary
	text   []byte    // as it came
	came   time.Time // when
	from   string    // the node that sent it
	passed bool      // all its services are known, so it was passed on: whoever gets it asks this node for them
}

const (
	// earlyTime is for how long a summary is kept whose node is no member: membership may hear of it later.
	earlyTime = time.Minute
	// askAgainTime is the time after which a service is asked for again, from another node.
	askAgainTime = time.Second
	// compareInterval is the interval at which a node compares its digest with that of a neighbour, for what was lost on the way.
	compareInterval = 10 * time.Second
	// maxRelayed bounds the bytes of summaries and services that a node keeps of all others. A thousand nodes with 50 actions each have 10 MB.
	maxRelayed = 256 << 20
)

// A digest message begins with one of these.
const (
	digestAsks    byte = 0 // a digest: the receiver answers with its own, and both send what the other does not have
	digestAnswers byte = 1 // a digest
	digestSum     byte = 2 // the sum of a digest in 8 bytes: where it is not the receiver's own, that sends its digest
)

// summarized reports whether a linked peer gets what this node offers as a summary. The caller holds mu.
func (m *Mesh) summarized(p *Peer) bool { return m.sparse && p.info.OnDemand }

// informed lists the links over which news of other nodes go. The caller holds mu.
func (m *Mesh) informed() (links []*wire.Link) {
	for _, p := range m.peers {
		if l := p.Link(); l != nil && m.summarized(p) && (p.neighbour || p.informs) {
			links = append(links, l)
		}
	}
	return links
}

// summarizeOwn makes the summary of what this node offers. The caller holds mu and announcing.
func (m *Mesh) summarizeOwn() []byte {
	if s := &m.relay.own; s.Node == "" || s.Version != m.announced.Version || s.Instance != m.announced.Instance {
		own, services := m.announced.Summarize(m.info.Load().encode())
		for hash, service := range services {
			m.relay.services[hash] = keptService{Service: service}
		}
		m.relay.own = own
	}
	return summaryText(&m.relay.own)
}

func summaryText(s *membership.Summary) []byte {
	text, err := stdjson.Marshal(s)
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	return text
}

// listText is a message of summaries.
func listText(texts ...[]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(texts, []byte{','})...), ']')
}

// shareCatalogs begins to tell others of other nodes: each linked peer what this node offers, and one of them what it has heard, which answers
// with what it has. The caller holds mu.
func (m *Mesh) shareCatalogs() {
	wake(m.catalogChanged) // announce sends the summary, since nobody has it yet
	m.relay.own = membership.Summary{}
	for _, p := range m.peers {
		if l := p.Link(); l != nil && m.summarized(p) {
			p.compared = true
			m.post(l, topicDigest, m.digestMessage(digestAsks))
			return
		}
	}
}

// digest makes a list of the catalogs that this node knows of the members, its own included. The caller holds mu.
func (m *Mesh) digest() membership.Digest {
	d := make(membership.Digest, len(m.relay.summaries)+1)
	for r, s := range m.relay.summaries {
		if p := m.peers[r.Node]; p != nil && p.member.ID != "" && p.run() == r && s.passed {
			d[r] = s.Version
		}
	}
	if own := &m.relay.own; own.Node != "" {
		d[membershipRun{Node: own.Node, Instance: own.Instance}] = own.Version
	}
	return d
}

// digestMessage is a message with the digest. The caller holds mu.
func (m *Mesh) digestMessage(kind byte) []byte { return m.digest().Append([]byte{kind}) }

// compareDigests sends the sum of the digest to a neighbour now and then, and forgets what has turned out to be of no use. The caller holds mu.
func (m *Mesh) compareDigests(now time.Time) {
	if now.Sub(m.relay.compared) < compareInterval {
		return
	}
	m.relay.compared = now
	used := make(map[string]bool)
	for r, s := range m.relay.summaries {
		if p := m.peers[r.Node]; (p == nil || p.run() != r) && now.Sub(s.came) > earlyTime {
			delete(m.relay.summaries, r)
			delete(m.relay.unapplied, r)
			m.relay.bytes -= len(s.text)
			continue
		}
		for _, hash := range s.Hashes {
			used[hash] = true
		}
	}
	for _, hash := range m.relay.own.Hashes {
		used[hash] = true
	}
	for hash, s := range m.relay.services {
		if !used[hash] {
			m.relay.bytes -= s.size
			delete(m.relay.services, hash)
		}
	}
	maps.DeleteFunc(m.relay.asked, func(hash string, _ time.Time) bool { return !used[hash] })
	for _, l := range m.informed() { // any one
		m.post(l, topicDigest, appendSum([]byte{digestSum}, m.digest().Sum()))
		return
	}
}

// receiveDigest compares the digest of a peer with this node's own.
func (m *Mesh) receiveDigest(l *wire.Link, data []byte) {
	if len(data) == 0 {
		return
	}
	kind, data := data[0], data[1:]
	var theirs membership.Digest
	if kind != digestSum {
		var err error
		if theirs, err = membership.ParseDigest(data); err != nil {
			m.unreadable(l, err)
			return
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.peers[l.Peer().Node]
	if p == nil {
		return
	}
	p.informs = true // also where this node has not found out yet that the cluster is so large
	if !m.sparse || m.relay.own.Node == "" {
		return
	}
	own := m.digest()
	switch {
	case kind == digestSum && !bytes.Equal(data, appendSum(nil, own.Sum())):
		m.post(l, topicDigest, own.Append([]byte{digestAsks}))
	case kind == digestAsks:
		m.post(l, topicDigest, own.Append([]byte{digestAnswers}))
	}
	if kind != digestSum {
		m.sendNewer(l, own, theirs)
	}
}

// sendNewer sends the summaries that the peer does not have. The caller holds mu.
func (m *Mesh) sendNewer(l *wire.Link, own, theirs membership.Digest) {
	var texts [][]byte
	size := 0
	flush := func() {
		if len(texts) > 0 {
			m.post(l, topicSummaries, listText(texts...))
		}
		texts, size = nil, 0
	}
	for r, version := range own {
		if known, ok := theirs[r]; ok && known >= version {
			continue
		}
		var text []byte
		if s := m.relay.summaries[r]; s != nil {
			text = s.text
		} else {
			text = summaryText(&m.relay.own)
		}
		if size+len(text) > membership.MaxSummaries {
			flush()
		}
		texts, size = append(texts, text), size+len(text)
	}
	flush()
}

// receiveSummaries takes news of other nodes, passes on what is new, and asks for the services that it does not have.
func (m *Mesh) receiveSummaries(l *wire.Link, data []byte) {
	list, texts, err := membership.ParseSummaries(data)
	if err != nil {
		m.unreadable(l, err)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	fresh := false
	now := time.Now()
	for i := range list {
		s := &list[i]
		r := membershipRun{Node: s.Node, Instance: s.Instance}
		known := m.relay.summaries[r]
		if p := m.peers[s.Node]; p != nil && s.Node == l.Peer().Node {
			p.toConfirm = true
			wake(m.update)
		}
		if s.Node == m.config.Node || known != nil && known.Version >= s.Version ||
			known == nil && len(m.relay.summaries) >= 2*identity.MaxMembers || m.relay.bytes+len(texts[i]) > maxRelayed {
			continue
		}
		if known != nil {
			m.relay.bytes -= len(known.text)
		}
		m.relay.bytes += len(texts[i])
		m.relay.summaries[r] = &relayed{Summary: *s, text: texts[i], came: now, from: l.Peer().Node}
		m.relay.unapplied[r] = true
		m.learnServices(s)
		m.ask(l, s.Hashes, now)
		fresh = true
	}
	if fresh {
		m.passOn()
	}
}

// passOn passes on the summaries whose services have all come. The caller holds mu.
func (m *Mesh) passOn() {
	var ready []*relayed
	for r := range m.relay.unapplied {
		if s := m.relay.summaries[r]; !s.passed && !slices.ContainsFunc(s.Hashes, m.lacks) {
			s.passed = true
			ready = append(ready, s)
		}
	}
	if ready == nil {
		return
	}
	for _, l := range m.informed() {
		var texts [][]byte
		for _, s := range ready {
			if to := l.Peer().Node; to != s.from && to != s.Node {
				texts = append(texts, s.text)
			}
		}
		if texts != nil {
			m.post(l, topicSummaries, listText(texts...))
		}
	}
	m.relay.retry = true
	wake(m.update)
}

// learnServices looks for the services of a summary in the catalog of the same node, which may have come over a link of its own, and is kept
// for the others. The caller holds mu.
func (m *Mesh) learnServices(s *membership.Summary) {
	if !slices.ContainsFunc(s.Hashes, m.lacks) {
		return
	}
	known := m.registry.View().Services(s.Node)
	for i := range known {
		if hash := known[i].Hash(); slices.Contains(s.Hashes, hash) {
			m.relay.services[hash] = keptService{Service: &known[i]}
		}
	}
}

func (m *Mesh) lacks(hash string) bool { return m.relay.services[hash].Service == nil }

// ask asks a peer for services, unless they were asked for lately. The caller holds mu.
func (m *Mesh) ask(l *wire.Link, hashes []string, now time.Time) {
	var wanted []string
	for _, hash := range hashes {
		if m.lacks(hash) && now.Sub(m.relay.asked[hash]) > askAgainTime && len(wanted) < membership.MaxWanted {
			m.relay.asked[hash] = now
			wanted = append(wanted, hash)
		}
	}
	if wanted != nil {
		text, _ := stdjson.Marshal(wanted) // strings
		m.post(l, topicServicesWanted, text)
	}
}

// askAgain asks for the services that have not come. The caller holds mu.
func (m *Mesh) askAgain(now time.Time) {
	var missing []string
	for r := range m.relay.unapplied {
		missing = append(missing, m.relay.summaries[r].Hashes...)
	}
	if missing == nil {
		return
	}
	for _, l := range m.informed() { // any one
		m.ask(l, missing, now)
		return
	}
}

// receiveWanted sends a peer the services that it asks for, as far as they are known. Whatever it asks, one message is on its way at a time.
func (m *Mesh) receiveWanted(l *wire.Link, data []byte) {
	var hashes []string
	if err := stdjson.Unmarshal(data, &hashes); err != nil || len(hashes) > membership.MaxWanted {
		m.unreadable(l, err)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.peers[l.Peer().Node]
	if p == nil || len(p.wanted) > 4*membership.MaxWanted { // it asks again later
		return
	}
	first := len(p.wanted) == 0
	p.wanted = append(p.wanted, hashes...)
	if first {
		m.running.Go(func() { m.sendWanted(p, l) })
	}
}

// sendWanted sends the services that a peer asks for, until there are none left.
func (m *Mesh) sendWanted(p *Peer, l *wire.Link) {
	for {
		var texts [][]byte
		m.mu.Lock()
		for size := 0; size < membership.MaxSummaries && len(p.wanted) > 0; p.wanted = p.wanted[1:] {
			if s := m.relay.services[p.wanted[0]]; s.Service != nil {
				text := s.text()
				texts, size = append(texts, text), size+len(text)
			}
		}
		more := len(p.wanted) > 0
		if !more {
			p.wanted = nil
		}
		m.mu.Unlock()
		if texts != nil && !m.postNow(l, topicServices, listText(texts...)) {
			m.mu.Lock()
			p.wanted = nil
			m.mu.Unlock()
			return
		}
		if !more {
			return
		}
	}
}

// receiveServices takes services that this node has asked for.
func (m *Mesh) receiveServices(l *wire.Link, data []byte) {
	found, err := membership.ParseServices(data)
	if err != nil {
		m.unreadable(l, err)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.relay.bytes+len(data) > maxRelayed {
		return
	}
	for _, r := range found {
		if _, asked := m.relay.asked[r.Hash]; asked && m.lacks(r.Hash) {
			m.relay.services[r.Hash] = keptService{r.Service, r.Text, len(data) / len(found)}
			m.relay.bytes += len(data) / len(found)
			delete(m.relay.asked, r.Hash)
		}
	}
	m.passOn()
}

// applySummaries moves the catalogs whose services are all known into the registry, for the nodes that are members or linked. The caller
// holds mu.
func (m *Mesh) applySummaries() {
	if !m.relay.retry {
		return
	}
	m.relay.retry = false
	var catalogs []membership.Catalog
	var known []*Peer
	for r := range m.relay.unapplied {
		s, p := m.relay.summaries[r], m.peers[r.Node]
		if p == nil || p.run() != r || p.leaving || p.lost || !m.sparse && len(p.Links()) == 0 || !s.passed {
			continue
		}
		delete(m.relay.unapplied, r)
		c, info, err := m.catalogOf(s)
		if err != nil {
			m.log.Warn("what a node offers cannot be read", "node", m.config.Node, "peer", s.Node, "error", err)
			continue
		}
		catalogs, known = append(catalogs, c), append(known, p)
		if len(p.Links()) == 0 {
			p.info = info
		}
		p.moveTo(info.Place)
		p.hasCatalog, p.toConfirm = true, true
	}
	m.registry.SetAll(catalogs)
	for _, p := range known {
		if len(p.Links()) > 0 {
			continue
		}
		p.atRest.Store(m.mayRest(p))
		m.maintain(p) // where it may not be without a link
	}
}

// catalogOf makes the catalog of a summary whose services are known, and the description of its node. The caller holds mu.
func (m *Mesh) catalogOf(s *relayed) (c membership.Catalog, info Info, err error) {
	services := make([]*membership.Service, len(s.Hashes))
	for i, hash := range s.Hashes {
		services[i] = m.relay.services[hash].Service
	}
	if c, err = s.With(services); err != nil {
		return c, info, err
	}
	if info, err = parseInfo(s.Info); err == nil && info.Instance != s.Instance {
		err = errors.New("its description is that of another run")
	}
	if c.Place != nil {
		info.Place = *c.Place
	}
	return c, info, err
}

func (m *Mesh) unreadable(l *wire.Link, err error) {
	m.log.Warn("what a node tells of others cannot be read", "node", m.config.Node, "peer", l.Peer().Node, "error", err)
}

func appendSum(to []byte, sum uint64) []byte {
	for range 8 {
		to, sum = append(to, byte(sum)), sum>>8
	}
	return to
}
