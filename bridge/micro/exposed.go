package micro

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/names"
)

// exposed lists the actions that clients of go-micro can call, by service and endpoint, and the handlers that get its events. It never
// changes: update replaces it.
type exposed struct {
	services map[string]map[string]*sabir.Action
	handlers []sabir.Subscription
}

func (e *exposed) add(service, endpoint string, a *sabir.Action) {
	if e.services == nil {
		e.services = make(map[string]map[string]*sabir.Action)
	}
	if e.services[service] == nil {
		e.services[service] = make(map[string]*sabir.Action)
	}
	e.services[service][endpoint] = a
}

// find returns the action of an endpoint, or what go-micro answers where there is none. A server of go-micro looks at the endpoint only; here one
// address has several services.
func (e *exposed) find(service, endpoint string) (*sabir.Action, *Error) {
	if a := e.services[service][endpoint]; a != nil {
		return a, nil
	}
	kind, method, ok := strings.Cut(endpoint, ".")
	if !ok || strings.Contains(method, ".") {
		return nil, &Error{Detail: "rpc: service/endpoint request ill-formed: " + endpoint}
	}
	for known := range e.services[service] {
		if strings.HasPrefix(known, kind+".") {
			return nil, &Error{Detail: "rpc: can't find method " + method}
		}
	}
	return nil, &Error{Detail: "rpc: can't find service " + kind}
}

// streams are the endpoints of a service that are streams.
func (e *exposed) streams(service string) (list []string) {
	for name, a := range e.services[service] {
		if a.Stream {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// update finds out what is exposed, and announces it.
func (b *bridge) update() {
	b.updating.Lock()
	defer b.updating.Unlock()
	now := &exposed{}
	if b.opened.Load() {
		now = b.exposes()
	}
	b.exposed.Store(now)
	b.listenTo(now)
	if b.listener == nil {
		return
	}
	records := append(b.records(now), b.brokerRecords(now)...)
	if b.mdns != nil {
		b.mdns.announce(records)
	}
	b.registered.set(records)
}

// exposes returns what clients of go-micro can reach now.
func (b *bridge) exposes() *exposed {
	now := &exposed{}
	for _, a := range b.node.Actions() {
		if a.Node != b.node.ID() || !a.Public() || strings.HasPrefix(a.Name, "$") {
			continue
		}
		if b.exposesName(a) {
			now.add(a.Service, endpointOf(a.Service, a.Short), a)
		}
		for _, e := range b.config.Endpoints {
			if e.Action == a.Name {
				now.add(e.Service, e.Name, a)
			}
		}
	}
	versions := make(map[string]int)
	for _, s := range b.node.Services() {
		if s.Node == b.node.ID() {
			versions[s.Name] = s.Version
		}
	}
	for _, s := range b.node.Subscriptions() {
		if !strings.HasPrefix(s.Service, "$") && b.exposesHandlers(now, s.Service, versions[s.Service]) {
			now.handlers = append(now.handlers, s)
		}
	}
	return now
}

func (b *bridge) exposesName(a *sabir.Action) bool { return b.exposesFull(a.Name, a.Version) }

// exposesFull reports whether a full name is exposed, with or without its version.
func (b *bridge) exposesFull(full string, version int) bool {
	_, short, _ := strings.Cut(full, ".")
	return slices.ContainsFunc(b.config.Expose, func(p string) bool { return names.Match(p, full) || version > 0 && names.Match(p, short) })
}

// exposesHandlers reports whether the event handlers of a service are exposed: see Config.Expose.
func (b *bridge) exposesHandlers(e *exposed, service string, version int) bool {
	for _, actions := range e.services {
		for _, a := range actions {
			if a.Service == service {
				return true
			}
		}
	}
	return b.exposesFull(service+".on", version)
}

// records are the services as a registry of go-micro has them.
func (b *bridge) records(e *exposed) (list []*record) {
	for _, service := range slices.Sorted(maps.Keys(e.services)) {
		metadata := map[string]string{"protocol": "mucp", "transport": "http", "server": serverName, "registry": "mdns", "broker": "http"}
		if b.config.Broker != nil {
			metadata["broker"] = b.config.Broker.Name()
		}
		maps.Copy(metadata, b.config.Labels)
		list = append(list, &record{id: service + "-" + b.instance, service: service, version: cmp.Or(b.config.Version, "latest"), address: b.address,
			endpoints: slices.Sorted(maps.Keys(e.services[service])), streams: e.streams(service), actions: e.services[service], metadata: metadata})
	}
	return list
}

// serverName is the kind of server in the metadata of a node, by which nodes of Sabir know each other.
const serverName = "sabir"
