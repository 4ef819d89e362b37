package micro

import (
	"maps"
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/names"
)

// exposed lists the actions that clients of go-micro can call, by service and endpoint. It never changes: update replaces it.
type exposed struct {
	services map[string]map[string]*sabir.Action
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

// update finds out what is exposed, and announces it.
func (b *bridge) update() {
	now := &exposed{}
	if b.opened.Load() {
		now = b.exposes()
	}
	b.exposed.Store(now)
	if b.mdns != nil && b.listener != nil {
		b.mdns.announce(b.records(now))
	}
}

// exposes returns what clients of go-micro can reach now.
func (b *bridge) exposes() *exposed {
	now := &exposed{}
	for _, a := range b.node.Actions() {
		if a.Node != b.node.ID() || !a.Public() || a.Stream || strings.HasPrefix(a.Name, "$") {
			continue
		}
		if b.exposesName(a) {
			now.add(a.Service, endpointOf(a.Service, a.Short), a)
		}
		for _, e := range b.endpoints {
			if e.action == a.Name {
				now.add(e.service, e.name, a)
			}
		}
	}
	return now
}

func (b *bridge) exposesName(a *sabir.Action) bool {
	_, short, _ := strings.Cut(a.Name, ".") // without the version, where it has one
	return slices.ContainsFunc(b.expose, func(p string) bool {
		return names.Match(p, a.Name) || a.Version > 0 && names.Match(p, short)
	})
}

// records are the services as a registry of go-micro has them.
func (b *bridge) records(e *exposed) (list []*record) {
	for _, service := range slices.Sorted(maps.Keys(e.services)) {
		list = append(list, &record{id: service + "-" + b.instance, service: service, version: "latest", address: b.address,
			endpoints: slices.Sorted(maps.Keys(e.services[service])), metadata: map[string]string{
				"protocol": "mucp", "transport": "http", "server": serverName, "registry": "mdns", "broker": "none"}})
	}
	return list
}

// serverName is the kind of server in the metadata of a node, by which nodes of Sabir know each other.
const serverName = "sabir"
