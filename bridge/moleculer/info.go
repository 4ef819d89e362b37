package moleculer

import (
	"bytes"
	"maps"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/moduleversion"
	"github.com/sabir-go/sabir/internal/names"
)

// infoPacket is INFO: what a node is and offers.
type infoPacket struct {
	head
	Services   []infoService `json:"services"`
	Hostname   string        `json:"hostname"`
	IPList     []string      `json:"ipList"`
	Port       int           `json:"port"` // of the transporter TCP
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
	Description  loose                 `json:"description,omitempty"`
	Actions      map[string]infoAction `json:"actions"` // by full name
	Events       map[string]infoEvent  `json:"events"`
}

type infoAction struct {
	Name        string `json:"name"`
	RawName     string `json:"rawName"`
	Description loose  `json:"description,omitempty"`
	Params      raw    `json:"params,omitempty"` // a schema of fastest-validator
	Rest        raw    `json:"rest,omitempty"`   // the addresses that moleculer-web gives it
	Visibility  string `json:"visibility,omitempty"`
	Cache       any    `json:"cache"`

	input string // of an action of another node: what params say, for listings
}

type infoEvent struct {
	Name  string `json:"name"`
	Group string `json:"group,omitempty"`
}

// ownInfo keeps the services of this node as they were announced last, to see whether they have changed.
type ownInfo struct {
	mu       sync.Mutex
	services []byte // as JSON
	list     []infoService
	seq      int
	params   map[reflect.Type]raw // of inputs; used by follow only
}

// exposed lists the actions and the groups of event handlers that Moleculer nodes can reach here. It never changes: update replaces it.
type exposed struct {
	actions map[string]*sabir.Action // by full name
	inputs  map[string]codec.Codec   // of actions, by full name
	groups  []string                 // of event handlers
}

// announce has follow send the others what is exposed now.
func (b *bridge) announce() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// follow sends the other nodes what is exposed whenever that has changed.
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

// update finds out what is exposed, and sends it to the other nodes if it has changed.
func (b *bridge) update() {
	now, services := b.exposes()
	text, err := json.Codec.Append(nil, services)
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
	if !b.leaving.Load() {
		b.exposed.Store(now)
	}
	b.share(services)
	if !same {
		b.sendInfo("", "")
	}
}

// exposes returns what Moleculer nodes can reach now, and its description for INFO.
func (b *bridge) exposes() (*exposed, []infoService) {
	now := &exposed{actions: make(map[string]*sabir.Action), inputs: make(map[string]codec.Codec)}
	services := map[string]*infoService{"$node": nodeService()}
	if !b.open.Load() || b.leaving.Load() {
		return now, []infoService{*services["$node"]}
	}
	service := func(full string, version int) *infoService {
		s := services[full]
		if s == nil {
			s = &infoService{Name: full, FullName: full, Settings: serviceSettings, Metadata: noMembers, Actions: map[string]infoAction{}, Events: map[string]infoEvent{}}
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
		now.actions[a.Name], now.inputs[a.Name] = a, routedFormat(b.wire.values, a.Routes)
		service(a.Service, a.Version).Actions[a.Name] = infoAction{Name: a.Name, RawName: a.Short, Description: loose(a.Description), Params: b.paramsFor(a), Rest: restOf(a.Routes), Cache: false}
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
	return slices.ContainsFunc(b.Expose, func(p string) bool { return names.Match(p, full) || names.Match(p, short) })
}

// sendInfo sends INFO, with what this node is and offers, to one node; to all nodes, in all versions, where to is "".
func (b *bridge) sendInfo(version, to string) {
	members, _ := b.infoMembers()
	if to != "" {
		b.publish("INFO."+to, b.packet(version, members))
		return
	}
	for _, v := range b.versions {
		b.publish("INFO", b.packet(v, members))
	}
}

// hosts are the addresses of this node, for ipList. With a broker nobody dials them: they are for people, such as in the REPL's "nodes".
func (b *bridge) hosts() []string {
	if b.mesh != nil {
		return b.mesh.hosts
	}
	return reachableHosts()
}

// infoMembers are the members of INFO, each behind a comma, and its seq.
func (b *bridge) infoMembers() (members string, seq int) {
	host, _ := os.Hostname()
	hosts, _ := json.Codec.Append(nil, b.hosts())
	port := []byte("null")
	if b.mesh != nil {
		host = b.mesh.hosts[0]
		port = strconv.AppendInt(nil, int64(b.mesh.port), 10)
	}
	b.info.mu.Lock()
	services, seq := b.info.services, b.info.seq+1
	b.info.mu.Unlock()
	if services == nil {
		services = []byte("[]")
	}
	out := append([]byte(`,"services":`), services...)
	out = append(append(out, `,"ipList":`...), hosts...)
	out = append(append(out, `,"port":`...), port...)
	out = appendText(append(out, `,"hostname":`...), host)
	out = appendText(append(out, `,"client":{"type":"sabir","version":`...), moduleversion.Current)
	out = appendText(append(out, `,"langVersion":`...), runtime.Version())
	out = appendText(append(out, `},"config":{},"metadata":{},"instanceID":`...), b.instance)
	return string(strconv.AppendInt(append(out, `,"seq":`...), int64(seq), 10)), seq
}

// ownInfo is INFO as gossip tells it.
func (b *bridge) ownInfo() []byte {
	members, _ := b.infoMembers()
	return []byte("{" + members[1:] + "}")
}

// raiseSeq makes the seq of INFO larger than one that others know.
func (b *bridge) raiseSeq(known int) {
	b.info.mu.Lock()
	defer b.info.mu.Unlock()
	if b.info.seq < known {
		b.info.seq = known
	}
}
