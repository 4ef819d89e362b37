package dubbo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
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
	known   map[string]*provider      // by addresses
}

// listKey names a list of a registry: that of an interface, of the applications of one, or of the instances of an application.
type listKey struct {
	registry int
	of       byte // 'i', 'm' or 'a'
	name     string
}

func newDiscovery(b *bridge) *discovery {
	return &discovery{bridge: b, references: make(map[string]bool), lists: make(map[listKey][]providerURL), pending: make(map[listKey]bool), ready: make(chan struct{}), known: make(map[string]*provider)}
}

// start begins to look.
func (d *discovery) start() {
	names := d.interfaces()
	if len(names) == 0 {
		close(d.ready)
		return
	}
	for _, r := range d.bridge.registries {
		for _, name := range names {
			d.pending[listKey{r.number, 'i', name}] = true
			d.pending[listKey{r.number, 'm', name}] = true
		}
	}
	for _, r := range d.bridge.registries {
		d.bridge.running.Go(func() {
			r.Run(d.bridge.ctx, d.bridge.node.Log(), func(ctx context.Context, s RegistrySession) error {
				look := &lookout{discovery: d, session: s, registry: r.number, applications: make(map[string]bool)}
				return look.run(ctx, names)
			})
		})
	}
}

// interfaces are the names of those that are looked for.
func (d *discovery) interfaces() []string {
	names := make(map[string]bool)
	for _, m := range d.bridge.discover {
		names[m.name] = true
	}
	return slices.Sorted(maps.Keys(names))
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
	for _, address := range slices.Sorted(maps.Keys(wanted)) {
		p := d.known[address]
		if p != nil {
			if !p.same(wanted[address]) {
				p.set(wanted[address])
				p.announce(p.isSilent(time.Now()))
			}
			continue
		}
		if len(d.known) >= maxProviders {
			d.bridge.drops.Note(d.bridge.node.Log(), "a registry names more Dubbo providers than are connected", "limit", maxProviders)
			break
		}
		host, _, _ := net.SplitHostPort(address)
		p = newProvider(d.bridge, schemeDubbo, address, address, host, wanted[address])
		d.known[address] = p
		d.bridge.add(p)
	}
	for address, p := range d.known {
		if wanted[address] == nil {
			delete(d.known, address)
			p.leave()
		}
	}
}

// wanted has the interfaces that each address offers.
func (d *discovery) wanted() map[string][]offering {
	wanted := make(map[string][]offering)
	for _, m := range d.bridge.discover {
		at := make(map[string]map[string]string) // parameters by addresses
		for _, of := range d.order() {
			for _, p := range d.lists[of] {
				if p.key == m.key() && at[p.address] == nil && !d.references[p.address] && !d.bridge.isOwn(p.address) {
					at[p.address] = p.params
				}
			}
		}
		tagged := taggedWith(at, d.bridge.tag)
		for address, params := range at {
			if params[paramTag] == tagged {
				wanted[address] = append(wanted[address], offering{m, params})
			}
		}
	}
	return wanted
}

// order has the lists of interfaces before those of instances: what they say of an address goes first.
func (d *discovery) order() []listKey {
	return slices.SortedFunc(maps.Keys(d.lists), func(a, b listKey) int {
		return cmp.Or(-cmp.Compare(a.of, b.of), cmp.Compare(a.registry, b.registry), cmp.Compare(a.name, b.name))
	})
}

// taggedWith is the tag of the providers that get the calls.
func taggedWith(at map[string]map[string]string, tag string) string {
	for _, params := range at {
		if params[paramTag] == tag {
			return tag
		}
	}
	return ""
}

// same reports whether the provider offers this already.
func (p *provider) same(all []offering) bool {
	return slices.EqualFunc(p.offerings, all, func(a, b offering) bool { return a.mapping == b.mapping && maps.Equal(a.params, b.params) })
}

// lookout looks at a registry for the time of a session.
type lookout struct {
	discovery *discovery
	session   RegistrySession
	registry  int

	ctx    context.Context
	failed context.CancelCauseFunc
	tasks  sync.WaitGroup

	mu           sync.Mutex
	applications map[string]bool // that are looked at
}

// run looks until ctx ends or something goes wrong.
func (l *lookout) run(ctx context.Context, names []string) error {
	l.ctx, l.failed = context.WithCancelCause(ctx)
	defer l.failed(nil)
	for _, name := range names {
		l.do(func() error { return l.watchInterface(name) })
		l.do(func() error { return l.watchApplications(name) })
	}
	l.tasks.Wait()
	return context.Cause(l.ctx)
}

// do runs a task; the error of one ends all.
func (l *lookout) do(task func() error) { l.tasks.Go(func() { l.failed(task()) }) }

// next waits for a change of a list.
func (l *lookout) next(changed <-chan struct{}, again <-chan time.Time) error {
	select {
	case <-changed:
	case <-again:
	case <-l.ctx.Done():
	}
	return l.ctx.Err()
}

// watchInterface reads the providers of an interface whenever they change.
func (l *lookout) watchInterface(name string) error {
	for {
		urls, changed, err := l.session.Providers(l.ctx, name)
		if err != nil {
			return fmt.Errorf("the providers of %s: %w", name, err)
		}
		l.discovery.set(listKey{l.registry, 'i', name}, l.parse(name, urls))
		if err := l.next(changed, nil); err != nil {
			return err
		}
	}
}

// parse reads URLs. Those that are none are left out.
func (l *lookout) parse(name string, urls []string) []providerURL {
	log, drops := l.discovery.bridge.node.Log(), &l.discovery.bridge.drops
	var list []providerURL
	slices.Sort(urls)
	for _, text := range urls {
		p, ok, err := parseProviderURL(text)
		switch {
		case err != nil:
			drops.Note(log, "a provider of Dubbo in a registry is left out", "interface", name, "url", text[:min(len(text), 200)], "error", err)
		case ok && len(list) < maxProviders:
			list = append(list, p)
		case ok:
			drops.Note(log, "a registry names more Dubbo providers of an interface than are looked at", "interface", name, "limit", maxProviders)
			return list
		}
	}
	return list
}

// watchApplications looks at the applications that provide an interface.
func (l *lookout) watchApplications(name string) error {
	for {
		applications, changed, err := l.session.Applications(l.ctx, name)
		if err != nil {
			return fmt.Errorf("the applications of %s: %w", name, err)
		}
		for _, application := range applications[:min(len(applications), maxApplications)] {
			l.look(application)
		}
		l.discovery.set(listKey{l.registry, 'm', name}, nil)
		if err := l.next(changed, nil); err != nil {
			return err
		}
	}
}

// look looks at an application, unless that is done already.
func (l *lookout) look(application string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.applications[application] {
		return
	}
	l.applications[application] = true
	l.discovery.expect(listKey{l.registry, 'a', application})
	l.do(func() error { return l.watchInstances(application) })
}

// watchInstances reads the instances of an application whenever they change, and what they provide.
func (l *lookout) watchInstances(application string) error {
	known := make(map[string]*metadataInfo) // by revisions
	for failed := 0; ; {
		instances, changed, err := l.session.Instances(l.ctx, application)
		if err != nil {
			return fmt.Errorf("the instances of %s: %w", application, err)
		}
		known, err = l.metadata(application, instances, known)
		l.discovery.set(listKey{l.registry, 'a', application}, l.provided(instances, known))
		var again <-chan time.Time
		if failed++; err == nil {
			failed = 0
		} else {
			again = time.After(askAgain.Wait(failed))
		}
		if err := l.next(changed, again); err != nil {
			return err
		}
	}
}

// metadata reads the metadata of the instances, by revisions, of which some are known. The error says that some did not say it.
func (l *lookout) metadata(application string, instances []Instance, known map[string]*metadataInfo) (map[string]*metadataInfo, error) {
	b := l.discovery.bridge
	ask := make(map[string][]Instance)
	found := make(map[string]*metadataInfo)
	for _, i := range instances {
		revision := i.Metadata[metadataRevision]
		switch {
		case revision == "" || revision == "0" || b.isOwn(net.JoinHostPort(i.Host, fmt.Sprint(i.Port))):
		case known[revision] != nil:
			found[revision] = known[revision]
		case len(ask[revision]) < maxAsked && (ask[revision] != nil || len(ask) < maxRevisions):
			ask[revision] = append(ask[revision], i)
		}
	}
	var mu sync.Mutex
	var failed error
	var asking sync.WaitGroup
	places := make(chan struct{}, askers)
	for revision, of := range ask {
		places <- struct{}{}
		asking.Go(func() {
			defer func() { <-places }()
			info, err := l.askOne(of)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
				if l.ctx.Err() == nil {
					b.drops.Note(b.node.Log(), "an instance of a Dubbo application does not say what it provides", "application", application, "revision", revision, "error", err)
				}
				return
			}
			found[revision] = info
		})
	}
	asking.Wait()
	return found, failed
}

// askOne asks instances of one revision until one of them answers.
func (l *lookout) askOne(of []Instance) (info *metadataInfo, err error) {
	for _, i := range of {
		if info, err = l.discovery.bridge.metadataOf(l.ctx, l.session, i); err == nil {
			return info, nil
		}
	}
	return nil, err
}

// provided lists the interfaces of the instances that are looked for.
func (l *lookout) provided(instances []Instance, known map[string]*metadataInfo) []providerURL {
	var list []providerURL
	for _, i := range instances {
		info := known[i.Metadata[metadataRevision]]
		if info == nil {
			continue
		}
		for _, s := range info.Services {
			if s == nil || s.Protocol != "dubbo" || !enabled(s.Params) {
				continue
			}
			address, err := hostPort(i.Host, fmt.Sprint(portOf(i, s)))
			if err == nil && len(list) < maxProviders && l.discovery.looksFor(s.key()) {
				list = append(list, providerURL{address, s.key(), withApplication(s.Params, i)})
			}
		}
	}
	return list
}

func (d *discovery) looksFor(k key) bool {
	return slices.ContainsFunc(d.bridge.discover, func(m *Mapping) bool { return m.key() == k })
}

// withApplication are the parameters of a service at an instance, which has some of its own.
func withApplication(params map[string]string, i Instance) map[string]string {
	all := maps.Clone(params)
	if all == nil {
		all = make(map[string]string)
	}
	all["application"] = i.Application
	for _, name := range []string{"timestamp", paramWeight, paramTag} {
		if value := i.Metadata[name]; value != "" {
			all[name] = value
		}
	}
	return all
}

// portOf returns the port of a service: an instance of several protocols has a port for each.
func portOf(i Instance, s *serviceInfo) int {
	var endpoints []struct {
		Port     int
		Protocol string
	}
	if json.Unmarshal([]byte(i.Metadata[instanceEndpoints]), &endpoints) == nil {
		for _, e := range endpoints {
			if e.Protocol == s.Protocol {
				return e.Port
			}
		}
	}
	return cmp.Or(int(s.Port), i.Port)
}
