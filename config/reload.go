package config

import (
	"context"
	"os"
	"reflect"
	"strings"

	"github.com/sabir-go/sabir"
)

// Reload reads the settings again from where they were read, and uses those that can change while the node runs, which is the level of the log.
// It returns the names of those that changed and are in use, and of those that changed and take a restart. On an error nothing changes.
func (l *Loaded) Reload() (used, later []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	again := l.config
	if again.App != nil { // which the program reads, so that it stays as it is
		again.App = l.app.Interface()
	}
	now, err := Load(again)
	if err != nil {
		return nil, nil, err
	}
	before := map[string]leaf{}
	for _, one := range l.leaves() {
		before[one.path] = one
	}
	for _, one := range now.leaves() {
		old, had := before[one.path]
		delete(before, one.path)
		switch {
		case had && same(old, one):
		case one.field.Tag.Get("live") != "":
			used = append(used, one.path)
		default:
			later = append(later, one.path)
		}
	}
	for path := range before { // an entry of a map that is gone
		later = append(later, path)
	}
	l.Logger()
	l.Settings.Log.Level = now.Settings.Log.Level
	l.live.level.Set(levelOf(now.Settings.Log.Level))
	return sorted(used), sorted(later), nil
}

func same(a, b leaf) bool {
	if a.secret {
		return string(a.value.Interface().(Secret).Bytes()) == string(b.value.Interface().(Secret).Bytes())
	}
	return reflect.DeepEqual(a.value.Interface(), b.value.Interface())
}

// reloader reads the settings again when the process gets the signal for it.
type reloader struct {
	loaded  *Loaded
	signals chan os.Signal
	ended   chan struct{}
}

// Name implements sabir.Extension.
func (r *reloader) Name() string { return "config" }

// Start implements sabir.Extension.
func (r *reloader) Start(_ context.Context, n *sabir.Node) error {
	r.signals, r.ended = make(chan os.Signal, 1), make(chan struct{})
	notify(r.signals)
	go func() {
		defer close(r.ended)
		for range r.signals {
			r.reload(n)
		}
	}()
	return nil
}

func (r *reloader) reload(n *sabir.Node) {
	used, later, err := r.loaded.Reload()
	if err != nil {
		n.Log().Error("configuration was read again and is wrong: the node goes on with what it had", "node", n.ID(), "error", err)
		return
	}
	n.Log().Info("configuration was read again", "node", n.ID(), "changed", strings.Join(used, ","), "needs_restart", strings.Join(later, ","))
}

// Stop implements sabir.Extension.
func (r *reloader) Stop(context.Context) error {
	ignore(r.signals)
	close(r.signals)
	<-r.ended
	return nil
}
