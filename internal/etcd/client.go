// Package etcd keeps keys in etcd, version 3.4 or later, for the time of a lease, and says what others stand beside them. It speaks the JSON form of
// etcd's API.
package etcd

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/directory"
	"github.com/sabir-go/sabir/secret"
)

// Client keeps keys that end with its lease. Its methods are for one goroutine at a time.
type Client struct {
	client   *directory.Client
	ttl      int64 // of the lease, in seconds
	user     string
	password secret.Secret
	token    atomic.Pointer[string] // nil for none
	lease    string
}

// Settings say where etcd is, and who asks.
type Settings struct {
	URLs     []string
	TLS      *tls.Config
	User     string // "" for none
	Password secret.Secret
	TTL      time.Duration // of the lease, from 2 s, in whole seconds
}

// New makes a client. It connects when it is used.
func New(s Settings) (*Client, error) {
	c := &Client{ttl: int64(s.TTL / time.Second), user: s.User, password: s.Password}
	client, err := directory.NewClient(s.URLs, s.TLS, func(h http.Header) {
		if token := c.token.Load(); token != nil {
			h.Set("Authorization", *token)
		}
	})
	if err == nil && c.ttl < 2 {
		err = fmt.Errorf("TTL is %v: want 2 s or more", s.TTL)
	}
	c.client = client
	return c, err
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.client.Close() }

// KeyValue is a key with its value. etcd has bytes in base64, as encoding/json has.
type KeyValue struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value,omitempty"`
	Lease string `json:"lease,omitempty"`
}

// keyRange is the keys from one up to another, as a request.
type keyRange struct {
	Key           []byte `json:"key,omitempty"`
	RangeEnd      []byte `json:"range_end,omitempty"`
	StartRevision string `json:"start_revision,omitempty"`
	Limit         string `json:"limit,omitempty"`
}

// below is the range of the keys that begin with a prefix: up to the prefix whose last byte is one more.
func below(prefix string) keyRange {
	end := []byte(prefix)
	end[len(end)-1]++
	return keyRange{Key: []byte(prefix), RangeEnd: end}
}

func (c *Client) post(ctx context.Context, path string, in, out any) error {
	return c.client.Do(ctx, http.MethodPost, path, in, out)
}

// authenticate gets a token where there is a user. Tokens end after some minutes without use, and with the server.
func (c *Client) authenticate(ctx context.Context) error {
	if c.user == "" {
		return nil
	}
	c.token.Store(nil)
	var answer struct {
		Token string `json:"token"`
	}
	err := c.post(ctx, "/v3/auth/authenticate", map[string]string{"name": c.user, "password": string(c.password.Bytes())}, &answer)
	if err == nil {
		c.token.Store(&answer.Token)
	}
	// Nodes are given their user before etcd asks for one: in the other order they would lose it meanwhile.
	if status, ok := errors.AsType[*directory.Status](err); ok && strings.Contains(status.Text, "authentication is not enabled") {
		return nil
	}
	return err
}

// grant gets a new lease. An older one ends by itself.
func (c *Client) grant(ctx context.Context) error {
	var lease struct {
		ID string `json:"ID"`
	}
	err := c.post(ctx, "/v3/lease/grant", map[string]int64{"TTL": c.ttl}, &lease)
	if err == nil {
		c.lease = lease.ID
	}
	return err
}

// renew keeps the lease alive, where there is one. One that has ended took the keys along.
func (c *Client) renew(ctx context.Context) error {
	if c.lease == "" {
		return nil
	}
	var answer struct {
		Result struct {
			TTL json.Number `json:"TTL"`
		} `json:"result"`
	}
	if err := c.post(ctx, "/v3/lease/keepalive", map[string]string{"ID": c.lease}, &answer); err != nil {
		return err
	}
	if left, _ := answer.Result.TTL.Int64(); left <= 0 {
		return errors.New("the node's lease has ended")
	}
	return nil
}

// Put writes a key, which ends with the lease.
func (c *Client) Put(ctx context.Context, key string, value []byte) error {
	return c.post(ctx, "/v3/kv/put", KeyValue{Key: []byte(key), Value: value, Lease: c.lease}, nil)
}

// Delete removes a key.
func (c *Client) Delete(ctx context.Context, key string) error {
	return c.post(ctx, "/v3/kv/deleterange", keyRange{Key: []byte(key)}, nil)
}

// list reads the keys that begin with a prefix, up to a limit, 0 for none. The revision is that at which they were read.
func (c *Client) list(ctx context.Context, prefix string, limit int) (keys []KeyValue, revision int64, err error) {
	var answer struct {
		Header struct {
			Revision json.Number `json:"revision"`
		} `json:"header"`
		KVs []KeyValue `json:"kvs"`
	}
	all := below(prefix)
	if limit > 0 {
		all.Limit = fmt.Sprint(limit)
	}
	if err := c.post(ctx, "/v3/kv/range", all, &answer); err != nil {
		return nil, 0, err
	}
	revision, _ = answer.Header.Revision.Int64()
	return answer.KVs, revision, nil
}

// Leave ends the lease, and the keys with it.
func (c *Client) Leave(ctx context.Context) {
	if c.lease != "" {
		_ = c.post(ctx, "/v3/lease/revoke", map[string]string{"ID": c.lease}, nil) // else it ends by itself
	}
}
