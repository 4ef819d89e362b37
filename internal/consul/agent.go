// Package consul keeps services entered in the catalog of Consul, through the HTTP API of an agent, and waits for changes there.
package consul

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/sabir-go/sabir/internal/directory"
	"github.com/sabir-go/sabir/secret"
)

// Agent keeps services in the catalog. [Agent.Ask] and [Agent.Get] may be called beside the other methods, which are for one goroutine at a time.
type Agent struct {
	client  *directory.Client
	ttl     time.Duration
	forget  time.Duration
	entered map[string]bool // by the ids of services
}

// Settings say where the agent is, and for how long services count.
type Settings struct {
	URL   string // default: http://127.0.0.1:8500
	TLS   *tls.Config
	Token secret.Secret
	// TTL is how long a service counts that is not renewed, and Forget how long Consul knows it after that.
	TTL, Forget time.Duration
}

// New makes an agent's client. It connects when it is used.
func New(s Settings) (*Agent, error) {
	client, err := directory.NewClient([]string{cmp.Or(s.URL, "http://127.0.0.1:8500")}, s.TLS, func(h http.Header) {
		if !s.Token.None() {
			h.Set("X-Consul-Token", string(s.Token.Bytes()))
		}
	})
	return &Agent{client: client, ttl: s.TTL, forget: s.Forget}, err
}

// Close closes the connections that are not in use.
func (a *Agent) Close() { a.client.Close() }

// Service is one that the agent takes into the catalog.
type Service struct {
	ID, Name, Address string
	Port              int      `json:",omitempty"`
	Tags              []string `json:",omitempty"`
	Meta              map[string]string
}

type registration struct {
	Service
	Check check
}

type check struct {
	CheckID, TTL, Status           string
	DeregisterCriticalServiceAfter string
}

func checkID(id string) string { return "service:" + id }

// Register takes a service into the catalog, or writes it anew.
func (a *Agent) Register(ctx context.Context, s Service) error {
	a.entered[s.ID] = true // also one whose answer is lost
	return a.put(ctx, "/v1/agent/service/register", registration{s,
		check{CheckID: checkID(s.ID), TTL: a.ttl.String(), Status: "passing", DeregisterCriticalServiceAfter: a.forget.String()}})
}

// Deregister takes a service out.
func (a *Agent) Deregister(ctx context.Context, id string) error {
	err := a.put(ctx, "/v1/agent/service/deregister/"+url.PathEscape(id), nil)
	if err == nil {
		delete(a.entered, id)
	}
	return err
}

// renew keeps the checks passing. An agent that was started anew may have forgotten them.
func (a *Agent) renew(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(a.entered)) {
		if err := a.put(ctx, "/v1/agent/check/pass/"+url.PathEscape(checkID(id)), nil); err != nil {
			return err
		}
	}
	return nil
}

// Leave takes all services out.
func (a *Agent) Leave(ctx context.Context) {
	for id := range a.entered {
		_ = a.Deregister(ctx, id) // else its check ends
	}
}

// Keep enters services and watches the catalog, until something goes wrong or ctx ends. enter registers services; it is called again when changed
// is closed, and a nil channel never is. watch runs beside it until its context ends.
func (a *Agent) Keep(ctx context.Context, enter func(context.Context) (changed <-chan struct{}, err error), watch func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.entered = make(map[string]bool) // an agent that was started anew may have forgotten them
	changed, err := enter(ctx)
	if err != nil {
		return err
	}
	failed, watched := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(watched)
		failed <- watch(ctx)
	}()
	defer func() {
		cancel()
		<-watched
	}()
	renew := time.NewTicker(a.ttl / 3)
	defer renew.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err = <-failed:
		case <-renew.C:
			err = a.renew(ctx)
		case <-changed:
			changed, err = enter(ctx)
		}
	}
	return err
}

func (a *Agent) put(ctx context.Context, path string, in any) error {
	return a.client.Do(ctx, http.MethodPut, path, in, nil)
}

// Get reads an answer that comes at once.
func (a *Agent) Get(ctx context.Context, path string, out any) error {
	return a.client.Do(ctx, http.MethodGet, path, nil, out)
}

// Ask reads an answer that is newer than index, or the same one after wait. next is the index to ask with again: one that is less than index
// means that Consul has begun to count anew, and is 0.
func (a *Agent) Ask(ctx context.Context, path string, query url.Values, index uint64, wait time.Duration, out any) (next uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait+max(wait/4, 5*time.Second)) // the agent adds up to a sixteenth
	defer cancel()
	if query == nil {
		query = make(url.Values)
	}
	query.Set("index", strconv.FormatUint(index, 10))
	query.Set("wait", fmt.Sprintf("%dms", wait.Milliseconds()))
	answer, err := a.client.Open(ctx, http.MethodGet, path+"?"+query.Encode(), nil)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	next, err = strconv.ParseUint(answer.Header.Get("X-Consul-Index"), 10, 64)
	if err != nil || next == 0 {
		return 0, errors.New("the answer is not one of Consul: it has no X-Consul-Index")
	}
	if next < index {
		next = 0
	}
	return next, directory.Read(answer.Body, out)
}
