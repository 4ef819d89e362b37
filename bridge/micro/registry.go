package micro

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/sabir-go/sabir/internal/gomicro"
)

// registered are the services that the node offers now, for registries.
type registered struct {
	mu      sync.Mutex
	records []*record
	changed chan struct{}
}

func (r *registered) set(records []*record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.EqualFunc(r.records, records, func(a, b *record) bool { return a.id == b.id && a.same(b) }) {
		return
	}
	r.records = records
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// get returns the services as a registry has them, and what is closed when they have changed.
func (r *registered) get(registry string) (services []gomicro.Service, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.records {
		s := one.entry()
		s.Nodes[0].Metadata = with(one.metadata, "registry", registry)
		services = append(services, s)
	}
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return services, r.changed
}

// runRegistry runs a registry until the bridge ends, and returns what is closed when it has said for the first time what is there.
func (b *bridge) runRegistry(registry gomicro.Registry) (looked <-chan struct{}) {
	first := make(chan struct{})
	var once sync.Once
	known := make(map[string]*record) // what it said last, of Found alone
	session := &gomicro.Session{
		Log: b.node.Log(), Node: b.node.ID(),
		Offered: func() ([]gomicro.Service, <-chan struct{}) { return b.registered.get(registry.Name()) },
		Found: func(services []gomicro.Service) {
			known = b.found(registry.Name(), known, services)
			once.Do(func() { close(first) })
		},
		Dropped: b.drop,
	}
	b.running.Go(func() {
		registry.Run(b.ctx, session)
		once.Do(func() { close(first) })
	})
	return first
}

// found takes all that a registry has in place of what was known of it.
func (b *bridge) found(registry string, known map[string]*record, services []gomicro.Service) (now map[string]*record) {
	now = make(map[string]*record)
	for i := range services {
		for _, r := range recordsOf(&services[i]) {
			if len(now) >= gomicro.MaxServices {
				b.drop("a node of go-micro was refused", registry, fmt.Errorf("the registry has more than %d", gomicro.MaxServices))
				break
			}
			r.listed = true
			now[r.service+" "+r.version+" "+r.id] = r
		}
	}
	for key, r := range known {
		if now[key] == nil {
			b.unlearn(r)
		}
	}
	for _, r := range now {
		b.learn(r)
	}
	return now
}

// learn takes a node that a registry names: of a service, or a subscription at an HTTP broker.
func (b *bridge) learn(r *record) {
	switch {
	case r.service == brokerService:
		b.subscribed(r)
	case !b.selects(r):
		b.dropID(r.id) // it may have had another version before
	case !r.spoken():
		b.drop("a node of go-micro is not called", r.id, fmt.Errorf("it serves %.100q over go-micro's transport %.100q, and the bridge speaks http and gRPC", r.service, r.metadata["transport"]))
		b.dropID(r.id)
	default:
		b.putPeer(r)
	}
}

// unlearn forgets a node that a registry does not name any more.
func (b *bridge) unlearn(r *record) {
	if r.service == brokerService {
		b.unsubscribed(r)
		return
	}
	b.dropID(r.id)
}

// selects reports whether calls may go to a node: see Service.
func (b *bridge) selects(r *record) bool {
	s := b.config.Services[r.service]
	if s.Version != "" && s.Version != r.version {
		return false
	}
	for key, value := range s.Labels {
		if r.metadata[key] != value {
			return false
		}
	}
	return true
}

func with(pairs map[string]string, key, value string) map[string]string {
	copied := make(map[string]string, len(pairs)+1)
	maps.Copy(copied, pairs)
	copied[key] = value
	return copied
}
