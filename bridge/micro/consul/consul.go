// Package consul has go-micro's registry over Consul, for bridge/micro:
//
//	micro.Bridge(micro.WithRegistry(&consul.Registry{}), micro.Listen("10.0.0.7:8080"), micro.Expose("orders.*"))
//
// It speaks to the Consul agent of its machine over its HTTP API and needs no library. Services of the catalog that are not go-micro's are left out.
package consul

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/sabir-go/sabir/internal/directory"
	"github.com/sabir-go/sabir/internal/gomicro"
	"github.com/sabir-go/sabir/internal/secret"
)

// Registry is go-micro's registry over Consul, for [github.com/sabir-go/sabir/bridge/micro.WithRegistry]. It must not change once the node has
// started. Where the agent does not answer, the node starts and tries again.
type Registry struct {
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

// NewToken makes a token for [Registry.Token].
func NewToken(text string) secret.Secret { return secret.New([]byte(text)) }

// Name implements micro.Registry.
func (*Registry) Name() string { return "consul" }

// Run implements micro.Registry.
func (r *Registry) Run(ctx context.Context, s *gomicro.Session) {
	c := &session{Session: s, ttl: cmp.Or(r.TTL, 90*time.Second), interval: cmp.Or(r.Interval, 5*time.Second)}
	client, err := directory.NewClient([]string{cmp.Or(r.Agent, "http://127.0.0.1:8500")}, r.TLS, func(h http.Header) {
		if !r.Token.None() {
			h.Set("X-Consul-Token", string(r.Token.Bytes()))
		}
	})
	if err == nil && (c.ttl < 2*time.Second || c.interval < time.Second) {
		err = fmt.Errorf("TTL is %v and Interval %v: want 2 s and 1 s or more", r.TTL, r.Interval)
	}
	log := s.Log.With("node", s.Node)
	if err != nil {
		log.Error("Consul is no registry of go-micro with these settings: no services are found or entered there", "error", fmt.Errorf("consul.Registry: %w", err))
		return
	}
	c.client = client
	defer client.Close()
	directory.Keep(ctx, log, "consul", c.run)
	directory.Goodbye(ctx, c.leave)
}

// session keeps the services of one node entered.
type session struct {
	*gomicro.Session
	client   *directory.Client
	ttl      time.Duration
	interval time.Duration
	entered  map[string]gomicro.Service // by id
}

// run enters the services and says what others are there, until something goes wrong.
func (s *session) run(ctx context.Context, working func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.entered = make(map[string]gomicro.Service) // an agent that was started anew may have forgotten them
	changed, err := s.enter(ctx)
	if err != nil {
		return err
	}
	failed, watched := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(watched)
		failed <- s.watch(ctx, working)
	}()
	defer func() {
		cancel()
		<-watched
	}()
	renew := time.NewTicker(s.ttl / 3)
	defer renew.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err = <-failed:
		case <-renew.C:
			err = s.renew(ctx)
		case <-changed:
			changed, err = s.enter(ctx)
		}
	}
	return err
}

// registration asks the agent to take a node into the catalog.
type registration struct {
	ID, Name, Address string
	Port              int
	Tags              []string
	Meta              map[string]string
	Check             check
}

type check struct {
	CheckID, TTL, Status           string
	DeregisterCriticalServiceAfter string
}

// enter registers the services that the node offers now, and takes out others.
func (s *session) enter(ctx context.Context) (changed <-chan struct{}, err error) {
	services, changed := s.Offered()
	now := make(map[string]bool)
	for i := range services {
		one := &services[i]
		id := one.Nodes[0].ID
		now[id] = true
		if old, ok := s.entered[id]; ok && reflect.DeepEqual(old, *one) {
			continue
		}
		if err := s.client.Do(ctx, http.MethodPut, "/v1/agent/service/register", s.registration(one), nil); err != nil {
			return nil, err
		}
		s.entered[id] = *one
	}
	for id := range s.entered {
		if !now[id] {
			if err := s.client.Do(ctx, http.MethodPut, "/v1/agent/service/deregister/"+url.PathEscape(id), nil, nil); err != nil {
				return nil, err
			}
			delete(s.entered, id)
		}
	}
	return changed, nil
}

func (s *session) registration(one *gomicro.Service) *registration {
	n := &one.Nodes[0]
	r := &registration{ID: n.ID, Name: one.Name, Tags: tagsOf(one), Meta: n.Metadata,
		Check: check{CheckID: checkID(n.ID), TTL: s.ttl.String(), Status: "passing", DeregisterCriticalServiceAfter: "1m5s"}}
	if host, port, err := net.SplitHostPort(n.Address); err == nil {
		r.Address = host
		r.Port, _ = strconv.Atoi(port)
	}
	return r
}

func checkID(id string) string { return "service:" + id }

// renew keeps the checks passing.
func (s *session) renew(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(s.entered)) {
		if err := s.client.Do(ctx, http.MethodPut, "/v1/agent/check/pass/"+url.PathEscape(checkID(id)), nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// watch says what services are there when the catalog changes, and once in a while for their checks.
func (s *session) watch(ctx context.Context, working func()) error {
	index, first := uint64(0), true
	for {
		tags, next, err := s.names(ctx, index)
		if err != nil {
			return err
		}
		if next < index {
			next = 0 // Consul has begun to count anew
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

// names asks for the names of all services with their tags, when these have changed or the interval is over.
func (s *session) names(ctx context.Context, index uint64) (tags map[string][]string, next uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*s.interval)
	defer cancel()
	answer, err := s.client.Open(ctx, http.MethodGet, fmt.Sprintf("/v1/catalog/services?index=%d&wait=%dms", index, s.interval.Milliseconds()), nil)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	next, err = strconv.ParseUint(answer.Header.Get("X-Consul-Index"), 10, 64)
	if err != nil || next == 0 {
		return nil, 0, errors.New("the answer is not one of Consul: it has no X-Consul-Index")
	}
	return tags, next, directory.Read(answer.Body, &tags)
}

// instance is one node as Consul answers it.
type instance struct {
	Node    struct{ Address string }
	Service struct {
		ID, Service, Address string
		Port                 int
		Tags                 []string
	}
	Checks []struct{ Status string }
}

// services asks for the nodes of all services of go-micro.
func (s *session) services(ctx context.Context, tags map[string][]string) (list []gomicro.Service, err error) {
	asked := 0
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		if !slices.ContainsFunc(tags[name], isVersion) {
			continue // of something else
		}
		if asked++; asked > gomicro.MaxServices {
			break
		}
		var nodes []instance
		if err := s.client.Do(ctx, http.MethodGet, "/v1/health/service/"+url.PathEscape(name), nil, &nodes); err != nil {
			return nil, err
		}
		for i := range nodes {
			one, err := serviceOf(&nodes[i])
			if err != nil {
				s.Dropped("a record of go-micro's registry was refused", name, err)
			} else if one != nil {
				list = append(list, *one)
			}
		}
	}
	return list, nil
}

// serviceOf reads an instance; nil for one whose check does not pass.
func serviceOf(i *instance) (*gomicro.Service, error) {
	for _, c := range i.Checks {
		if c.Status == "critical" {
			return nil, nil
		}
	}
	s, err := readTags(i.Service.Tags)
	if err != nil {
		return nil, err
	}
	s.Name = i.Service.Service
	s.Nodes[0].ID = i.Service.ID
	s.Nodes[0].Address = net.JoinHostPort(cmp.Or(i.Service.Address, i.Node.Address), strconv.Itoa(i.Service.Port))
	return s, nil
}

// leave takes the node out.
func (s *session) leave(ctx context.Context) {
	for id := range s.entered {
		_ = s.client.Do(ctx, http.MethodPut, "/v1/agent/service/deregister/"+url.PathEscape(id), nil, nil) // else its check ends
	}
}
