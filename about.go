package sabir

import (
	stdjson "encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/wire"
)

// about is what a node tells of itself when a link is made.
type about struct {
	Instance uint64            `json:"instance"` // one run of the node
	Addr     string            `json:"addr,omitempty"`
	Zone     string            `json:"zone,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Guest    bool              `json:"guest,omitempty"`
	Codecs   []string          `json:"codecs,omitempty"` // formats that it takes; nil for any
	Host     string            `json:"host"`
	PID      int               `json:"pid"`
	Go       string            `json:"go"`
	CPUs     int               `json:"cpus"`
	Since    time.Time         `json:"since"`
}

func aboutNode(m *mesh) about {
	return about{Instance: uint64(m.node.epoch.UnixNano()), Addr: m.ownAddress(), Zone: m.config.zone, Labels: m.config.labels, Guest: m.config.guest,
		Codecs: m.node.understood(), Host: hostname(), PID: processID, Go: runtime.Version(), CPUs: runtime.GOMAXPROCS(0), Since: m.node.started}
}

func (a about) json() []byte {
	text, err := stdjson.Marshal(a)
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	return text
}

func parseAbout(text []byte) (about, error) {
	var a about
	if err := stdjson.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("what the node tells of itself cannot be read: %w", err)
	}
	return a, nil
}

// ownAddress is where the others dial this node; "" for a guest.
func (m *mesh) ownAddress() string {
	if m.listener == nil {
		return ""
	}
	return m.listener.Addr()
}

func (m *mesh) member() cluster.Member {
	return cluster.Member{ID: m.node.id, Addr: m.about.Addr, Zone: m.about.Zone, Labels: m.about.Labels, Guest: m.about.Guest, Instance: m.about.Instance}
}

// NodeInfo describes a node of the cluster.
type NodeInfo struct {
	ID       string            `json:"id"`
	State    string            `json:"state"`
	Since    time.Time         `json:"since"`
	Addr     string            `json:"addr,omitempty"` // where its links are dialled; "" outside a cluster
	Zone     string            `json:"zone,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Guest    bool              `json:"guest,omitempty"`
	Codecs   []string          `json:"codecs,omitempty"` // formats that it takes; nil for any
	Host     string            `json:"host"`
	PID      int               `json:"pid"`
	Go       string            `json:"go"`
	CPUs     int               `json:"cpus"`
	Services int               `json:"services"`
	Actions  int               `json:"actions"`
	Load     NodeLoad          `json:"load"`
	RTT      time.Duration     `json:"rtt,omitempty"` // of a ping over the link to it, in nanoseconds
}

// NodeLoad is how busy a node said it was in its last heartbeat.
type NodeLoad struct {
	CPU      float64 `json:"cpu"`      // share of its processors that its process uses, 0 to 1
	InFlight int     `json:"inFlight"` // calls from other nodes that it is serving
}

// Info describes this node.
func (n *Node) Info() NodeInfo {
	t := n.table.Load()
	actions := 0
	for _, p := range t.byFull {
		actions += len(p.endpoints)
	}
	n.tableLock.Lock()
	since := n.started
	n.tableLock.Unlock()
	info := NodeInfo{ID: n.id, State: n.State().String(), Since: since, Codecs: n.understood(), Host: hostname(), PID: processID,
		Go: runtime.Version(), CPUs: runtime.GOMAXPROCS(0), Services: len(t.byFull), Actions: actions}
	if m := n.mesh.Load(); m != nil {
		info.Addr, info.Zone, info.Labels, info.Guest = m.ownAddress(), m.config.zone, m.config.labels, m.config.guest
		info.Load = loadInfo(n.load())
	}
	return info
}

// Nodes describes the nodes of the cluster that this one is linked with, itself first, the others by name.
func (n *Node) Nodes() []NodeInfo {
	list := []NodeInfo{n.Info()}
	if m := n.mesh.Load(); m != nil {
		list = append(list, m.nodes()...)
	}
	return list
}

func (m *mesh) nodes() []NodeInfo {
	view := m.registry.View()
	m.mu.Lock()
	defer m.mu.Unlock()
	open := make(map[string]bool) // links that take no new calls too
	for l := range m.open {
		open[l.Peer().Node] = true
	}
	var list []NodeInfo
	for _, p := range m.peers {
		links := p.allLinks()
		if !open[p.id] || len(links) == 0 && !p.leaving {
			continue
		}
		a := p.about
		info := NodeInfo{ID: p.id, State: Running.String(), Since: a.Since, Addr: a.Addr, Zone: a.Zone, Labels: maps.Clone(a.Labels), Guest: a.Guest, Codecs: a.Codecs,
			Host: a.Host, PID: a.PID, Go: a.Go, CPUs: a.CPUs}
		if p.leaving {
			info.State = Stopping.String()
		}
		for _, s := range view.Services(p.id) {
			info.Services++
			info.Actions += len(s.Actions)
		}
		if len(links) > 0 {
			info.Load, info.RTT = loadInfo(links[0].Load()), links[0].RTT()
		}
		list = append(list, info)
	}
	slices.SortFunc(list, func(a, b NodeInfo) int { return strings.Compare(a.ID, b.ID) })
	return list
}

func loadInfo(l wire.Load) NodeLoad {
	return NodeLoad{CPU: max(0, float64(l.CPU)), InFlight: int(l.Calls)}
}

// load is what the node tells in its heartbeats.
func (n *Node) load() wire.Load {
	load := wire.Load{CPU: processorShare()}
	if m := n.mesh.Load(); m != nil {
		load.Calls = uint32(m.wire.Limits.InFlight.InUse())
	}
	return load
}

// processorUse is what processorShare saw last.
var processorUse struct {
	sync.Mutex
	when  time.Time
	used  float64 // seconds
	share float32
}

// processorShare is the share of the processors that this process used, over the last second or so.
func processorShare() float32 {
	u := &processorUse
	u.Lock()
	defer u.Unlock()
	now := time.Now()
	past := now.Sub(u.when).Seconds()
	if past < 0.5 {
		return u.share
	}
	used := processorSeconds()
	if !u.when.IsZero() {
		u.share = float32(min(1, max(0, (used-u.used)/past/float64(runtime.GOMAXPROCS(0)))))
	}
	u.when, u.used = now, used
	return u.share
}
