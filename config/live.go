package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/telemetry"
)

// live holds the settings that change while the node runs.
type live struct {
	level    slog.LevelVar
	json     atomic.Bool
	log      *slog.Logger
	policies policies
	keys     map[string]*httpaccess.Keys // of the servers that ask for one, by the name of the setting
	nodes    []*sabir.Node               // that run with these settings; guarded by Loaded.mu
}

// Logger is the logger that the settings describe. Its level and its format change when they are read again.
func (l *Loaded) Logger() *slog.Logger {
	if l.live != nil {
		return l.live.log
	}
	l.live = &live{policies: policies{byPattern: l.Settings.Policies}, keys: map[string]*httpaccess.Keys{}}
	l.live.setLog(l.Settings.Log)
	options := &slog.HandlerOptions{Level: &l.live.level}
	handler := telemetry.LogHandler(eitherFormat{&l.live.json, slog.NewTextHandler(os.Stderr, options), slog.NewJSONHandler(os.Stderr, options)})
	if wrap := l.config.LogHandler; wrap != nil {
		handler = wrap(handler)
	}
	l.live.log = slog.New(handler)
	return l.live.log
}

func (l *live) setLog(log Log) {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cmp.Or(log.Level, "info"))) // the rule of the field holds
	l.level.Set(level)
	l.json.Store(log.Format == "json")
}

// limits are those of a node that a running node takes too.
func (s *Settings) limits() sabir.Limits {
	return sabir.Limits{MaxDepth: s.MaxDepth, StartTimeout: s.StartTimeout, StopTimeout: s.StopTimeout}
}

// key is the setting of that name, of those whose keys can change while a server asks for one.
func (s *Settings) key(path string) *secret.Secret {
	if path == "http.key" {
		return &s.HTTP.Key
	}
	return &s.Admin.Key
}

// guard gives a node that starts its limits, and those that the settings have later.
func (l *Loaded) guard(n *sabir.Node) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Logger()
	l.live.nodes = append(l.live.nodes, n)
	return n.SetLimits(l.Settings.limits())
}

func (l *Loaded) leave(n *sabir.Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live.nodes = slices.DeleteFunc(l.live.nodes, func(one *sabir.Node) bool { return one == n })
}

// use gives the nodes what can change while they run. On an error nothing changes.
func (l *Loaded) use(s *Settings) error {
	l.Logger()
	for path, keys := range l.live.keys {
		if err := keys.MayBecome(split(*s.key(path))...); err != nil && !s.key(path).None() {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := l.move(s); err != nil {
		return err
	}
	if err := l.live.policies.change(s.Policies); err != nil {
		return errors.Join(err, l.move(&l.Settings))
	}
	for _, n := range l.live.nodes {
		if err := n.SetLimits(s.limits()); err != nil {
			return err
		}
	}
	l.live.setLog(s.Log)
	own := &l.Settings
	for path, keys := range l.live.keys {
		if key := s.key(path); !key.None() { // else a restart ends it
			keys.Replace(split(*key)...)
			*own.key(path) = *key
		}
	}
	own.Log, own.Policies = s.Log, s.Policies
	if own.Join != "" {
		own.Zone, own.Labels, own.Seeds = s.Zone, s.Labels, s.Seeds
	}
	own.MaxDepth, own.StartTimeout, own.StopTimeout = s.MaxDepth, s.StartTimeout, s.StopTimeout
	return nil
}

// move gives the nodes zone, labels and seeds, where they are in a cluster by these settings.
func (l *Loaded) move(s *Settings) error {
	if l.Settings.Join == "" {
		return nil
	}
	for _, n := range l.live.nodes {
		if err := n.SetJoin(s.place()); err != nil {
			return err
		}
	}
	return nil
}

// eitherFormat writes records as text or as JSON, whichever is wanted when a record comes.
type eitherFormat struct {
	wantJSON   *atomic.Bool
	text, json slog.Handler
}

func (h eitherFormat) wanted() slog.Handler {
	if h.wantJSON.Load() {
		return h.json
	}
	return h.text
}

// Enabled implements slog.Handler.
func (h eitherFormat) Enabled(ctx context.Context, level slog.Level) bool {
	return h.wanted().Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h eitherFormat) Handle(ctx context.Context, r slog.Record) error {
	return h.wanted().Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h eitherFormat) WithAttrs(attrs []slog.Attr) slog.Handler {
	return eitherFormat{h.wantJSON, h.text.WithAttrs(attrs), h.json.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h eitherFormat) WithGroup(name string) slog.Handler {
	return eitherFormat{h.wantJSON, h.text.WithGroup(name), h.json.WithGroup(name)}
}
