// Package consul has nodes find each other in the catalog of Consul:
//
//	sabir.Join("tcp://10.0.0.5:7700",
//		cluster.KeyFromEnv("SABIR_KEY"),
//		cluster.WithDirectory(&consul.Directory{}))
//
// A node is an instance of the service sabir-<cluster>, which the Consul agent of its machine knows, with a check that the node keeps passing. It is taken out when
// the node stops, counts no more TTL after a node that was killed, and Consul forgets it a minute later. The package speaks to the agent over its HTTP API and
// needs no library.
package consul

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/sabir-go/sabir/internal/directory"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/secret"
)

// Directory is Consul as a directory of nodes, for [github.com/sabir-go/sabir/cluster.WithDirectory]. It must not change once the node has started.
type Directory struct {
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

// NewToken makes a token for [Directory.Token].
func NewToken(text string) secret.Secret { return secret.New([]byte(text)) }

// Run implements cluster.Directory.
func (d *Directory) Run(ctx context.Context, entry joining.Entry, found func(addresses []string)) {
	s := &session{entry: entry, found: found, ttl: cmp.Or(d.TTL, 15*time.Second), service: cmp.Or(d.Service, "sabir-"+entry.Cluster)}
	s.id = s.service + "-" + entry.Node
	client, err := directory.NewClient([]string{cmp.Or(d.Agent, "http://127.0.0.1:8500")}, d.TLS, func(h http.Header) {
		if !d.Token.None() {
			h.Set("X-Consul-Token", string(d.Token.Bytes()))
		}
	})
	if err == nil && s.ttl < 2*time.Second {
		err = fmt.Errorf("TTL is %v: want 2 s or more", d.TTL)
	}
	if err != nil {
		entry.Log.Error("Consul is no directory of nodes with these settings: the node finds no others", "node", entry.Node, "error", fmt.Errorf("consul.Directory: %w", err))
		return
	}
	s.client = client
	defer client.Close()
	directory.Keep(ctx, entry.Log.With("node", entry.Node), "consul", s.run)
	if entry.Address != "" {
		directory.Goodbye(ctx, s.leave)
	}
}

// session keeps one node entered.
type session struct {
	entry   joining.Entry
	found   func([]string)
	client  *directory.Client
	service string
	id      string // of the node's instance
	ttl     time.Duration
}

// meta is the name under which an instance of the service has the node's address.
const meta = "sabir"

// run enters the node and reports the others until something goes wrong.
func (s *session) run(ctx context.Context, working func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.enter(ctx); err != nil {
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
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case <-renew.C:
			if err := s.renew(ctx); err != nil {
				return err
			}
		}
	}
}

// registration asks the agent to take a node into the catalog.
type registration struct {
	ID, Name, Address string
	Port              int `json:",omitempty"`
	Meta              map[string]string
	Check             check
}

type check struct {
	CheckID, TTL, Status           string
	DeregisterCriticalServiceAfter string
}

func (s *session) enter(ctx context.Context) error {
	if s.entry.Address == "" {
		return nil
	}
	r := registration{ID: s.id, Name: s.service, Meta: map[string]string{meta: s.entry.Address},
		Check: check{CheckID: s.checkID(), TTL: s.ttl.String(), Status: "passing", DeregisterCriticalServiceAfter: "1m"}}
	if u, err := url.Parse(s.entry.Address); err == nil { // for people, and for those who look it up by DNS
		r.Address = u.Hostname()
		r.Port, _ = strconv.Atoi(u.Port())
	}
	return s.client.Do(ctx, http.MethodPut, "/v1/agent/service/register", r, nil)
}

func (s *session) checkID() string { return "service:" + s.id }

// renew keeps the check passing. An agent that was started anew may have forgotten it.
func (s *session) renew(ctx context.Context) error {
	if s.entry.Address == "" {
		return nil
	}
	return s.client.Do(ctx, http.MethodPut, "/v1/agent/check/pass/"+url.PathEscape(s.checkID()), nil, nil)
}

// instance is one node as Consul answers it.
type instance struct {
	Service struct {
		ID   string
		Meta map[string]string
	}
}

// longPoll is how long the agent holds a question that has no news.
const longPoll = time.Minute

// watch reports the nodes at first and whenever they have changed.
func (s *session) watch(ctx context.Context, working func()) error {
	index, seen := uint64(0), false
	for {
		list, next, err := s.ask(ctx, index)
		if err != nil {
			return err
		}
		if next < index {
			next = 0 // Consul has begun to count anew
		}
		if next == index {
			continue // the question was held to its end
		}
		own := s.entry.Address == ""
		var addresses []string
		for _, one := range list {
			own = own || one.Service.ID == s.id
			if address := one.Service.Meta[meta]; address != "" {
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

func (s *session) ask(ctx context.Context, index uint64) (list []instance, next uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, longPoll+longPoll/4) // the agent adds up to a sixteenth
	defer cancel()
	path := fmt.Sprintf("/v1/health/service/%s?passing=1&index=%d&wait=%s", url.PathEscape(s.service), index, longPoll)
	answer, err := s.client.Open(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	next, err = strconv.ParseUint(answer.Header.Get("X-Consul-Index"), 10, 64)
	if err != nil || next == 0 {
		return nil, 0, errors.New("the answer is not one of Consul: it has no X-Consul-Index")
	}
	return list, next, directory.Read(answer.Body, &list)
}

// leave takes the node out.
func (s *session) leave(ctx context.Context) {
	_ = s.client.Do(ctx, http.MethodPut, "/v1/agent/service/deregister/"+url.PathEscape(s.id), nil, nil) // else its check ends
}
