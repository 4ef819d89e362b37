package moleculer

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/introspect"
)

// infoPacket is INFO: what a node is and offers.
type infoPacket struct {
	head
	Services   []infoService `json:"services"`
	Hostname   string        `json:"hostname"`
	IPList     []string      `json:"ipList"`
	Client     infoClient    `json:"client"`
	InstanceID string        `json:"instanceID"`
	Metadata   raw           `json:"metadata"`
	Config     raw           `json:"config"`
	Seq        int           `json:"seq"`
}

type infoClient struct {
	Type        string `json:"type"`
	Version     string `json:"version"`
	LangVersion string `json:"langVersion"`
}

type infoService struct {
	Name         string                `json:"name"`
	Version      any                   `json:"version,omitempty"` // a number or a text
	FullName     string                `json:"fullName"`
	Settings     raw                   `json:"settings,omitempty"`
	Metadata     raw                   `json:"metadata,omitempty"`
	Dependencies raw                   `json:"dependencies,omitempty"`
	Description  string                `json:"description,omitempty"`
	Actions      map[string]infoAction `json:"actions"` // by full name
	Events       map[string]infoEvent  `json:"events"`
}

type infoAction struct {
	Name        string `json:"name"`
	RawName     string `json:"rawName"`
	Description string `json:"description,omitempty"`
	Params      raw    `json:"params,omitempty"`
	Visibility  string `json:"visibility,omitempty"`
	Cache       any    `json:"cache"`
}

type infoEvent struct {
	Name  string `json:"name"`
	Group string `json:"group,omitempty"`
}

// ownInfo is what this node has told the others of itself.
type ownInfo struct {
	mu       sync.Mutex
	services []byte // as JSON
	list     []infoService
	seq      int
}

// exposed is what Moleculer nodes can reach of this node at one moment.
type exposed struct {
	actions map[string]*sabir.Action // by full name
	groups  []string                 // of event handlers
}

// announce has the others told of what is exposed now, soon.
func (b *bridge) announce() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// follow tells the other nodes whenever what is exposed has changed.
func (b *bridge) follow() {
	for {
		next := b.node.Changed()
		b.update()
		select {
		case <-next:
		case <-b.changed:
		case <-b.ctx.Done():
			return
		}
	}
}

// update finds out what is exposed, and tells the other nodes if that has changed.
func (b *bridge) update() {
	now, services := b.exposes()
	text, err := json.Append(nil, services)
	if err != nil {
		return // there is nothing in it that JSON cannot hold
	}
	b.info.mu.Lock()
	same := bytes.Equal(text, b.info.services)
	if !same {
		b.info.services, b.info.list = text, services
		b.info.seq++
	}
	b.info.mu.Unlock()
	b.exposed.Store(now)
	if !same {
		b.sendInfo("", "")
	}
}

// exposes returns what Moleculer nodes can reach now, and how they are told of it.
func (b *bridge) exposes() (*exposed, []infoService) {
	now := &exposed{actions: make(map[string]*sabir.Action)}
	services := map[string]*infoService{"$node": nodeService()}
	if !b.open.Load() {
		return now, []infoService{*services["$node"]}
	}
	service := func(full string, version int) *infoService {
		s := services[full]
		if s == nil {
			s = &infoService{Name: full, FullName: full, Actions: map[string]infoAction{}, Events: map[string]infoEvent{}}
			if version > 0 {
				s.Name, s.Version = strings.TrimPrefix(full, "v"+strconv.Itoa(version)+"."), version
			}
			services[full] = s
		}
		return s
	}
	versions := make(map[string]int)
	for _, s := range b.node.Services() {
		if s.Node == b.node.ID() {
			versions[s.Name] = s.Version
		}
	}
	for _, a := range b.node.Actions() {
		if a.Node != b.node.ID() || !a.Public() || strings.HasPrefix(a.Name, "$") || !b.exposesName(a.Name) {
			continue
		}
		now.actions[a.Name] = a
		service(a.Service, a.Version).Actions[a.Name] = infoAction{Name: a.Name, RawName: a.Short, Description: a.Description, Cache: false}
	}
	for i, s := range b.node.Subscriptions() {
		if strings.HasPrefix(s.Service, "$") || services[s.Service] == nil && !b.exposesName(s.Service+".on") {
			continue
		}
		key := s.Pattern
		to := service(s.Service, versions[s.Service])
		if _, taken := to.Events[key]; taken {
			key += "#" + strconv.Itoa(i) // Moleculer goes by the name within
		}
		to.Events[key] = infoEvent{Name: s.Pattern, Group: s.Group}
		if !slices.Contains(now.groups, s.Group) {
			now.groups = append(now.groups, s.Group)
		}
	}
	list := make([]infoService, 0, len(services))
	for _, full := range slices.Sorted(maps.Keys(services)) {
		list = append(list, *services[full])
	}
	return now, list
}

// exposesName reports whether the name of an action is exposed, with or without its version.
func (b *bridge) exposesName(full string) bool {
	short := full
	if v, rest, ok := strings.Cut(full, "."); ok && len(v) > 1 && v[0] == 'v' && strings.Trim(v[1:], "0123456789") == "" {
		short = rest
	}
	return slices.ContainsFunc(b.config.expose, func(p string) bool { return names.Match(p, full) || names.Match(p, short) })
}

// sendInfo tells one node, or all in all versions where to is "", what this node is and offers.
func (b *bridge) sendInfo(version, to string) {
	host, _ := os.Hostname()
	b.info.mu.Lock()
	services, seq := b.info.services, b.info.seq
	b.info.mu.Unlock()
	if services == nil {
		services = []byte("[]")
	}
	rest := append([]byte(`,"services":`), services...)
	rest = appendText(append(rest, `,"ipList":[],"port":null,"hostname":`...), host)
	rest = appendText(append(rest, `,"client":{"type":"sabir","version":`...), sabir.ModuleVersion)
	rest = appendText(append(rest, `,"langVersion":`...), runtime.Version())
	rest = appendText(append(rest, `},"config":{},"metadata":{},"instanceID":`...), b.instance)
	rest = strconv.AppendInt(append(rest, `,"seq":`...), int64(seq+1), 10)
	if to != "" {
		b.publish("INFO."+to, b.packet(version, string(rest)))
		return
	}
	for _, v := range b.versions {
		b.publish("INFO", b.packet(v, string(rest)))
	}
}

// takeInfo takes what another node offers. A forged one harms nobody but the node of its name, as for Moleculer's own nodes.
func (b *bridge) takeInfo(data []byte) {
	if len(data) > membership.MaxCatalog {
		b.drops.note(b, "a packet was refused", "INFO", fmt.Errorf("it has %d bytes: %d is the limit", len(data), membership.MaxCatalog))
		return
	}
	var info infoPacket
	if err := decode(data, &info); err != nil {
		b.drops.note(b, "a packet was refused", "INFO", err)
		return
	}
	if info.Sender == b.id {
		if info.InstanceID != b.instance {
			b.node.Log().Error("another node has this one's id among the Moleculer nodes: give one of them another", "node", b.id)
		}
		return
	}
	if b.speaks(info.Version) {
		b.meet(&info)
	}
}

// meet adds a node, or takes what has changed of one.
func (b *bridge) meet(info *infoPacket) {
	b.peers.applying.Lock()
	defer b.peers.applying.Unlock()
	p := b.noticed(info.Sender)
	if p != nil && p.instance != info.InstanceID {
		b.drop(p.id, "was started again")
		p = nil
	}
	if p != nil && (p.version > info.Version || p.version == info.Version && p.seq >= info.Seq) {
		return // it speaks both versions; or this is no news
	}
	added := p == nil
	if added {
		p = &peer{bridge: b, id: info.Sender, since: time.Now(), instance: info.InstanceID}
		p.ctx, p.gone = context.WithCancel(b.ctx)
		p.seen.Store(p.since.UnixNano())
	}
	b.peers.mu.Lock()
	if added && len(b.peers.known) >= maxPeers {
		b.peers.mu.Unlock()
		p.gone()
		b.drops.note(b, "a node was refused", "INFO", fmt.Errorf("%d nodes are known, which is all there may be", maxPeers))
		return
	}
	p.version, p.seq, p.info = info.Version, info.Seq, *info
	b.peers.known[p.id] = p
	b.peers.mu.Unlock()
	b.offer(p)
}

// offer gives the node what a peer offers.
func (b *bridge) offer(p *peer) {
	b.peers.mu.Lock()
	offer := p.offered()
	b.peers.mu.Unlock()
	p.offers.Store(&offers{events: offer.Events, full: fullNames(offer.Actions)})
	if err := b.node.SetForeign(p, offer); err != nil {
		b.node.Log().Warn("what a Moleculer node offers is refused", "node", b.id, "peer", p.id, "error", err)
	}
}

// offers is what a peer offers, for the way of calls and events.
type offers struct {
	events []sabir.Subscription
	full   map[string]string // names of actions without the version, which Moleculer does not know
}

// fullNames maps names without a version to those of the highest.
func fullNames(actions []introspect.Action) map[string]string {
	full, versions := make(map[string]string), make(map[string]int)
	for _, a := range actions {
		if a.Version > 0 {
			if short := strings.TrimPrefix(a.Name, "v"+strconv.Itoa(a.Version)+"."); a.Version > versions[short] {
				full[short], versions[short] = a.Name, a.Version
			}
		}
	}
	for _, a := range actions {
		delete(full, a.Name)
	}
	return full
}

// setSilent notes whether a node answers.
func (b *bridge) setSilent(p *peer, silent bool) {
	b.peers.mu.Lock()
	changed := p.silent != silent
	p.silent = silent
	b.peers.mu.Unlock()
	if changed {
		b.offer(p)
	}
}

// offered is what the peer offers, without what has no name here. The caller holds peers.mu.
func (p *peer) offered() (o sabir.ForeignOffer) {
	c := p.info.Client
	o.Node = introspect.Node{Framework: "moleculer " + clip(c.Version), Host: clip(p.info.Hostname), Go: clip(c.Type + " " + c.LangVersion), Since: p.since, Silent: p.silent}
	seen := make(map[string]bool)
	for i := range p.info.Services {
		s := &p.info.Services[i]
		full, version := s.full()
		if names.Fault(full) != "" || strings.HasPrefix(full, "$") {
			continue
		}
		if !seen[full] {
			seen[full] = true
			o.Services = append(o.Services, introspect.Service{Name: full, Version: version, Description: clip(s.Description)})
		}
		for _, name := range slices.Sorted(maps.Keys(s.Actions)) {
			if a := s.Actions[name]; names.Fault(name) == "" && strings.HasPrefix(name, full+".") && !seen[name] {
				seen[name] = true
				o.Actions = append(o.Actions, introspect.Action{Name: name, Service: full, Version: version, Description: clip(a.Description), Visibility: introspect.ClusterOnly})
			}
		}
		for _, key := range slices.Sorted(maps.Keys(s.Events)) {
			if e, ok := subscriptionOf(full, s.Name, key, s.Events[key]); ok {
				o.Events = append(o.Events, e)
			}
		}
	}
	return o
}

// full is the full name of the service, and its version where that is a number.
func (s *infoService) full() (name string, version int) {
	prefix := ""
	switch v := s.Version.(type) {
	case float64:
		if version = int(v); version > 0 && float64(version) == v {
			prefix = "v" + strconv.Itoa(version) + "."
		} else {
			version = 0
		}
	case string:
		prefix = v + "."
	}
	if name = s.FullName; name == "" {
		name = prefix + s.Name
	}
	if version > 0 && !strings.HasPrefix(name, prefix) {
		version = 0 // its setting $noVersionPrefix: the name is as it is
	}
	return name, version
}

// subscriptionOf is an entry of events. Moleculer's patterns may have wildcards within a word; here such a word stands for any, and the node
// looks again at what it gets.
func subscriptionOf(service, group, key string, e infoEvent) (sabir.Subscription, bool) {
	pattern := e.Name
	if pattern == "" {
		pattern = key
	}
	words := strings.Split(pattern, ".")
	for i, w := range words {
		if w != "*" && w != "**" && strings.ContainsAny(w, "*?") {
			words[i] = "*"
		}
	}
	pattern = strings.Join(words, ".")
	if e.Group != "" {
		group = e.Group
	}
	return sabir.Subscription{Service: service, Pattern: pattern, Group: clip(group), Type: reflect.TypeFor[raw]()}, names.PatternFault(pattern) == "" && group != ""
}

// clip cuts texts of others to a length for listings.
func clip(text string) string { return strings.ToValidUTF8(text[:min(len(text), 200)], "") }

// groups are the groups in which the peer's handlers take the event.
func (p *peer) groups(name string) (list []string) {
	for _, e := range p.offers.Load().events {
		if names.Match(e.Pattern, name) && !slices.Contains(list, e.Group) {
			list = append(list, e.Group)
		}
	}
	return list
}
