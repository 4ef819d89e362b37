package micro

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/directory"
	"github.com/sabir-go/sabir/internal/etcd"
	"github.com/sabir-go/sabir/internal/gomicro"
	"github.com/sabir-go/sabir/secret"
)

// Etcd is go-micro's registry over etcd, version 3.4 or later, for [Config]:
//
//	micro.Bridge(micro.Config{Registries: []micro.Registry{&micro.Etcd{URLs: []string{"http://10.0.0.9:2379"}}}, Listen: "10.0.0.7:8080", Expose: []string{"orders.*"}})
//
// It is spoken to over the JSON form of its API. Etcd must not change once the node has started. Where no server answers, the node starts and tries again.
type Etcd struct {
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

// etcdPrefix begins each key; behind it are the service and the node.
const etcdPrefix = "/micro/registry/"

// Name implements [Registry].
func (*Etcd) Name() string { return "etcd" }

// Run implements [Registry].
func (r *Etcd) Run(ctx context.Context, s *gomicro.Session) {
	client, err := etcd.New(etcd.Settings{URLs: r.URLs, TLS: r.TLS, User: r.User, Password: r.Password, TTL: cmp.Or(r.TTL, 90*time.Second)})
	log := s.Log.With("node", s.Node)
	if err != nil {
		log.Error("etcd is no registry of go-micro with these settings: no services are found or entered there", "error", fmt.Errorf("micro.Etcd: %w", err))
		return
	}
	defer client.Close()
	directory.Keep(ctx, log, "etcd", func(ctx context.Context, working func()) error {
		e := &etcdSession{Session: s, client: client, entered: make(map[string]string)}
		return client.Keep(ctx, etcd.Keys{Prefix: etcdPrefix, Limit: gomicro.MaxServices, Enter: e.enter, Found: e.report}, working)
	})
	directory.Goodbye(ctx, client.Leave)
}

// etcdSession keeps the services of one node entered, for the time of a lease.
type etcdSession struct {
	*gomicro.Session
	client  *etcd.Client
	entered map[string]string // values by key
}

// enter writes the keys of the services that the node offers now, and removes those of others.
func (s *etcdSession) enter(ctx context.Context) (changed <-chan struct{}, err error) {
	services, changed := s.Offered()
	now := make(map[string]string)
	for i := range services {
		text, err := services[i].Encode()
		if err != nil {
			return nil, err
		}
		now[etcdKey(services[i].Name, services[i].Nodes[0].ID)] = string(text)
	}
	for key := range s.entered {
		if _, still := now[key]; still {
			continue
		}
		if err := s.client.Delete(ctx, key); err != nil {
			return nil, err
		}
		delete(s.entered, key)
	}
	for key, text := range now {
		if s.entered[key] == text {
			continue
		}
		if err := s.client.Put(ctx, key, []byte(text)); err != nil {
			return nil, err
		}
		s.entered[key] = text
	}
	return changed, nil
}

// etcdKey is the key of a node of a service.
func etcdKey(service, node string) string {
	escape := strings.NewReplacer("/", "-")
	return etcdPrefix + escape.Replace(service) + "/" + escape.Replace(node)
}

// report hands out all services. It is an error where a key of the node's own is gone.
func (s *etcdSession) report(keys []etcd.KeyValue) error {
	there := make(map[string]bool)
	list := make([]gomicro.Service, 0, len(keys))
	for _, kv := range keys {
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
		if !there[key] && len(keys) < gomicro.MaxServices {
			return errors.New("the node's services are not in etcd any more")
		}
	}
	return nil
}
