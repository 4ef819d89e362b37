// Package etcd has nodes find each other in etcd, version 3.4 or later:
//
//	sabir.Join("tcp://10.0.0.5:7700",
//		cluster.KeyFromEnv("SABIR_KEY"),
//		cluster.WithDirectory(&etcd.Directory{URLs: []string{"http://10.0.0.9:2379"}}))
//
// A node is the key /sabir/<cluster>/<node>, whose value is its address. The key is bound to a lease, which the node keeps alive: it ends with the node, and
// TTL after a node that was killed. The package speaks to etcd over the JSON form of its API and needs no library.
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
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/directory"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/secret"
)

// Directory is etcd as a directory of nodes, for [github.com/sabir-go/sabir/cluster.WithDirectory]. It must not change once the node has started.
type Directory struct {
	// URLs are the addresses of etcd's servers, such as http://10.0.0.9:2379. One that answers is enough. It has no default.
	URLs []string
	// TLS is for addresses that begin with https, with a client certificate where etcd asks for one. Default: the authorities of the system.
	TLS *tls.Config
	// User and Password are those of a user of etcd who may read and write below Prefix. Default: none.
	User     string
	Password secret.Secret
	// Prefix begins each key. Default: /sabir/.
	Prefix string
	// TTL is how long a node that was killed stays entered: from 2 s, in whole seconds. Default: 15 s.
	TTL time.Duration
}

// NewPassword makes a password for [Directory.Password].
func NewPassword(text string) secret.Secret { return secret.New([]byte(text)) }

// Run implements cluster.Directory.
func (d *Directory) Run(ctx context.Context, entry joining.Entry, found func(addresses []string)) {
	s := &session{entry: entry, found: found, ttl: int64(cmp.Or(d.TTL, 15*time.Second) / time.Second), prefix: cmp.Or(d.Prefix, "/sabir/") + url.PathEscape(entry.Cluster) + "/", user: d.User, password: d.Password}
	client, err := directory.NewClient(d.URLs, d.TLS, func(h http.Header) {
		if token := s.token.Load(); token != nil {
			h.Set("Authorization", *token)
		}
	})
	if err == nil && s.ttl < 2 {
		err = fmt.Errorf("TTL is %v: want 2 s or more", d.TTL)
	}
	if err != nil {
		entry.Log.Error("etcd is no directory of nodes with these settings: the node finds no others", "node", entry.Node, "error", fmt.Errorf("etcd.Directory: %w", err))
		return
	}
	s.client = client
	defer client.Close()
	directory.Keep(ctx, entry.Log.With("node", entry.Node), "etcd", s.run)
	directory.Goodbye(ctx, s.leave)
}

// session keeps one node entered.
type session struct {
	entry    joining.Entry
	found    func([]string)
	client   *directory.Client
	prefix   string
	ttl      int64
	user     string
	password secret.Secret
	token    atomic.Pointer[string] // nil for none
	lease    string
}

// value holds the address at which a node is dialled. The id of the node stands in the key.
type value struct {
	Address string `json:"address"`
}

// keyValue is a key with its value. etcd has bytes in base64, as encoding/json has.
type keyValue struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
	Lease string `json:"lease,omitempty"`
}

// ranged is the keys that begin with a prefix, as a request and as its answer.
type ranged struct {
	Key           []byte `json:"key,omitempty"`
	RangeEnd      []byte `json:"range_end,omitempty"`
	StartRevision string `json:"start_revision,omitempty"`
}

type rangeAnswer struct {
	Header struct {
		Revision json.Number `json:"revision"`
	} `json:"header"`
	KVs []keyValue `json:"kvs"`
}

// run enters the node and reports the others until something goes wrong.
func (s *session) run(ctx context.Context, working func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.authenticate(ctx); err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	revision, err := s.report(ctx)
	if err != nil {
		return err
	}
	working()
	changes := make(chan error, 1)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watch(ctx, revision, changes)
	}()
	defer func() {
		cancel()
		<-watched
	}()
	renew := time.NewTicker(time.Duration(s.ttl) * time.Second / 3)
	defer renew.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-renew.C:
			if err := s.renew(ctx); err != nil {
				return err
			}
		case err := <-changes:
			if err == nil {
				_, err = s.report(ctx)
			}
			if err != nil {
				return err
			}
		}
	}
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

// enter binds the node's key to a new lease. An older one ends by itself, and without the key.
func (s *session) enter(ctx context.Context) error {
	if s.entry.Address == "" {
		return nil
	}
	var lease struct {
		ID string `json:"ID"`
	}
	if err := s.client.Do(ctx, http.MethodPost, "/v3/lease/grant", map[string]int64{"TTL": s.ttl}, &lease); err != nil {
		return err
	}
	s.lease = lease.ID
	text, err := json.Marshal(value{s.entry.Address})
	if err != nil {
		return err
	}
	return s.client.Do(ctx, http.MethodPost, "/v3/kv/put", keyValue{Key: s.key(), Value: text, Lease: s.lease}, nil)
}

func (s *session) key() []byte { return []byte(s.prefix + url.PathEscape(s.entry.Node)) }

// renew keeps the lease alive. One that has ended took the key along.
func (s *session) renew(ctx context.Context) error {
	if s.lease == "" {
		return nil
	}
	var answer struct {
		Result struct {
			TTL json.Number `json:"TTL"`
		} `json:"result"`
	}
	if err := s.client.Do(ctx, http.MethodPost, "/v3/lease/keepalive", map[string]string{"ID": s.lease}, &answer); err != nil {
		return err
	}
	if left, _ := answer.Result.TTL.Int64(); left <= 0 {
		return errors.New("the node's lease has ended")
	}
	return nil
}

// report reads all keys. It is an error where the node's own is gone.
func (s *session) report(ctx context.Context) (revision int64, err error) {
	var answer rangeAnswer
	if err := s.client.Do(ctx, http.MethodPost, "/v3/kv/range", s.below(), &answer); err != nil {
		return 0, err
	}
	own := s.entry.Address == ""
	var list []string
	for _, kv := range answer.KVs {
		own = own || string(kv.Key) == string(s.key())
		if address := addressIn(kv.Value); address != "" {
			list = append(list, address)
		}
	}
	s.found(list)
	if !own {
		return 0, errors.New("the node's key is gone")
	}
	revision, _ = answer.Header.Revision.Int64()
	return revision, nil
}

// addressIn is the address in the value of a key; "" where it holds something else.
func addressIn(text []byte) string {
	var v value
	if json.Unmarshal(text, &v) != nil {
		return ""
	}
	return v.Address
}

// below is the range of the keys of the cluster: up to the prefix whose last byte is one more.
func (s *session) below() ranged {
	end := []byte(s.prefix)
	end[len(end)-1]++
	return ranged{Key: []byte(s.prefix), RangeEnd: end}
}

// watched is one message of a watch.
type watched struct {
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
func (s *session) watch(ctx context.Context, after int64, changes chan error) {
	note := func(err error) {
		if err != nil {
			select { // the end is more than a change
			case <-changes:
			default:
			}
		}
		select {
		case changes <- err:
		default:
		}
	}
	create := s.below()
	create.StartRevision = fmt.Sprint(after + 1)
	stream, err := s.client.Open(ctx, http.MethodPost, "/v3/watch", map[string]ranged{"create_request": create})
	if err != nil {
		note(err)
		return
	}
	defer stream.Body.Close()
	bounded := &io.LimitedReader{R: stream.Body}
	messages := json.NewDecoder(bounded)
	for {
		bounded.N = directory.MaxAnswer // for each message
		var m watched
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

// leave ends the lease, and the key with it.
func (s *session) leave(ctx context.Context) {
	if s.lease != "" {
		_ = s.client.Do(ctx, http.MethodPost, "/v3/lease/revoke", map[string]string{"ID": s.lease}, nil) // else it ends by itself
	}
}
