package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/sabir-go/sabir/internal/directory"
	"github.com/sabir-go/sabir/internal/etcd"
	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/secret"
)

// Etcd is etcd, version 3.4 or later, as a directory of nodes: nodes find each other there. It must not change once the node has started.
//
//	sabir.Join("tcp://10.0.0.5:7700", cluster.Config{
//		KeyFromEnv: "SABIR_KEY",
//		Directory:  &cluster.Etcd{URLs: []string{"http://10.0.0.9:2379"}},
//	})
//
// A node is the key /sabir/<cluster>/<node>, whose value is its address. The key is bound to a lease, which the node keeps alive: it ends with the node, and
// TTL after a node that was killed. It is spoken to over the JSON form of its API.
type Etcd struct {
	// URLs are the addresses of etcd's servers, such as http://10.0.0.9:2379. One that answers is enough. It has no default.
	URLs []string
	// TLS is for addresses that begin with https, with a client certificate where etcd asks for one. Default: the authorities of the system.
	TLS *tls.Config
	// User and Password are those of a user of etcd who may read and write below Prefix. To introduce them, give them to all nodes before etcd's
	// authentication is enabled. Default: none.
	User     string
	Password secret.Secret
	// Prefix begins each key. Default: /sabir/.
	Prefix string
	// TTL is how long a node that was killed stays entered: from 2 s, in whole seconds. Default: 15 s.
	TTL time.Duration
}

// Run implements [Directory].
func (d *Etcd) Run(ctx context.Context, entry joining.Entry, found func(addresses []string)) {
	s := &etcdSession{entry: entry, found: found, prefix: cmp.Or(d.Prefix, "/sabir/") + url.PathEscape(entry.Cluster) + "/"}
	client, err := etcd.New(etcd.Settings{URLs: d.URLs, TLS: d.TLS, User: d.User, Password: d.Password, TTL: cmp.Or(d.TTL, 15*time.Second)})
	if err != nil {
		entry.Log.Error("etcd is no directory of nodes with these settings: the node finds no others", "node", entry.Node, "error", fmt.Errorf("cluster.Etcd: %w", err))
		return
	}
	s.client = client
	defer client.Close()
	keys := etcd.Keys{Prefix: s.prefix, Found: s.report}
	if entry.Address != "" {
		keys.Enter = s.enter
	}
	directory.Keep(ctx, entry.Log.With("node", entry.Node), "etcd", func(ctx context.Context, working func()) error { return client.Keep(ctx, keys, working) })
	directory.Goodbye(ctx, client.Leave)
}

// etcdSession keeps one node entered.
type etcdSession struct {
	entry  joining.Entry
	found  func([]string)
	client *etcd.Client
	prefix string
}

// etcdValue holds the address at which a node is dialled. The id of the node stands in the key.
type etcdValue struct {
	Address string `json:"address"`
}

// enter writes the node's key.
func (s *etcdSession) enter(ctx context.Context) (changed <-chan struct{}, err error) {
	text, err := json.Marshal(etcdValue{s.entry.Address})
	if err != nil {
		return nil, err
	}
	return nil, s.client.Put(ctx, s.key(), text)
}

func (s *etcdSession) key() string { return s.prefix + url.PathEscape(s.entry.Node) }

// report hands out the addresses of all nodes. It is an error where the node's own key is gone.
func (s *etcdSession) report(keys []etcd.KeyValue) error {
	own := s.entry.Address == ""
	var list []string
	for _, kv := range keys {
		own = own || string(kv.Key) == s.key()
		if address := addressIn(kv.Value); address != "" {
			list = append(list, address)
		}
	}
	s.found(list)
	if !own {
		return errors.New("the node's key is gone")
	}
	return nil
}

// addressIn is the address in the value of a key; "" where it holds something else.
func addressIn(text []byte) string {
	var v etcdValue
	if json.Unmarshal(text, &v) != nil {
		return ""
	}
	return v.Address
}
