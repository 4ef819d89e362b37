package moleculer

import (
	"os"
	"runtime"
	"time"

	"github.com/sabir-go/sabir/internal/moduleversion"
)

// nodeActions are the actions by which Moleculer's own tools look at a node: its REPL and its lab call them on each.
var nodeActions = map[string]func(b *bridge) any{
	"$node.list":     (*bridge).listNodes,
	"$node.services": (*bridge).listServices,
	"$node.actions":  (*bridge).listActions,
	"$node.events":   (*bridge).listEvents,
	"$node.health":   (*bridge).health,
	"$node.options":  func(b *bridge) any { return object{"nodeID": b.id, "namespace": b.Namespace} },
	"$node.metrics":  func(*bridge) any { return []any{} },
}

type object map[string]any

func nodeService() *infoService {
	s := &infoService{Name: "$node", FullName: "$node", Settings: noMembers, Metadata: noMembers, Actions: map[string]infoAction{}, Events: map[string]infoEvent{}}
	for name := range nodeActions {
		s.Actions[name] = infoAction{Name: name, RawName: name[len("$node."):], Cache: false}
	}
	return s
}

func (b *bridge) ownServices() []infoService {
	b.info.mu.Lock()
	defer b.info.mu.Unlock()
	return b.info.list
}

func (b *bridge) listNodes() any {
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

func (b *bridge) listServices() any {
	list := []any{}
	for _, s := range b.ownServices() {
		list = append(list, object{"name": s.Name, "version": s.Version, "fullName": s.FullName, "settings": object{}, "metadata": object{}, "local": true, "available": true,
			"nodes": []string{b.id}, "nodeID": b.id, "actions": s.Actions, "events": s.Events})
	}
	return list
}

func (b *bridge) listActions() any {
	list := []any{}
	for _, s := range b.ownServices() {
		for name, a := range s.Actions {
			list = append(list, object{"name": name, "count": 1, "hasLocal": true, "available": true, "action": a})
		}
	}
	return list
}

func (b *bridge) listEvents() any {
	list := []any{}
	for _, s := range b.ownServices() {
		for _, e := range s.Events {
			list = append(list, object{"name": e.Name, "group": e.Group, "count": 1, "hasLocal": true, "available": true, "event": e})
		}
	}
	return list
}

func (b *bridge) health() any {
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
