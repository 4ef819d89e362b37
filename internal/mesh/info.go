package mesh

import (
	"encoding/json"
	"fmt"
	"maps"
	"sort"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/wire"
)

// Info describes a node. Each side of a link sends its own in the handshake.
type Info struct {
	Instance uint64 `json:"instance"` // one run of the node
	Addr     string `json:"addr,omitempty"`
	membership.Place
	ClientOnly bool      `json:"guest,omitempty"`
	OnDemand   bool      `json:"on_demand,omitempty"` // it takes summaries, and links to it may come to rest
	Keeps      bool      `json:"keeps,omitempty"`     // links to others of which the same is true stay: something of it is lost with them
	Codecs     []string  `json:"codecs,omitempty"`    // formats that it takes; nil for any
	Host       string    `json:"host"`
	PID        int       `json:"pid"`
	Go         string    `json:"go"`
	CPUs       int       `json:"cpus"`
	Since      time.Time `json:"since"`
}

// ownInfo completes what the node knows of itself by what is the mesh's: the address and the options of Join.
func (m *Mesh) ownInfo() Info {
	info := m.config.Info
	info.OnDemand = m.config.sharesCatalogs()
	info.Addr, info.Place, info.ClientOnly = m.OwnAddress(), membership.Place{Zone: m.config.Zone, Labels: m.config.Labels}, m.config.ClientOnly
	return info
}

func (a Info) encode() []byte {
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	return text
}

func parseInfo(text []byte) (Info, error) {
	var a Info
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("the node's description cannot be read: %w", err)
	}
	return a, nil
}

// Codecs is the formats that the node at the other end of a link takes, the best first; nil for any.
func Codecs(l *wire.Link) []string {
	info, _ := parseInfo(l.Peer().NodeInfo) // admit has read it before
	return info.Codecs
}

// OwnAddress is the address at which the others dial this node; "" for an observer, which does not listen.
func (m *Mesh) OwnAddress() string {
	if m.listener == nil {
		return ""
	}
	return m.listener.Addr()
}

// Member is this node as its cluster knows it.
func (m *Mesh) Member() membership.Member {
	info := m.info.Load()
	return membership.Member{ID: m.config.Node, Addr: info.Addr, ClientOnly: info.ClientOnly, Instance: info.Instance}
}

// Node is another node that this one is linked with, for listings.
type Node struct {
	Info
	ID       string
	Stopping bool // it takes no new calls
	Silent   bool // it answers nothing for the moment
	Services int
	Actions  int
	Load     wire.Load
	RTT      time.Duration
	Links    int // that calls go over
}

// Links is the number of links that calls of this node can go over.
func (m *Mesh) Links() (count int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.peers {
		count += len(p.Links())
	}
	return count
}

// Nodes lists the other nodes that this one has links to, or can make one to when it calls them, by name.
func (m *Mesh) Nodes() []Node {
	view := m.registry.View()
	m.mu.Lock()
	defer m.mu.Unlock()
	open := make(map[string]bool) // links that take no new calls too
	for l := range m.open {
		open[l.Peer().Node] = true
	}
	var list []Node
	for _, p := range m.peers {
		links := p.Links()
		if !p.atRest.Load() && (!open[p.ID] || len(links) == 0 && !p.leaving) {
			continue
		}
		n := Node{Info: p.info, ID: p.ID, Stopping: p.leaving, Silent: p.Suspected(), Links: len(links)}
		n.Labels = maps.Clone(p.info.Labels)
		for _, s := range view.Services(p.ID) {
			if s.Unlisted {
				continue
			}
			n.Services++
			n.Actions += len(s.Actions)
		}
		if len(links) > 0 {
			n.Load, n.RTT = links[0].Load(), links[0].RTT()
		}
		list = append(list, n)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID }) // slices.SortFunc takes 20 KB of the program for each struct
	return list
}
