package sabir

import (
	"context"
	stdjson "encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/wire"
)

// catalog is what this node offers to the others: its services without the node's own and without private actions. While
// the node starts or stops that is nothing.
func (m *mesh) catalog() cluster.Catalog {
	m.mu.Lock()
	m.version++
	c := cluster.Catalog{Node: m.node.id, Instance: m.about.Instance, Version: m.version}
	m.mu.Unlock()
	if m.node.State() != Running || m.config.guest {
		return c
	}
	all := m.node.table.Load().byFull
	for _, full := range slices.Sorted(maps.Keys(all)) {
		if p := all[full]; p.service.name[0] != '$' {
			c.Services = append(c.Services, describeService(p))
		}
	}
	return c
}

func describeService(p *published) cluster.Service {
	s := p.service
	out := cluster.Service{Name: s.name, Version: s.version, Preferred: s.preferred, Group: s.group, Description: s.description, Needs: s.needs}
	for _, e := range p.endpoints {
		if a := e.info(); a.Visibility != Private {
			out.Actions = append(out.Actions, cluster.Action{Name: a.Name, Description: a.Description, Visibility: a.Visibility.String(),
				Inline: a.Inline, Stream: a.Stream, Idempotent: a.Idempotent, Codecs: a.Codecs, Routes: routesText(a.Routes), In: typeName(a.In), Out: typeName(a.Out)})
		}
	}
	for _, h := range s.handlers {
		out.Events = append(out.Events, cluster.Subscription{Pattern: h.pattern, Group: h.group})
	}
	return out
}

// tellLoop tells the others whenever what this node offers has changed, and passes on to the balancers what they tell of
// their load.
func (m *mesh) tellLoop() {
	loads := time.NewTicker(wire.DefaultPingInterval)
	defer loads.Stop()
	for {
		select {
		case <-m.tell:
		case <-loads.C:
			m.takeLoads()
			continue
		case <-m.ctx.Done():
			return
		}
		m.mu.Lock()
		var links []*wire.Link
		for _, p := range m.peers {
			links = append(links, p.allLinks()...)
		}
		m.mu.Unlock()
		text := m.catalogText()
		for _, l := range links {
			m.tellTo(l, text)
		}
	}
}

func (m *mesh) takeLoads() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.peers {
		if l := p.link(); l != nil {
			p.stats.Load().SetLoad(int(l.Load().Calls))
		}
	}
}

func (m *mesh) catalogText() []byte {
	text, err := stdjson.Marshal(m.catalog())
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	return text
}

// tellTo sends this node's catalog over a link. A peer that does not take it in time has a link that is as good as lost.
func (m *mesh) tellTo(l *wire.Link, text []byte) {
	m.running.Go(func() {
		ctx, cancel := context.WithTimeout(m.ctx, tellLimit)
		defer cancel()
		if err := l.Post(ctx, topicCatalog, text); err != nil {
			l.Close(err)
		}
	})
}

const tellLimit = 10 * time.Second

// updateLoop takes over what the other nodes told, and what became of their links, into the tables that calls go by. What
// comes while it works is taken over together the next time.
func (m *mesh) updateLoop() {
	for {
		select {
		case <-m.update:
		case <-m.ctx.Done():
			return
		}
		m.takeCatalogs()
		m.node.rebuild(m.registry.View())
		m.mu.Lock()
		for _, p := range m.peers {
			if p.heard {
				closeOnce(p.told)
			}
		}
		m.mu.Unlock()
	}
}

// offered hears what a node offers. Posts may pass each other on their way: the newest counts, not the last, and what a
// former self of the node said does not count at all.
func (m *mesh) offered(node string, text []byte) {
	c, err := cluster.ParseCatalog(text)
	if err != nil {
		m.log.Warn("what a node offers cannot be read", "node", m.node.id, "peer", node, "error", err)
		return
	}
	c.Node = node // a node can speak for itself only
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.peers[node]; p == nil || p.about.Instance != c.Instance {
		return
	}
	if old, waits := m.catalogs[node]; !waits || old.Version < c.Version {
		m.catalogs[node] = c
		wake(m.update)
	}
}

// takeCatalogs puts what has come into the registry, for the nodes that there is a link to.
func (m *mesh) takeCatalogs() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for node, c := range m.catalogs {
		p := m.peers[node]
		if p == nil || len(p.allLinks()) == 0 {
			if p == nil {
				delete(m.catalogs, node)
			}
			continue
		}
		delete(m.catalogs, node)
		p.heard = true
		if !p.leaving {
			m.registry.Set(c)
		}
	}
}

// closeOnce closes a channel that nobody sends on, if it is open. One goroutine at a time may call it.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
