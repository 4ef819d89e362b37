package config

import (
	"context"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/admin"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/telemetry"
)

// Option gives the settings to a node, with the logger of [Loaded.Logger]; the options that they stand for, such as sabir.HTTP and
// sabir.Logger, cannot be given besides. On SIGHUP the node reads them again and uses those that can change while it runs, which are the log, the
// limits and the policies; the log says which did, and which take a restart. sabir.MaxDepth, sabir.StartTimeout and sabir.StopTimeout may be given besides: they hold where no
// setting says otherwise. The command sabir config set, the action $config.set, changes them too.
func (l *Loaded) Option() sabir.NodeOption {
	s := &l.Settings
	list := []sabir.NodeOption{sabir.Logger(l.Logger()), sabir.WithExtension(&reloader{loaded: l})}
	add := func(given bool, make func() sabir.NodeOption) {
		if given {
			list = append(list, make())
		}
	}
	add(s.Admin.Metrics, l.metrics)
	add(true, func() sabir.NodeOption { return sabir.Use(l.live.policies.middleware()) })
	add(s.ID != "", func() sabir.NodeOption { return sabir.NodeID(s.ID) })
	add(s.Join != "", func() sabir.NodeOption { return sabir.Join(s.Join, s.cluster()...) })
	add(s.HTTP.Address != "", func() sabir.NodeOption {
		return sabir.HTTP(s.HTTP.Address, append(keyOf(s.HTTP.Key), l.config.HTTP...)...)
	})
	add(s.Admin.Address != "" && !s.Admin.Metrics, func() sabir.NodeOption { return admin.Serve(s.Admin.Address, s.Admin.options()...) })
	return sabir.Options(list...)
}

func (l *Loaded) metrics() sabir.NodeOption {
	tel, err := telemetry.New(telemetry.Config{Prometheus: true})
	if err != nil {
		return sabir.WithExtension(failed{err})
	}
	a := &l.Settings.Admin
	return sabir.Options(sabir.Use(tel.Middleware()), sabir.Serve(tel.Stats()), admin.Serve(a.Address, append(a.options(), admin.Metrics(tel.Handler()))...))
}

func (a *Admin) options() []gateway.HTTPOption {
	list := keyOf(a.Key)
	if a.Profiler {
		list = append(list, admin.Profiler())
	}
	return list
}

func keyOf(key Secret) []gateway.HTTPOption {
	if key.None() {
		return nil
	}
	return []gateway.HTTPOption{gateway.Key(string(key.Bytes()))}
}

func (s *Settings) cluster() (list []cluster.Option) {
	if !s.Key.None() {
		keys := strings.Split(string(s.Key.Bytes()), ",")
		for i := range keys {
			keys[i] = strings.TrimSpace(keys[i])
		}
		list = append(list, cluster.Key(keys[0], keys[1:]...))
	}
	if !s.NodeKey.None() {
		list = append(list, cluster.NodeKey(string(s.NodeKey.Bytes())))
	}
	if len(s.NodeKeys) > 0 {
		list = append(list, cluster.NodeKeys(s.NodeKeys))
	}
	if len(s.Seeds) > 0 {
		list = append(list, cluster.Seeds(s.Seeds...))
	}
	if s.Zone != "" {
		list = append(list, cluster.Zone(s.Zone))
	}
	if len(s.Labels) > 0 {
		list = append(list, cluster.Labels(s.Labels))
	}
	if s.Advertise != "" {
		list = append(list, cluster.Advertise(s.Advertise))
	}
	return list
}

// failed is an extension that keeps the node from starting.
type failed struct{ err error }

func (f failed) Name() string                             { return "config" }
func (f failed) Start(context.Context, *sabir.Node) error { return f.err }
func (f failed) Stop(context.Context) error               { return nil }
