package mesh

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/wire"
)

// offered makes the next version of this node's catalog from its services. The catalog of an observer has only the events that it listens
// to, for which emitters do not wait: an observer is no part of the cluster's work.
func (m *Mesh) offered() membership.Catalog {
	c := membership.Catalog{Node: m.config.Node, Instance: m.info.Load().Instance, Version: m.announced.Version + 1, Place: m.movedTo()}
	if m.config.ClientOnly {
		c.Services = watched(m.host.Services())
	} else {
		c.Services, c.Waiting, c.Decisions = m.host.Services(), m.host.Waiting(), m.host.Decisions()
	}
	return c
}

// watched returns what services listen to, without their actions.
func watched(services []membership.Service) (list []membership.Service) {
	for _, s := range services {
		if len(s.Events) == 0 {
			continue
		}
		w := membership.Service{Name: s.Name, Version: s.Version, Description: s.Description, Unlisted: true}
		for _, e := range s.Events {
			e.Watch = true
			w.Events = append(w.Events, e)
		}
		list = append(list, w)
	}
	return list
}

// CatalogChanged sends this node's catalog to all other nodes, soon. It does not wait.
func (m *Mesh) CatalogChanged() { wake(m.catalogChanged) }

// announceLoop sends the catalog to all other nodes whenever it has changed. Once a second it gives balancers the load that the
// other nodes report, and has the host compare the nodes.
func (m *Mesh) announceLoop() {
	loads := time.NewTicker(wire.DefaultPingInterval)
	defer loads.Stop()
	for {
		select {
		case <-m.catalogChanged:
		case <-loads.C:
			m.updateLoads()
			m.refusals.flush()
			m.tend()
			m.host.Look()
			continue
		case <-m.ctx.Done():
			return
		}
		m.announce()
	}
}

// announce sends all other nodes what has changed of what this node offers.
func (m *Mesh) announce() {
	m.announcing.Lock()
	now := m.offered()
	difference, changed := now.Since(&m.announced)
	changed = changed || m.announced.Version == 0
	if changed {
		m.announced = now
	}
	m.mu.Lock()
	var summary []byte
	if m.sparse {
		changed = changed || m.relay.own.Node == "" // links are made on demand since a moment ago
		summary = listText(m.summarizeOwn())
	}
	m.mu.Unlock()
	m.announcing.Unlock()
	if !changed {
		return
	}
	m.mu.Lock() // after announced is set: a link that is not there yet gets the whole of it
	defer m.mu.Unlock()
	text := catalogText(difference)
	for _, p := range m.peers {
		for _, l := range p.Links() {
			if summary != nil && m.summarized(p) {
				m.post(l, topicSummaries, summary)
			} else {
				m.post(l, topicCatalog, text)
			}
		}
	}
}

// sendCatalog sends the whole catalog of this node, or its summary, over a new link.
func (m *Mesh) sendCatalog(l *wire.Link) {
	m.announcing.Lock()
	defer m.announcing.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.peers[l.Peer().Node]; p != nil && m.summarized(p) {
		m.post(l, topicSummaries, listText(m.summarizeOwn()))
		return
	}
	m.post(l, topicCatalog, catalogText(m.announced))
}

// sendRequested sends the whole catalog to a peer that asked for it. Whatever a peer asks, one is on its way at a time; it gets another
// where it asked again meanwhile, since that may have been for a later version.
func (m *Mesh) sendRequested(l *wire.Link) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.peers[l.Peer().Node]
	if p == nil {
		return
	}
	if p.requests++; p.requests > 1 {
		return
	}
	m.running.Go(func() {
		for again := true; again; {
			m.mu.Lock()
			p.requests = 1
			m.mu.Unlock()
			sent := m.postNow(l, topicCatalog, m.wholeCatalog())
			m.mu.Lock()
			again = sent && p.requests > 1
			if !again {
				p.requests = 0
			}
			m.mu.Unlock()
		}
	})
}

func (m *Mesh) wholeCatalog() []byte {
	m.announcing.Lock()
	whole := m.announced
	m.announcing.Unlock()
	return catalogText(whole)
}

func (m *Mesh) updateLoads() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.peers {
		if l := p.Link(); l != nil {
			p.stats.Load().SetLoad(int(l.Load().Calls))
		}
	}
}

func catalogText(c membership.Catalog) []byte {
	text, err := stdjson.Marshal(c)
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	return text
}

// post sends a message over a link, on a goroutine of its own.
func (m *Mesh) post(l *wire.Link, topic uint8, text []byte) {
	m.running.Go(func() { m.postNow(l, topic, text) })
}

// postNow sends a message over a link and reports whether it did. It closes the link of a peer that does not take it in time.
func (m *Mesh) postNow(l *wire.Link, topic uint8, text []byte) bool {
	ctx, cancel := context.WithTimeout(m.ctx, sendCatalogTimeout)
	defer cancel()
	err := l.Post(ctx, topic, text)
	if err != nil {
		l.Close(err)
	}
	return err == nil
}

const sendCatalogTimeout = 10 * time.Second

// updateLoop applies the catalogs that came, and the loss of links, to the tables that calls go by. All that comes during
// one update is applied together by the next.
func (m *Mesh) updateLoop() {
	var built *membership.View
	for {
		select {
		case <-m.update:
		case <-m.ctx.Done():
			return
		}
		m.applyCatalogs()
		if view := m.registry.View(); m.takeTouched() || view != built {
			m.host.Rebuild(view)
			built = view
		}
		m.confirmCatalogs()
		m.mu.Lock()
		for _, p := range m.peers {
			if p.hasCatalog {
				closeOnce(p.synced)
			}
		}
		sparse := m.sparse
		m.mu.Unlock()
		if sparse {
			sleep(m.ctx, updatePause)
		}
	}
}

// updatePause is how long further changes are waited for in a large cluster: tables cost as much as there are services, and where many nodes
// start or end at once, so does each of their changes.
const updatePause = 100 * time.Millisecond

// touch has the tables made anew, though no catalog has changed: peers have, or what is known of them. The caller holds mu.
func (m *Mesh) touch() {
	m.touched = true
	wake(m.update)
}

// takeTouched reports whether touch was called since it was called last.
func (m *Mesh) takeTouched() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	touched := m.touched
	m.touched = false
	return touched
}

// receiveCatalog keeps a catalog for updateLoop. Posts can overtake each other, so the version decides and not the order; a
// catalog of an earlier run of the node is ignored.
func (m *Mesh) receiveCatalog(l *wire.Link, text []byte) {
	node := l.Peer().Node
	c, err := membership.ParseCatalog(text)
	if err == nil {
		c.Node = node // a node can speak for itself only
		m.leaveOut(l.Peer(), &c)
		err = m.takeCatalog(l, c)
	}
	if err != nil {
		m.log.Warn("what a node offers cannot be read", "node", m.config.Node, "peer", node, "error", err)
	}
}

// takeCatalog keeps a catalog, or makes one of a difference. Where that is not one to what is known, it asks for the whole, once, and again
// where the answer is older than the newest difference that was of no use.
func (m *Mesh) takeCatalog(l *wire.Link, c membership.Catalog) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.peers[c.Node]
	if p == nil || p.info.Instance != c.Instance {
		return nil
	}
	whole := c.Base == 0
	if whole && p.missed > c.Version {
		m.post(l, topicCatalogRequest, nil)
	} else if whole {
		p.missed = 0
	}
	known := p.catalog
	if known == nil && !whole {
		known = m.knownCatalog(p)
	}
	if known != nil && known.Instance == c.Instance && known.Version >= c.Version {
		if whole { // over a new link: the confirmation of what is known may have been lost with another one
			p.toConfirm = true
			wake(m.update)
		}
		return nil
	}
	if !whole {
		if p.leaving { // it offers nothing any more
			return nil
		}
		next, err := known.With(&c)
		if errors.Is(err, membership.ErrWrongBase) {
			if p.missed == 0 {
				m.post(l, topicCatalogRequest, nil)
			}
			p.missed = max(p.missed, c.Version)
			return nil
		}
		if err != nil {
			return err
		}
		if c = next; c.Version >= p.missed {
			p.missed = 0
		}
	}
	p.catalog = &c
	wake(m.update)
	return nil
}

// knownCatalog is the newest catalog of a peer, applied or not; nil for none. The caller holds mu.
func (m *Mesh) knownCatalog(p *Peer) *membership.Catalog {
	if p.catalog != nil {
		return p.catalog
	}
	return m.registry.View().Catalog(p.ID)
}

// applyCatalogs moves the catalogs that came into the registry, for the nodes that there is a link to.
func (m *Mesh) applyCatalogs() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.peers {
		if p.catalog == nil || len(p.Links()) == 0 {
			continue
		}
		if !p.leaving {
			m.registry.Set(*p.catalog)
		}
		if p.catalog.Place != nil {
			p.moveTo(*p.catalog.Place)
		}
		p.catalog, p.hasCatalog, p.toConfirm = nil, true, true
	}
	m.applySummaries()
}

// closeOnce closes a channel unless it is closed. Only one goroutine may call it at a time.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
