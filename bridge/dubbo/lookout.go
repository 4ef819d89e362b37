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
)

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
func (l *lookout) run(ctx context.Context, wanted map[key]string) error {
	l.ctx, l.failed = context.WithCancelCause(ctx)
	defer l.failed(nil)
	mapped := make(map[string]bool) // applications are those of all versions of an interface
	for of, list := range wanted {
		l.do(func() error { return l.watchInterface(of, list) })
		if !mapped[of.name] {
			mapped[of.name] = true
			l.do(func() error { return l.watchApplications(of.name) })
		}
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
func (l *lookout) watchInterface(of key, list string) error {
	for {
		urls, changed, err := l.session.Providers(l.ctx, of.name, of.version, of.group)
		if err != nil {
			return fmt.Errorf("the providers of %s: %w", list, err)
		}
		l.discovery.set(listKey{l.registry, 'i', list}, l.parse(list, urls))
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
			if s == nil || !isSpoken(s.Protocol) || !enabled(s.Params) {
				continue
			}
			address, err := hostPort(i.Host, fmt.Sprint(portOf(i, s)))
			if err == nil && len(list) < maxProviders && l.discovery.looksFor(s.key()) {
				list = append(list, providerURL{endpointAt{s.Protocol, address}, s.key(), withApplication(s.Params, i)})
			}
		}
	}
	return list
}

func (d *discovery) looksFor(k key) bool {
	return slices.ContainsFunc(d.bridge.discover, func(m *mapping) bool { return m.key() == k })
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
