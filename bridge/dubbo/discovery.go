package dubbo

import (
	"cmp"
	"context"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/backoff"
)

const (
	// maxProviders bounds the providers that registries name, in one list and in all.
	maxProviders = 1000
	// maxApplications bounds the applications of one interface.
	maxApplications = 64
	// maxRevisions bounds the revisions of one application that are asked for, askers how many of them at once, and maxAsked the instances
	// that are asked for one.
	maxRevisions = 64
	askers       = 8
	maxAsked     = 3
)

// askAgain is the wait before instances are asked again that did not say what they provide.
var askAgain = backoff.Backoff{First: time.Second, Last: 30 * time.Second}

// discovery keeps the providers that registries name.
type discovery struct {
	bridge     *bridge
	references map[string]bool // addresses of references

	mu      sync.Mutex
	lists   map[listKey][]providerURL // what registries say
	pending map[listKey]bool          // lists that have not come yet
	ready   chan struct{}             // closed when nothing is pending
	known   map[endpointAt]*provider
}

// listKey names a list of a registry: that of an interface, of the applications of one, or of the instances of an application.
type listKey struct {
	registry int
	of       byte // 'i', 'm' or 'a'
	name     string
}

func newDiscovery(b *bridge) *discovery {
	return &discovery{bridge: b, references: make(map[string]bool), lists: make(map[listKey][]providerURL), pending: make(map[listKey]bool), ready: make(chan struct{}), known: make(map[endpointAt]*provider)}
}

// start begins to look.
func (d *discovery) start() {
	wanted := d.interfaces()
	if len(wanted) == 0 {
		close(d.ready)
		return
	}
	for number := range d.bridge.Registries {
		for key, name := range wanted {
			d.pending[listKey{number, 'i', name}] = true
			d.pending[listKey{number, 'm', key.name}] = true
		}
	}
	for number, r := range d.bridge.Registries {
		d.bridge.running.Go(func() {
			r.Run(d.bridge.ctx, d.bridge.node.Log(), func(ctx context.Context, s RegistrySession) error {
				look := &lookout{discovery: d, session: s, registry: number, applications: make(map[string]bool)}
				return look.run(ctx, wanted)
			})
		})
	}
}

// interfaces are those that are looked for, with the names of their lists.
func (d *discovery) interfaces() map[key]string {
	wanted := make(map[key]string)
	for _, m := range d.bridge.discover {
		wanted[m.key()] = m.serviceKey()
	}
	return wanted
}

// wait waits until each registry has said what it has, or ctx ends.
func (d *discovery) wait(ctx context.Context) error {
	select {
	case <-d.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// set takes a list of a registry.
func (d *discovery) set(of listKey, list []providerURL) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lists[of] = list
	d.apply()
	if delete(d.pending, of); len(d.pending) == 0 {
		select {
		case <-d.ready:
		default:
			close(d.ready)
		}
	}
}

// expect notes lists that will come too.
func (d *discovery) expect(of listKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, there := d.lists[of]; !there {
		d.pending[of] = true
	}
}

// apply makes the providers be those of all lists. The caller holds mu.
func (d *discovery) apply() {
	wanted := d.wanted()
	for _, at := range slices.SortedFunc(maps.Keys(wanted), compareEndpoints) {
		p := d.known[at]
		if p != nil {
			if !p.same(wanted[at]) {
				p.set(wanted[at])
				p.announce(p.isSilent(time.Now()))
			}
			continue
		}
		if len(d.known) >= maxProviders {
			d.bridge.drops.Note(d.bridge.node.Log(), "a registry names more Dubbo providers than are connected", "limit", maxProviders)
			break
		}
		host, _, _ := net.SplitHostPort(at.address)
		p = newProvider(d.bridge, at.scheme, at.address, at.address, host, wanted[at])
		d.known[at] = p
		d.bridge.add(p)
	}
	for at, p := range d.known {
		if wanted[at] == nil {
			delete(d.known, at)
			p.leave()
		}
	}
}

func compareEndpoints(a, b endpointAt) int {
	return cmp.Or(cmp.Compare(a.scheme, b.scheme), cmp.Compare(a.address, b.address))
}

// wanted has the interfaces that each address offers.
func (d *discovery) wanted() map[endpointAt][]offering {
	wanted := make(map[endpointAt][]offering)
	for _, m := range d.bridge.discover {
		at := d.providersOf(m)
		tagged := taggedWith(at, d.bridge.Tag)
		for _, p := range at {
			if p.params[paramTag] == tagged {
				wanted[p.endpointAt] = append(wanted[p.endpointAt], offering{m, p.params})
			}
		}
	}
	return wanted
}

// providersOf are the providers of an interface, by addresses.
func (d *discovery) providersOf(m *mapping) map[string]providerURL {
	at := make(map[string]providerURL)
	for _, scheme := range m.schemes() {
		for _, of := range d.order() {
			for _, p := range d.lists[of] {
				if _, has := at[p.address]; !has && p.scheme == scheme && p.key == m.key() && !d.references[p.address] && !d.bridge.isOwn(p.address) {
					at[p.address] = p
				}
			}
		}
	}
	return at
}

// order has the lists of interfaces before those of instances: what they say of an address goes first.
func (d *discovery) order() []listKey {
	return slices.SortedFunc(maps.Keys(d.lists), func(a, b listKey) int {
		return cmp.Or(-cmp.Compare(a.of, b.of), cmp.Compare(a.registry, b.registry), cmp.Compare(a.name, b.name))
	})
}

// taggedWith is the tag of the providers that get the calls.
func taggedWith(at map[string]providerURL, tag string) string {
	for _, p := range at {
		if p.params[paramTag] == tag {
			return tag
		}
	}
	return ""
}

// same reports whether the provider offers this already.
func (p *provider) same(all []offering) bool {
	return slices.EqualFunc(p.offerings, all, func(a, b offering) bool { return a.mapping == b.mapping && maps.Equal(a.params, b.params) })
}
