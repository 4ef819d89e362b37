package config

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/secret"
)

// Reload reads the settings again from where they were read, and uses those that can change while the node runs: the log, the limits, zone, labels and seeds,
// the policies and the keys for HTTP.
// It returns the names of those that changed and are in use, and of those that changed and take a restart. On an error nothing changes.
func (l *Loaded) Reload() (used, later []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reload(l.config)
}

// Set gives settings another value until the process ends, in place of what the flags, the environment, the file and the code say. Names and values are those of flags:
// "log.level" and "debug", "labels" and "rack=r1,disk=ssd", "policies.users.*.timeout" and "2s". The value "" ends what Set gave before. A name that does not exist, and one of
// a setting that takes a restart, is an error, and nothing changes then. It returns the names of the settings that have changed.
func (l *Loaded) Set(values map[string]string) (used []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	again := l.config
	again.set = maps.Clone(l.config.set)
	for name, value := range values {
		if value == "" {
			if _, had := again.set[name]; !had {
				return nil, fmt.Errorf("config: set: %s was not set while the node runs, so there is nothing to end", name)
			}
			delete(again.set, name)
			continue
		}
		if again.set == nil {
			again.set = map[string]string{}
		}
		again.set[name] = value
	}
	used, _, err = l.reload(again)
	if err == nil {
		l.config.set = again.set
	}
	return used, err
}

// tree makes a document of what Set has, as a file would have it. A pattern has dots too, so the name of what it is for ends at the last one.
func tree(set map[string]string) map[string]any {
	root := map[string]any{}
	for name, value := range set {
		parts := strings.Split(name, ".")
		if last := len(parts) - 1; parts[0] == "policies" && last > 1 {
			parts = []string{parts[0], strings.Join(parts[1:last], "."), parts[last]}
		}
		at := root
		for _, part := range parts[:len(parts)-1] {
			below, ok := at[part].(map[string]any)
			if !ok {
				below = map[string]any{}
				at[part] = below
			}
			at = below
		}
		at[parts[len(parts)-1]] = value
	}
	return root
}

// onlyLive is the error of what Set was given and takes a restart.
func (l *Loaded) onlyLive(running *Loaded, set map[string]string) error {
	for _, one := range l.leaves() {
		if _, given := set[one.path]; given && !running.changesLive(one) {
			return fmt.Errorf("config: set: %s cannot change while the node runs: the log, the limits (max_depth, start_timeout, stop_timeout), zone, labels and seeds of a node with join, the policies and the keys of servers that ask for one (http.key, admin.key) can", one.path)
		}
	}
	return nil
}

func (l *Loaded) reload(again Config) (used, later []string, err error) {
	if again.App != nil { // which the program reads, so that it stays as it is
		again.App = l.app.Interface()
	}
	now, err := Load(again)
	if err == nil {
		err = now.onlyLive(l, again.set)
	}
	if err != nil {
		return nil, nil, err
	}
	before := map[string]leaf{}
	for _, one := range l.leaves() {
		before[one.path] = one
	}
	note := func(one leaf, gone bool) {
		if l.changesLive(one) && !(one.secret && gone) {
			used = append(used, one.path)
		} else {
			later = append(later, one.path)
		}
	}
	for _, one := range now.leaves() {
		old, had := before[one.path]
		delete(before, one.path)
		if !had && !one.value.IsZero() || had && !same(old, one) {
			note(one, one.value.IsZero())
		}
	}
	for _, one := range before { // entries of a map that are gone
		if !one.value.IsZero() {
			note(one, true)
		}
	}
	if err := l.use(&now.Settings); err != nil {
		return nil, nil, fmt.Errorf("config: %w", err)
	}
	for _, one := range now.leaves() {
		if l.changesLive(one) && !(one.secret && one.value.IsZero()) {
			l.origins[one.path] = now.origins[one.path]
		}
	}
	return sorted(used), sorted(later), nil
}

// changesLive reports whether a setting can change while the node runs: a key where a server asks for one, a place where the node joins by these settings.
func (l *Loaded) changesLive(one leaf) bool {
	l.Logger()
	switch {
	case one.secret:
		return l.live.keys[one.path] != nil
	case one.path == "zone" || one.path == "labels" || one.path == "seeds":
		return l.Settings.Join != ""
	}
	return one.live()
}

// live reports whether a setting can change while a node runs that has what it is for: a key a server that asks for one, a place a cluster.
func (one *leaf) live() bool { return one.field.Tag.Get("live") != "" }

func same(a, b leaf) bool {
	if a.secret {
		return string(a.value.Interface().(secret.Secret).Bytes()) == string(b.value.Interface().(secret.Secret).Bytes())
	}
	return reflect.DeepEqual(a.value.Interface(), b.value.Interface())
}

// reloader reads the settings again when the process gets the signal for it, and changes them for operators.
type reloader struct {
	loaded  *Loaded
	node    *sabir.Node
	signals chan os.Signal
	ended   chan struct{}
}

// Name implements sabir.Extension.
func (r *reloader) Name() string { return "config" }

// Start implements sabir.Extension.
func (r *reloader) Start(_ context.Context, n *sabir.Node) error {
	if err := r.loaded.guard(n); err != nil {
		return err
	}
	r.node, r.signals, r.ended = n, make(chan os.Signal, 1), make(chan struct{})
	notify(r.signals)
	go func() {
		defer close(r.ended)
		for range r.signals {
			r.reload(n)
		}
	}()
	return nil
}

// Services offers what the command sabir config set asks for.
func (r *reloader) Services() []sabir.Servable {
	s := sabir.NewService("$config", sabir.Doc("the settings of this node"))
	sabir.Handle(s, "set", r.set, sabir.ClusterOnly(), sabir.Doc("gives settings other values until the node stops, and returns the names of those that changed"))
	sabir.Handle(s, "list", func(context.Context, sabir.Empty) ([]Value, error) {
		r.loaded.mu.Lock()
		defer r.loaded.mu.Unlock()
		return r.loaded.Values(), nil
	}, sabir.ClusterOnly(), sabir.Idempotent(), sabir.Doc("lists the settings with where each is from, without secrets"))
	return []sabir.Servable{s}
}

func (r *reloader) set(_ context.Context, values map[string]string) ([]string, error) {
	used, err := r.loaded.Set(values)
	if err != nil {
		return nil, sabir.Errorf(sabir.CodeInvalidArgument, errname.BadOption, "%w", err)
	}
	logAlways(r.node.Log(), "configuration was set by an operator, until the node stops", "node", r.node.ID(), "changed", strings.Join(used, ","))
	return used, nil
}

func (r *reloader) reload(n *sabir.Node) {
	used, later, err := r.loaded.Reload()
	if err != nil {
		n.Log().Error("configuration was read again and is wrong: the node goes on with what it had", "node", n.ID(), "error", err)
		return
	}
	logAlways(n.Log(), "configuration was read again", "node", n.ID(), "changed", strings.Join(used, ","), "needs_restart", strings.Join(later, ","))
}

// logAlways writes a line whatever the level is: a change of the level to warn would else hide itself, and who reads such a log later could not
// tell from which moment on lines are missing.
func logAlways(log *slog.Logger, text string, args ...any) {
	line := slog.NewRecord(time.Now(), slog.LevelInfo, text, 0)
	line.Add(args...)
	_ = log.Handler().Handle(context.Background(), line) // as slog itself
}

// Stop implements sabir.Extension.
func (r *reloader) Stop(context.Context) error {
	r.loaded.leave(r.node)
	ignore(r.signals)
	close(r.signals)
	<-r.ended
	return nil
}
