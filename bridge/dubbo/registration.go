package dubbo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/transport"
)

// leaveGap is the time between the news that the node takes no more calls and its refusing of calls, some of which are on their way meanwhile.
const leaveGap = 300 * time.Millisecond

// registration holds the entries of the bridge in registries, from the start of its gateway until that stops.
type registration struct {
	mu     sync.Mutex
	own    map[string]bool // the addresses under which consumers find this node
	served []servedInterface
	host   string
	ports  map[string]int // by protocols

	changing sync.Mutex // guards what follows, which does not change while it is entered
	urls     []registeredURL
	instance Instance
	metadata []byte             // as JSON, where the registry has to keep it
	cancel   context.CancelFunc // nil while nothing is entered
	closed   bool               // nothing is entered any more
	running  sync.WaitGroup
}

// servedInterface is an interface at an address, with its parameters, which the metadata of the application have too.
type servedInterface struct {
	mapping *mapping
	scheme  string
	port    int
	url     string
	params  map[string]string
}

// registeredURL is the entry of an interface.
type registeredURL struct{ iface, url string }

// isOwn reports whether an address is that of this node.
func (b *bridge) isOwn(address string) bool {
	b.entered.mu.Lock()
	defer b.entered.mu.Unlock()
	return b.entered.own[address]
}

// prepare makes what is entered of an address at which the bridge listens.
func (b *bridge) prepare(scheme string, e endpoint, bound net.Addr) error {
	at, err := netip.ParseAddrPort(bound.String())
	if err != nil {
		return err
	}
	address, err := transport.Config{Advertise: b.Advertise}.AdvertisedAddr("dubbo", at)
	if err != nil {
		return fmt.Errorf("dubbo.Config: Advertise: %w", err)
	}
	address = strings.TrimPrefix(address, "dubbo://")
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("dubbo.Config: Advertise: %w", err)
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		return fmt.Errorf("dubbo.Config: Advertise: %w", err)
	}
	r := &b.entered
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.own == nil {
		r.own = make(map[string]bool)
	}
	r.own[address] = true
	if r.ports == nil {
		r.ports = make(map[string]int)
	}
	if r.ports[scheme] == 0 {
		r.host, r.ports[scheme] = host, port
	}
	for _, m := range e.interfaces {
		params := b.parametersOf(m)
		query := make(url.Values, len(params))
		for name, value := range params {
			query.Set(name, value)
		}
		u := url.URL{Scheme: scheme, Host: address, Path: "/" + m.name, RawQuery: query.Encode()}
		for _, ofProcess := range []string{"anyhost", "pid", "timestamp"} { // processes with the same interfaces have the same revision
			delete(params, ofProcess)
		}
		r.served = append(r.served, servedInterface{m, scheme, port, u.String(), params})
	}
	return nil
}

// parametersOf are the parameters of an interface in registries.
func (b *bridge) parametersOf(m *mapping) map[string]string {
	params := map[string]string{"anyhost": "true", "application": b.Application, "deprecated": "false", "dubbo": protocolVersion, "dynamic": "true", "generic": "false",
		"interface": m.name, "methods": strings.Join(b.methodsOf(m), ","), "pid": strconv.Itoa(os.Getpid()),
		"side": "provider", "service-name-mapping": "true", "timestamp": strconv.FormatInt(time.Now().UnixMilli(), 10)}
	if !b.inMessages(m) { // Dubbo for Go writes messages of Protocol Buffers in Hessian too where this says so
		params["serialization"], params["prefer.serialization"] = "hessian2", "hessian2"
	}
	if m.version != "" {
		params["version"], params["revision"] = m.version, m.version
	}
	if m.group != "" {
		params["group"] = m.group
	}
	if b.TLS != nil {
		params[paramTLS] = "true"
	}
	m.callbackParameters(params)
	maps.Copy(params, b.Parameters)
	return params
}

// inMessages reports whether all values of an interface travel as messages of Protocol Buffers.
func (b *bridge) inMessages(m *mapping) bool {
	var actions []string
	for _, one := range m.methods {
		actions = append(actions, one.action)
	}
	if m.methods == nil {
		for _, name := range b.methodsOf(m) {
			actions = append(actions, m.service+"."+name)
		}
	}
	other := func(name string) bool {
		a := b.node.Action(name)
		return a == nil || !m.inMessages(a)
	}
	return m.protobuf || len(actions) > 0 && !slices.ContainsFunc(actions, other)
}

// methodsOf are the names of the methods that an interface has here.
func (b *bridge) methodsOf(m *mapping) (names []string) {
	for _, one := range m.methods {
		names = append(names, one.name)
	}
	if m.methods == nil {
		for _, a := range b.node.Actions() {
			if short, ok := strings.CutPrefix(a.Name, m.service+"."); ok && a.Service == m.service && !strings.Contains(short, ".") {
				if one := b.node.Action(a.Name); one != nil && one.Public() && one.Node == b.node.ID() {
					names = append(names, short)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// register enters what was prepared in all registries, but for interfaces that operators have taken out of service, and keeps it there until unregister.
func (b *bridge) register() error {
	r := &b.entered
	r.changing.Lock()
	defer r.changing.Unlock()
	if r.closed || r.cancel != nil || len(r.served) == 0 {
		return nil
	}
	info := &metadataInfo{App: b.Application, Services: make(map[string]*serviceInfo)}
	r.urls = nil
	for _, one := range r.served {
		if !one.mapping.offline.Load() {
			r.urls = append(r.urls, registeredURL{one.mapping.name, one.url})
			info.add(one.scheme, one.mapping, one.port, one.params)
		}
	}
	if err := info.seal(); err != nil {
		return err
	}
	b.metadata.Store(info)
	if len(r.urls) == 0 || len(b.Registries) == 0 {
		return nil
	}
	if err := r.describe(b.Application, info); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(b.ctx)
	r.cancel = cancel
	for _, one := range b.Registries {
		r.running.Go(func() { one.Run(ctx, b.node.Log(), r.enter) })
	}
	return nil
}

// describe makes what is entered of the instance. Its metadata are at its own service, which needs the protocol dubbo; otherwise they are in the registry.
func (r *registration) describe(application string, info *metadataInfo) error {
	var endpoints []map[string]any
	for _, scheme := range slices.Sorted(maps.Keys(r.ports)) {
		endpoints = append(endpoints, map[string]any{"port": r.ports[scheme], "protocol": scheme})
	}
	text, err := json.Marshal(endpoints)
	if err != nil {
		return err
	}
	r.instance = Instance{Application: application, Host: r.host, Port: cmp.Or(r.ports[schemeDubbo], r.ports[schemeTriple]), Metadata: map[string]string{instanceEndpoints: string(text),
		metadataRevision: info.Revision, "meta-v": metadataVersion, "timestamp": strconv.FormatInt(time.Now().UnixMilli(), 10)}}
	if r.ports[schemeDubbo] == 0 {
		r.instance.Metadata[metadataStorage] = "remote"
		r.metadata, err = json.Marshal(info)
		return err
	}
	service, err := json.Marshal(map[string]string{"version": metadataVersion, "dubbo": protocolVersion, "side": "provider", "port": strconv.Itoa(r.ports[schemeDubbo]), "protocol": schemeDubbo, "prefer.serialization": "hessian2"})
	r.instance.Metadata[metadataServiceParams], r.instance.Metadata[metadataStorage] = string(service), "local"
	return err
}

// enter enters all in a session.
func (r *registration) enter(ctx context.Context, s RegistrySession) error {
	mapped := make(map[string]bool)
	for _, one := range r.urls {
		if err := s.Provide(ctx, one.iface, one.url); err != nil {
			return fmt.Errorf("the provider of %s cannot be entered: %w", one.iface, err)
		}
		if mapped[one.iface] {
			continue
		}
		mapped[one.iface] = true
		if err := s.MapInterface(ctx, one.iface, r.instance.Application); err != nil {
			return fmt.Errorf("the application of %s cannot be entered: %w", one.iface, err)
		}
	}
	if r.metadata != nil {
		if err := s.PutMetadata(ctx, r.instance.Application, r.instance.Metadata[metadataRevision], r.metadata); err != nil {
			return fmt.Errorf("the metadata of the application %s cannot be entered: %w", r.instance.Application, err)
		}
	}
	if err := s.ProvideInstance(ctx, r.instance); err != nil {
		return fmt.Errorf("the instance of the application %s cannot be entered: %w", r.instance.Application, err)
	}
	<-ctx.Done()
	return ctx.Err()
}

// unregister removes what was entered.
func (b *bridge) unregister() {
	r := &b.entered
	r.changing.Lock()
	defer r.changing.Unlock()
	r.remove()
}

// leaveRegistries is unregister for good.
func (b *bridge) leaveRegistries() {
	r := &b.entered
	r.changing.Lock()
	defer r.changing.Unlock()
	r.closed = true
	r.remove()
}

// remove ends the sessions in which it is entered. The caller holds changing.
func (r *registration) remove() {
	if r.cancel != nil {
		r.cancel()
		r.running.Wait()
		r.cancel = nil
	}
}
