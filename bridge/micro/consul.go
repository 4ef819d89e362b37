package micro

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/sabir-go/sabir/internal/consul"
	"github.com/sabir-go/sabir/internal/directory"
	"github.com/sabir-go/sabir/internal/gomicro"
	"github.com/sabir-go/sabir/secret"
)

// Consul is go-micro's registry over Consul, for [Config]:
//
//	micro.Bridge(micro.Config{Registries: []micro.Registry{&micro.Consul{}}, Listen: "10.0.0.7:8080", Expose: []string{"orders.*"}})
//
// Consul must not change once the node has started. Where the agent does not answer, the node starts and tries again.
type Consul struct {
	// Agent is the URL of the agent. Default: http://127.0.0.1:8500.
	Agent string
	// TLS is for an address that begins with https, with a client certificate where the agent asks for one. Default: the authorities of the system.
	TLS *tls.Config
	// Token is sent with each request. Its policy must allow to write the services, and to read nodes and services. Default: none.
	Token secret.Secret
	// TTL is how long a node that was killed counts: from 2 s. Consul forgets it a minute and 5 s after. Default: 90 s, as go-micro's.
	TTL time.Duration
	// Interval is how often the health of all services is asked for beside the times at which the catalog changes. Default: 5 s.
	Interval time.Duration
}

// Name implements [Registry].
func (*Consul) Name() string { return "consul" }

// Run implements [Registry].
func (r *Consul) Run(ctx context.Context, s *gomicro.Session) {
	ttl, interval := cmp.Or(r.TTL, 90*time.Second), cmp.Or(r.Interval, 5*time.Second)
	agent, err := consul.New(consul.Settings{URL: r.Agent, TLS: r.TLS, Token: r.Token, TTL: ttl, Forget: 65 * time.Second})
	if err == nil && (ttl < 2*time.Second || interval < time.Second) {
		err = fmt.Errorf("TTL is %v and Interval %v: want 2 s and 1 s or more", r.TTL, r.Interval)
	}
	log := s.Log.With("node", s.Node)
	if err != nil {
		log.Error("Consul is no registry of go-micro with these settings: no services are found or entered there", "error", fmt.Errorf("micro.Consul: %w", err))
		return
	}
	defer agent.Close()
	directory.Keep(ctx, log, "consul", func(ctx context.Context, working func()) error {
		c := &consulSession{Session: s, agent: agent, interval: interval, entered: make(map[string]gomicro.Service)}
		return agent.Keep(ctx, c.enter, func(ctx context.Context) error { return c.watch(ctx, working) })
	})
	directory.Goodbye(ctx, agent.Leave)
}

// consulSession keeps the services of one node entered.
type consulSession struct {
	*gomicro.Session
	agent    *consul.Agent
	interval time.Duration
	entered  map[string]gomicro.Service // by id
}

// enter registers the services that the node offers now, and takes out others.
func (s *consulSession) enter(ctx context.Context) (changed <-chan struct{}, err error) {
	services, changed := s.Offered()
	now := make(map[string]bool)
	for i := range services {
		one := &services[i]
		id := one.Nodes[0].ID
		now[id] = true
		if old, ok := s.entered[id]; ok && reflect.DeepEqual(old, *one) {
			continue
		}
		if err := s.agent.Register(ctx, consulEntry(one)); err != nil {
			return nil, err
		}
		s.entered[id] = *one
	}
	for id := range s.entered {
		if !now[id] {
			if err := s.agent.Deregister(ctx, id); err != nil {
				return nil, err
			}
			delete(s.entered, id)
		}
	}
	return changed, nil
}

// consulEntry is a service as the catalog has it.
func consulEntry(one *gomicro.Service) consul.Service {
	n := &one.Nodes[0]
	entry := consul.Service{ID: n.ID, Name: one.Name, Tags: consulTags(one), Meta: n.Metadata}
	if host, port, err := net.SplitHostPort(n.Address); err == nil {
		entry.Address = host
		entry.Port, _ = strconv.Atoi(port)
	}
	return entry
}

// watch says what services are there when the catalog changes, and once in a while for their checks.
func (s *consulSession) watch(ctx context.Context, working func()) error {
	index, first := uint64(0), true
	for {
		var tags map[string][]string // of all services, by their names
		next, err := s.agent.Ask(ctx, "/v1/catalog/services", nil, index, s.interval, &tags)
		if err != nil {
			return err
		}
		index = next
		list, err := s.services(ctx, tags)
		if err != nil {
			return err
		}
		s.Found(list)
		if first {
			working()
		}
		first = false
	}
}

// consulInstance is one node as Consul answers it.
type consulInstance struct {
	Node    struct{ Address string }
	Service struct {
		ID, Service, Address string
		Port                 int
		Tags                 []string
	}
	Checks []struct{ Status string }
}

// services asks for the nodes of all services of go-micro.
func (s *consulSession) services(ctx context.Context, tags map[string][]string) (list []gomicro.Service, err error) {
	asked := 0
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		if !slices.ContainsFunc(tags[name], isVersionTag) {
			continue // of something else
		}
		if asked++; asked > gomicro.MaxServices {
			break
		}
		var nodes []consulInstance
		if err := s.agent.Get(ctx, "/v1/health/service/"+url.PathEscape(name), &nodes); err != nil {
			return nil, err
		}
		for i := range nodes {
			one, err := fromConsul(&nodes[i])
			if err != nil {
				s.Dropped("a record of go-micro's registry was refused", name, err)
			} else if one != nil {
				list = append(list, *one)
			}
		}
	}
	return list, nil
}

// fromConsul reads an consulInstance; nil for one whose check does not pass.
func fromConsul(i *consulInstance) (*gomicro.Service, error) {
	for _, c := range i.Checks {
		if c.Status == "critical" {
			return nil, nil
		}
	}
	s, err := readConsulTags(i.Service.Tags)
	if err != nil {
		return nil, err
	}
	s.Name = i.Service.Service
	s.Nodes[0].ID = i.Service.ID
	s.Nodes[0].Address = net.JoinHostPort(cmp.Or(i.Service.Address, i.Node.Address), strconv.Itoa(i.Service.Port))
	return s, nil
}
