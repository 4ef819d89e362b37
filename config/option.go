package config

import (
	"context"
	"reflect"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/admin"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/telemetry"
)

// Option gives the settings to a node, with the logger of [Loaded.Logger]; the options that they stand for, such as sabir.HTTP and
// sabir.Logger, cannot be given besides. On SIGHUP the node reads them again and uses those that can change while it runs, which are the log, the
// limits, zone, labels and seeds, the policies and the keys for HTTP; the log says which did, and which take a restart. MaxDepth, StartTimeout and StopTimeout of sabir.Limits may be given besides: they hold where no
// setting says otherwise. The command sabir config set, the action $config.set, changes them too.
//
// The options for HTTP are those of sabir.HTTP, where http.address is set: all but its address and its key.
func (l *Loaded) Option(http ...gateway.HTTPOption) sabir.NodeOption {
	s := &l.Settings
	list := []sabir.NodeOption{sabir.Logger(l.Logger()), sabir.WithExtension(&reloader{loaded: l})}
	add := func(given bool, make func() sabir.NodeOption) {
		if given {
			list = append(list, make())
		}
	}
	var metrics []gateway.HTTPOption
	add(s.Admin.Metrics || !reflect.ValueOf(l.config.Telemetry).IsZero(), func() sabir.NodeOption { return l.telemetry(&metrics) })
	add(true, func() sabir.NodeOption { return sabir.Use(l.live.policies.middleware()) })
	add(s.ID != "", func() sabir.NodeOption { return sabir.NodeID(s.ID) })
	add(s.Join != "", func() sabir.NodeOption { return sabir.Join(s.Join, s.cluster()) })
	add(s.HTTP.Address != "", func() sabir.NodeOption {
		return sabir.HTTP(s.HTTP.Address, append(l.withKeys("http.key"), http...)...)
	})
	add(s.Admin.Address != "", func() sabir.NodeOption { return admin.Serve(s.Admin.Address, append(l.adminOptions(), metrics...)...) })
	return sabir.Options(list...)
}

// telemetry makes what the code and the settings want of it, with the page of its metrics for the operators' address.
func (l *Loaded) telemetry(metrics *[]gateway.HTTPOption) sabir.NodeOption {
	wanted := l.config.Telemetry
	wanted.Prometheus = wanted.Prometheus || l.Settings.Admin.Metrics
	wanted.Metrics = true // without them telemetry.Stats, which is served below, has no answer for sabir top and the dashboard
	tel, err := telemetry.New(wanted)
	if err != nil {
		return sabir.WithExtension(failed{err})
	}
	if l.Settings.Admin.Metrics {
		*metrics = append(*metrics, admin.Metrics(tel.Handler()))
	}
	return sabir.Options(sabir.Use(tel.Middleware()), sabir.Serve(tel.Stats()))
}

func (l *Loaded) adminOptions() []gateway.HTTPOption {
	a := &l.Settings.Admin
	list := l.withKeys("admin.key")
	if a.Profiler {
		list = append(list, admin.Profiler())
	}
	return list
}

// withKeys gives a server the keys of a setting, which can be replaced while it runs.
func (l *Loaded) withKeys(path string) []gateway.HTTPOption {
	key := *l.Settings.key(path)
	if key.None() {
		return nil
	}
	keys := httpaccess.NewKeys(split(key)...)
	l.live.keys[path] = keys
	return []gateway.HTTPOption{gateway.Key(""), func(c *httpaccess.Config) { c.Keys = keys }}
}

// split returns the keys of a setting: the new one, and old ones after commas.
func split(key secret.Secret) []string {
	if key.None() {
		return nil
	}
	keys := strings.Split(string(key.Bytes()), ",")
	for i := range keys {
		keys[i] = strings.TrimSpace(keys[i])
	}
	return keys
}

// ClusterKey is the option of Join that has the cluster's key as the settings have it: from key, SABIR_KEY or the file that key_file, SABIR_KEY_FILE or
// --key_file names. Give it to what is opened before the node is there, such as a store for grains in nats://embedded, as store.Config.Key. It is the zero
// Config where no key is set, which is none there too.
func (l *Loaded) ClusterKey() cluster.Config { return l.Settings.clusterKey() }

func (s *Settings) clusterKey() (c cluster.Config) {
	for i, key := range split(s.Key) {
		if i == 0 {
			c.Key = secret.New(key)
		} else {
			c.OldKeys = append(c.OldKeys, secret.New(key))
		}
	}
	return c
}

func (s *Settings) cluster() cluster.Config {
	c := s.clusterKey()
	c.Zone, c.Labels, c.Seeds = s.Zone, s.Labels, s.Seeds
	c.NodeKey, c.Advertise = s.NodeKey, s.Advertise
	if len(s.NodeKeys) > 0 {
		c.NodeKeys = s.NodeKeys
	}
	return c
}

// place has the settings that a running node takes too.
func (s *Settings) place() cluster.Config {
	return cluster.Config{Zone: s.Zone, Labels: s.Labels, Seeds: s.Seeds}
}

// failed is an extension that keeps the node from starting.
type failed struct{ err error }

func (f failed) Name() string                             { return "config" }
func (f failed) Start(context.Context, *sabir.Node) error { return f.err }
func (f failed) Stop(context.Context) error               { return nil }
