package mesh

import (
	"context"
	stdjson "encoding/json"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/wire"
)

// catalog returns the catalog that this node sends to the others. That of an observer has the events that it listens to only, for
// which emitters do not wait: it is no part of the cluster's work.
func (m *Mesh) catalog() membership.Catalog {
	m.mu.Lock()
	m.version++
	c := membership.Catalog{Node: m.config.Node, Instance: m.info.Instance, Version: m.version}
	m.mu.Unlock()
	if m.config.ClientOnly {
		c.Services = watched(m.host.Services())
	} else {
		c.Services, c.Waiting = m.host.Services(), m.host.Waiting()
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
			m.host.Look()
			continue
		case <-m.ctx.Done():
			return
		}
		m.mu.Lock()
		var links []*wire.Link
		for _, p := range m.peers {
			links = append(links, p.Links()...)
		}
		m.mu.Unlock()
		text := m.catalogText()
		for _, l := range links {
			m.sendCatalog(l, text)
		}
	}
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

func (m *Mesh) catalogText() []byte {
	text, err := stdjson.Marshal(m.catalog())
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	return text
}

// sendCatalog sends this node's catalog over a link. It closes the link of a peer that does not take the catalog in time.
func (m *Mesh) sendCatalog(l *wire.Link, text []byte) {
	m.running.Go(func() {
		ctx, cancel := context.WithTimeout(m.ctx, sendCatalogTimeout)
		defer cancel()
		if err := l.Post(ctx, topicCatalog, text); err != nil {
			l.Close(err)
		}
	})
}

const sendCatalogTimeout = 10 * time.Second

// updateLoop applies the catalogs that came, and the loss of links, to the tables that calls go by. All that comes during
// one update is applied together by the next.
func (m *Mesh) updateLoop() {
	for {
		select {
		case <-m.update:
		case <-m.ctx.Done():
			return
		}
		m.applyCatalogs()
		m.host.Rebuild(m.registry.View())
		m.mu.Lock()
		for _, p := range m.peers {
			if p.hasCatalog {
				closeOnce(p.synced)
			}
		}
		m.mu.Unlock()
	}
}

// receiveCatalog keeps a catalog for updateLoop. Posts can overtake each other, so the version decides and not the order; a
// catalog of an earlier run of the node is ignored.
func (m *Mesh) receiveCatalog(node string, text []byte) {
	c, err := membership.ParseCatalog(text)
	if err != nil {
		m.log.Warn("what a node offers cannot be read", "node", m.config.Node, "peer", node, "error", err)
		return
	}
	c.Node = node // a node can speak for itself only
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.peers[node]
	if p == nil || p.info.Instance != c.Instance {
		return
	}
	if p.catalog == nil || p.catalog.Version < c.Version {
		p.catalog = &c
		wake(m.update)
	}
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
		p.catalog, p.hasCatalog = nil, true
	}
}

// closeOnce closes a channel unless it is closed. Only one goroutine may call it at a time.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
