package moleculer

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/introspect"
)

// takeInfo takes what another node offers. A forged one harms nobody but the node of its name, as for Moleculer's own nodes.
func (b *bridge) takeInfo(data []byte) {
	if len(data) > membership.MaxCatalog {
		b.note("a packet was refused", "INFO", fmt.Errorf("it has %d bytes: %d is the limit", len(data), membership.MaxCatalog))
		return
	}
	var info infoPacket
	if err := b.wire.decode(data, &info); err != nil {
		b.refused("INFO", data, err)
		return
	}
	if info.Sender == b.id {
		if info.InstanceID != b.instance && b.peers.contest(info.InstanceID) {
			b.node.Log().Error("another node has this one's id among the Moleculer nodes: give one of them another", "node", b.id)
			if b.mesh == nil {
				b.sendInfo(info.Version, b.id) // by which a Moleculer node that came later ends, with an error in its log
				b.mistaken.Store(true)
			}
		}
		return
	}
	if b.speaks(info.Version) {
		b.putPeer(&info)
	}
}

// putPeer adds a node, or takes what has changed of one.
func (b *bridge) putPeer(info *infoPacket) {
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
	info.describeInputs()
	added := p == nil
	if added {
		naming.Lock()
		defer naming.Unlock()
		p = &peer{bridge: b, id: info.Sender, name: b.nameOf(info.Sender), since: time.Now(), instance: info.InstanceID}
		p.ctx, p.gone = context.WithCancel(b.ctx)
		p.seen.Store(p.since.UnixNano())
	}
	b.peers.mu.Lock()
	if added && len(b.peers.known) >= maxPeers {
		b.peers.mu.Unlock()
		p.gone()
		b.note("a node was refused", "INFO", fmt.Errorf("%d nodes are known, which is all there may be", maxPeers))
		return
	}
	p.version, p.seq, p.info = info.Version, info.Seq, *info
	b.peers.known[p.id] = p
	b.peers.mu.Unlock()
	if added && b.mesh == nil { // over TCP nothing is unheard
		b.ask(p, p.since)
	}
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

// offers has the names of a peer's actions and the patterns of its events, as calls and events look them up.
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

// offered describes the peer's services for the routing table. Names that are not allowed here are left out. The caller holds peers.mu.
func (p *peer) offered() (o sabir.ForeignOffer) {
	c := p.info.Client
	o.Node = introspect.Node{Framework: strings.TrimSpace("moleculer " + clip(c.Version)), Host: clip(p.info.Hostname), Go: strings.TrimSpace(clip(c.Type + " " + c.LangVersion)), Since: p.since, Silent: p.silent}
	seen := make(map[string]bool)
	for i := range p.info.Services {
		s := &p.info.Services[i]
		full, version := s.full()
		ofNode := strings.HasPrefix(full, "$") // its actions are for that node alone, such as $node.list
		if names.Fault(full) != "" || ofNode && len(s.Events) == 0 {
			continue
		}
		if !seen[full] {
			seen[full] = true
			o.Services = append(o.Services, introspect.Service{Name: full, Version: version, Description: clip(string(s.Description))})
		}
		for _, name := range slices.Sorted(maps.Keys(s.Actions)) {
			if a := s.Actions[name]; !ofNode && names.Fault(name) == "" && strings.HasPrefix(name, full+".") && !seen[name] {
				seen[name] = true
				o.Actions = append(o.Actions, introspect.Action{Name: name, Service: full, Version: version, Description: clip(string(a.Description)), Visibility: a.visibilityOf(), In: a.input})
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
