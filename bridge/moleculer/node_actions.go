package moleculer

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/moduleversion"
)

// nodeActions are the actions by which Moleculer's own tools look at a node: its REPL and its lab call them on each. Their parameters and results are
// those of Moleculer's internal service.
var nodeActions = map[string]func(b *bridge, asked asked) any{
	"$node.list":     (*bridge).listNodes,
	"$node.services": (*bridge).listServices,
	"$node.actions":  (*bridge).listActions,
	"$node.events":   (*bridge).listEvents,
	"$node.health":   (*bridge).health,
	"$node.options":  func(b *bridge, _ asked) any { return object{"nodeID": b.id, "namespace": b.Namespace} },
	"$node.metrics":  func(*bridge, asked) any { return []any{} },
}

// asked has the parameters of a call of $node. All of them are booleans, which Moleculer converts from what an address of a gateway has: "true", "1", "on".
type asked map[string]any

func (a asked) is(name string, otherwise bool) bool {
	switch v := a[name].(type) {
	case nil:
		return otherwise
	case bool:
		return v
	case string:
		return v == "true" || v == "1" || v == "on"
	default:
		return fmt.Sprint(v) == "1"
	}
}

type object map[string]any

func nodeService() *infoService {
	s := &infoService{Name: "$node", FullName: "$node", Settings: noMembers, Metadata: noMembers, Actions: map[string]infoAction{}, Events: map[string]infoEvent{}}
	for name := range nodeActions {
		s.Actions[name] = infoAction{Name: name, RawName: name[len("$node."):], Cache: false}
	}
	return s
}

// listed is a service of a node, as $node lists it.
type listed struct {
	node string
	infoService
}

// leavesOut reports whether something of that name is internal and was not asked for.
func (a asked) leavesOut(name string) bool {
	return strings.HasPrefix(name, "$") && a.is("skipInternal", false)
}

// registry lists the services of this node, and those of the others where all are asked for.
func (b *bridge) registry(asked asked) (list []listed) {
	add := func(node string, services []infoService) {
		for _, s := range services {
			list = append(list, listed{node, s})
		}
	}
	b.info.mu.Lock()
	own := b.info.list
	b.info.mu.Unlock()
	add(b.id, own)
	if asked.is("onlyLocal", false) {
		return list
	}
	b.peers.mu.Lock()
	defer b.peers.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(b.peers.known)) {
		add(id, b.peers.known[id].info.Services)
	}
	return list
}

func (b *bridge) listNodes(asked) any {
	host, _ := os.Hostname()
	list := []any{object{"id": b.id, "instanceID": b.instance, "available": true, "local": true, "hostname": host, "ipList": b.hosts(), "config": object{}, "metadata": object{},
		"client": object{"type": "sabir", "version": moduleversion.Current, "langVersion": runtime.Version()}, "cpu": int(b.node.Info().Load.CPU * 100)}}
	b.peers.mu.Lock()
	defer b.peers.mu.Unlock()
	for _, p := range b.peers.known {
		list = append(list, object{"id": p.id, "instanceID": p.instance, "available": true, "local": false, "hostname": p.info.Hostname, "ipList": p.info.IPList, "config": object{},
			"metadata": object{}, "client": p.info.Client, "seq": p.seq})
	}
	return list
}

func (b *bridge) listServices(asked asked) any {
	list := []any{}
	grouping, groups := asked.is("grouping", true), make(map[string]object)
	for _, s := range b.registry(asked) {
		if asked.leavesOut(s.Name) {
			continue
		}
		if group := groups[s.FullName]; group != nil {
			group["nodes"] = append(group["nodes"].([]string), s.node)
			continue
		}
		item := object{"name": s.Name, "fullName": s.FullName, "settings": s.Settings, "metadata": s.Metadata, "local": s.node == b.id, "available": true}
		if s.Version != nil {
			item["version"] = s.Version
		}
		if grouping {
			item["nodes"] = []string{s.node}
			groups[s.FullName] = item
		} else {
			item["nodeID"] = s.node
		}
		if asked.is("withActions", false) {
			item["actions"] = s.Actions
		}
		if asked.is("withEvents", false) {
			item["events"] = s.Events
		}
		list = append(list, item)
	}
	return list
}

// offer is an action, or a group of handlers of an event, with the nodes that have it.
type offer struct {
	name, group string
	described   any
	nodes       []string
}

func (b *bridge) listActions(asked asked) any {
	return b.listOffers(asked, "action", func(s listed, add func(offer)) {
		for name, a := range s.Actions {
			add(offer{name: name, described: a})
		}
	})
}

func (b *bridge) listEvents(asked asked) any {
	return b.listOffers(asked, "event", func(s listed, add func(offer)) {
		for _, e := range s.Events {
			add(offer{name: e.Name, group: cmp.Or(e.Group, s.Name), described: e})
		}
	})
}

func (b *bridge) listOffers(asked asked, kind string, each func(s listed, add func(offer))) any {
	type key struct{ name, group string }
	offers := make(map[key]*offer)
	for _, s := range b.registry(asked) {
		each(s, func(o offer) {
			if asked.leavesOut(o.name) {
				return
			}
			at := key{o.name, o.group}
			if offers[at] == nil {
				offers[at] = &o
			}
			offers[at].nodes = append(offers[at].nodes, s.node)
		})
	}
	list := []any{}
	for _, o := range offers {
		item := object{"name": o.name, "count": len(o.nodes), "hasLocal": slices.Contains(o.nodes, b.id), "available": true, kind: o.described}
		if kind == "event" {
			item["group"] = o.group
		}
		if asked.is("withEndpoints", false) {
			endpoints := make([]any, len(o.nodes))
			for i, id := range o.nodes {
				endpoints[i] = object{"nodeID": id, "state": true, "available": true}
			}
			item["endpoints"] = endpoints
		}
		list = append(list, item)
	}
	return list
}

func (b *bridge) health(asked) any {
	host, _ := os.Hostname()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	info, now := b.node.Info(), time.Now()
	return object{
		"cpu":     object{"cores": info.CPUs, "utilization": int(info.Load.CPU * 100)},
		"mem":     object{}, // of the machine, which the node does not measure
		"os":      object{"hostname": host, "platform": runtime.GOOS, "type": runtime.GOOS, "arch": runtime.GOARCH},
		"process": object{"pid": info.PID, "memory": object{"heapTotal": m.HeapSys, "heapUsed": m.HeapInuse, "rss": m.Sys}, "uptime": now.Sub(info.Since).Seconds(), "argv": []string{}},
		"client":  object{"type": "sabir", "version": moduleversion.Current, "langVersion": runtime.Version()},
		"net":     object{"ip": []string{}},
		"time":    object{"now": now.UnixMilli(), "iso": now.UTC().Format(time.RFC3339Nano), "utc": now.UTC().Format(time.RFC1123)},
	}
}
