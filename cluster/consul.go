package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/sabir-go/sabir/internal/consul"
	"github.com/sabir-go/sabir/internal/directory"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/secret"
)

// Consul is the catalog of Consul as a directory of nodes: nodes find each other there. It must not change once the node has started.
//
//	sabir.Join("tcp://10.0.0.5:7700", cluster.Config{KeyFromEnv: "SABIR_KEY", Directory: &cluster.Consul{}})
//
// A node is an instance of the service sabir-<cluster>, which the Consul agent of its machine knows, with a check that the node keeps passing. It is taken out when
// the node stops, counts no more TTL after a node that was killed, and Consul forgets it a minute later. The agent is spoken to over its HTTP API.
type Consul struct {
	// Agent is the URL of the agent. Default: http://127.0.0.1:8500.
	Agent string
	// TLS is for an address that begins with https, with a client certificate where the agent asks for one. Default: the authorities of the system.
	TLS *tls.Config
	// Token is sent with each request. Its policy must allow to write the service, and to read nodes and services. Default: none.
	Token secret.Secret
	// Service is the name of the service. Default: sabir-<cluster>.
	Service string
	// TTL is how long a node that was killed counts: from 2 s. Default: 15 s.
	TTL time.Duration
}

// Run implements [Directory].
func (d *Consul) Run(ctx context.Context, entry joining.Entry, found func(addresses []string)) {
	s := &consulSession{entry: entry, found: found, service: cmp.Or(d.Service, "sabir-"+entry.Cluster)}
	s.id = s.service + "-" + entry.Node
	ttl := cmp.Or(d.TTL, 15*time.Second)
	agent, err := consul.New(consul.Settings{URL: d.Agent, TLS: d.TLS, Token: d.Token, TTL: ttl, Forget: time.Minute})
	if err == nil && ttl < 2*time.Second {
		err = fmt.Errorf("TTL is %v: want 2 s or more", d.TTL)
	}
	if err != nil {
		entry.Log.Error("Consul is no directory of nodes with these settings: the node finds no others", "node", entry.Node, "error", fmt.Errorf("cluster.Consul: %w", err))
		return
	}
	s.agent = agent
	defer agent.Close()
	directory.Keep(ctx, entry.Log.With("node", entry.Node), "consul", func(ctx context.Context, working func()) error {
		return agent.Keep(ctx, s.enter, func(ctx context.Context) error { return s.watch(ctx, working) })
	})
	directory.Goodbye(ctx, agent.Leave)
}

// consulSession keeps one node entered.
type consulSession struct {
	entry   joining.Entry
	found   func([]string)
	agent   *consul.Agent
	service string
	id      string // of the node's instance
}

// consulMeta is the name under which an instance of the service has the node's address.
const consulMeta = "sabir"

func (s *consulSession) enter(ctx context.Context) (changed <-chan struct{}, err error) {
	if s.entry.Address == "" {
		return nil, nil
	}
	one := consul.Service{ID: s.id, Name: s.service, Meta: map[string]string{consulMeta: s.entry.Address}}
	if u, err := url.Parse(s.entry.Address); err == nil { // for people, and for those who look it up by DNS
		one.Address = u.Hostname()
		one.Port, _ = strconv.Atoi(u.Port())
	}
	return nil, s.agent.Register(ctx, one)
}

// consulInstance is one node as Consul answers it.
type consulInstance struct {
	Service struct {
		ID   string
		Meta map[string]string
	}
}

// longPoll is how long the agent holds a question that has no news.
const longPoll = time.Minute

// watch reports the nodes at first and whenever they have changed.
func (s *consulSession) watch(ctx context.Context, working func()) error {
	index, seen := uint64(0), false
	for {
		var list []consulInstance
		next, err := s.agent.Ask(ctx, "/v1/health/service/"+url.PathEscape(s.service), url.Values{"passing": {"1"}}, index, longPoll, &list)
		if err != nil {
			return err
		}
		if next == index {
			continue // the question was held to its end
		}
		own := s.entry.Address == ""
		var addresses []string
		for _, one := range list {
			own = own || one.Service.ID == s.id
			if address := one.Service.Meta[consulMeta]; address != "" {
				addresses = append(addresses, address)
			}
		}
		s.found(addresses)
		if seen && !own { // the agent tells the catalog of a new node a moment later
			return errors.New("the node is not in the catalog any more")
		}
		seen = own
		if index == 0 {
			working()
		}
		index = next
	}
}
