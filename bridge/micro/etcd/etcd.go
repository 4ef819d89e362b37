// Package etcd has go-micro's registry over etcd, for bridge/micro:
//
//	micro.Bridge(micro.WithRegistry(&etcd.Registry{URLs: []string{"http://10.0.0.9:2379"}}), micro.Listen("10.0.0.7:8080"), micro.Expose("orders.*"))
//
// It speaks to etcd, version 3.4 or later, over the JSON form of its API and needs no library.
package etcd

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/directory"
	"github.com/sabir-go/sabir/internal/gomicro"
	"github.com/sabir-go/sabir/internal/secret"
)

// Registry is go-micro's registry over etcd, for [github.com/sabir-go/sabir/bridge/micro.WithRegistry]. It must not change once the node has
// started. Where no server answers, the node starts and tries again.
type Registry struct {
	// URLs are the addresses of etcd's servers, such as http://10.0.0.9:2379. One that answers is enough. It has no default.
	URLs []string
	// TLS is for addresses that begin with https, with a client certificate where etcd asks for one. Default: the authorities of the system.
	TLS *tls.Config
	// User and Password are those of a user of etcd who may read and write below /micro/registry/. Default: none.
	User     string
	Password secret.Secret
	// TTL is how long a node that was killed stays entered: from 2 s, in whole seconds. Default: 90 s, as go-micro's.
	TTL time.Duration
}

// NewPassword makes a password for [Registry.Password].
func NewPassword(text string) secret.Secret { return secret.New([]byte(text)) }

// prefix begins each key; behind it are the service and the node.
const prefix = "/micro/registry/"

// Name implements micro.Registry.
func (*Registry) Name() string { return "etcd" }

// Run implements micro.Registry.
func (r *Registry) Run(ctx context.Context, s *gomicro.Session) {
	e := &session{Session: s, ttl: int64(cmp.Or(r.TTL, 90*time.Second) / time.Second), user: r.User, password: r.Password}
	client, err := directory.NewClient(r.URLs, r.TLS, func(h http.Header) {
		if token := e.token.Load(); token != nil {
			h.Set("Authorization", *token)
		}
	})
	if err == nil && e.ttl < 2 {
		err = fmt.Errorf("TTL is %v: want 2 s or more", r.TTL)
	}
	log := s.Log.With("node", s.Node)
	if err != nil {
		log.Error("etcd is no registry of go-micro with these settings: no services are found or entered there", "error", fmt.Errorf("etcd.Registry: %w", err))
		return
	}
	e.client = client
	defer client.Close()
	directory.Keep(ctx, log, "etcd", e.run)
	directory.Goodbye(ctx, e.leave)
}

// session keeps the services of one node entered. The keys of a run are bound to one lease.
type session struct {
	*gomicro.Session
	client   *directory.Client
	ttl      int64
	user     string
	password secret.Secret
	token    atomic.Pointer[string] // nil for none
	lease    string
	entered  map[string]string // values by key
}

// keyValue is a key with its value. etcd has bytes in base64, as encoding/json has.
type keyValue struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value,omitempty"`
	Lease string `json:"lease,omitempty"`
}

type keyRange struct {
	Key           []byte `json:"key,omitempty"`
	RangeEnd      []byte `json:"range_end,omitempty"`
	StartRevision string `json:"start_revision,omitempty"`
	Limit         string `json:"limit,omitempty"`
}

type rangeAnswer struct {
	Header struct {
		Revision json.Number `json:"revision"`
	} `json:"header"`
	KVs []keyValue `json:"kvs"`
}

// run enters the services and says what others are there, until something goes wrong.
func (s *session) run(ctx context.Context, working func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.authenticate(ctx); err != nil {
		return err
	}
	if err := s.grant(ctx); err != nil {
		return err
	}
	changed, err := s.enter(ctx)
	if err != nil {
		return err
	}
	revision, err := s.report(ctx)
	if err != nil {
		return err
	}
	working()
	news := make(chan error, 1)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watch(ctx, revision, news)
	}()
	defer func() {
		cancel()
		<-watched
	}()
	renew := time.NewTicker(time.Duration(s.ttl) * time.Second / 3)
	defer renew.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-renew.C:
			err = s.renew(ctx)
		case <-changed:
			changed, err = s.enter(ctx)
		case err = <-news:
			if err == nil {
				_, err = s.report(ctx)
			}
		}
	}
	return err
}

// authenticate gets a token where there is a user. Tokens end after some minutes without use, and with the server.
func (s *session) authenticate(ctx context.Context) error {
	if s.user == "" {
		return nil
	}
	s.token.Store(nil)
	var answer struct {
		Token string `json:"token"`
	}
	err := s.client.Do(ctx, http.MethodPost, "/v3/auth/authenticate", map[string]string{"name": s.user, "password": string(s.password.Bytes())}, &answer)
	if err == nil {
		s.token.Store(&answer.Token)
	}
	return err
}

// grant gets a new lease. An older one ends by itself.
func (s *session) grant(ctx context.Context) error {
	var lease struct {
		ID string `json:"ID"`
	}
	err := s.client.Do(ctx, http.MethodPost, "/v3/lease/grant", map[string]int64{"TTL": s.ttl}, &lease)
	s.lease, s.entered = lease.ID, make(map[string]string)
	return err
}

// enter writes the keys of the services that the node offers now, and removes those of others.
func (s *session) enter(ctx context.Context) (changed <-chan struct{}, err error) {
	services, changed := s.Offered()
	now := make(map[string]string)
	for i := range services {
		text, err := services[i].Encode()
		if err != nil {
			return nil, err
		}
		now[keyOf(services[i].Name, services[i].Nodes[0].ID)] = string(text)
	}
	for key := range s.entered {
		if _, still := now[key]; still {
			continue
		}
		if err := s.client.Do(ctx, http.MethodPost, "/v3/kv/deleterange", keyRange{Key: []byte(key)}, nil); err != nil {
			return nil, err
		}
		delete(s.entered, key)
	}
	for key, text := range now {
		if s.entered[key] == text {
			continue
		}
		if err := s.client.Do(ctx, http.MethodPost, "/v3/kv/put", keyValue{Key: []byte(key), Value: []byte(text), Lease: s.lease}, nil); err != nil {
			return nil, err
		}
		s.entered[key] = text
	}
	return changed, nil
}

// keyOf is the key of a node of a service.
func keyOf(service, node string) string {
	escape := strings.NewReplacer("/", "-")
	return prefix + escape.Replace(service) + "/" + escape.Replace(node)
}

// renew keeps the lease alive. One that has ended took the keys along.
func (s *session) renew(ctx context.Context) error {
	var answer struct {
		Result struct {
			TTL json.Number `json:"TTL"`
		} `json:"result"`
	}
	if err := s.client.Do(ctx, http.MethodPost, "/v3/lease/keepalive", map[string]string{"ID": s.lease}, &answer); err != nil {
		return err
	}
	if left, _ := answer.Result.TTL.Int64(); left <= 0 {
		return errors.New("the lease has ended")
	}
	return nil
}

// report reads all keys. It is an error where one of the node's own is gone.
func (s *session) report(ctx context.Context) (revision int64, err error) {
	var answer rangeAnswer
	all := keyRange{Key: []byte(prefix), RangeEnd: []byte(prefix[:len(prefix)-1] + "0"), Limit: fmt.Sprint(gomicro.MaxServices)} // "0" is behind "/"
	if err := s.client.Do(ctx, http.MethodPost, "/v3/kv/range", all, &answer); err != nil {
		return 0, err
	}
	there := make(map[string]bool)
	list := make([]gomicro.Service, 0, len(answer.KVs))
	for _, kv := range answer.KVs {
		there[string(kv.Key)] = true
		one, err := gomicro.DecodeService(kv.Value)
		if err != nil {
			s.Dropped("a record of go-micro's registry was refused", string(kv.Key), err)
			continue
		}
		list = append(list, one)
	}
	s.Found(list)
	for key := range s.entered {
		if !there[key] && len(answer.KVs) < gomicro.MaxServices {
			return 0, errors.New("the node's services are not in etcd any more")
		}
	}
	revision, _ = answer.Header.Revision.Int64()
	return revision, nil
}

// watchMessage is one message of a watch.
type watchMessage struct {
	Result struct {
		Canceled bool              `json:"canceled"`
		Reason   string            `json:"cancel_reason"`
		Events   []json.RawMessage `json:"events"`
	} `json:"result"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// watch notes that something has changed, until the watch ends, which it notes too. Changes that come fast are noted together.
func (s *session) watch(ctx context.Context, after int64, news chan error) {
	note := func(err error) {
		if err != nil {
			select { // the end is more than a change
			case <-news:
			default:
			}
		}
		select {
		case news <- err:
		default:
		}
	}
	create := keyRange{Key: []byte(prefix), RangeEnd: []byte(prefix[:len(prefix)-1] + "0"), StartRevision: fmt.Sprint(after + 1)}
	stream, err := s.client.Open(ctx, http.MethodPost, "/v3/watch", map[string]keyRange{"create_request": create})
	if err != nil {
		note(err)
		return
	}
	defer stream.Body.Close()
	bounded := &io.LimitedReader{R: stream.Body}
	messages := json.NewDecoder(bounded)
	for {
		bounded.N = directory.MaxAnswer // for each message
		var m watchMessage
		err := messages.Decode(&m)
		switch {
		case err != nil:
			note(fmt.Errorf("the watch ended: %w", err))
			return
		case m.Error != nil:
			note(errors.New("the watch ended: " + m.Error.Message))
			return
		case m.Result.Canceled:
			note(errors.New("the watch was ended: " + strings.TrimSpace(m.Result.Reason)))
			return
		case len(m.Result.Events) > 0:
			note(nil)
		}
	}
}

// leave ends the lease, and the keys with it.
func (s *session) leave(ctx context.Context) {
	if s.lease != "" {
		_ = s.client.Do(ctx, http.MethodPost, "/v3/lease/revoke", map[string]string{"ID": s.lease}, nil) // else it ends by itself
	}
}
