package actor

import (
	"context"
	"log/slog"
	"slices"

	"github.com/sabir-go/sabir/actor/internal/level"
)

// settings holds the level of the log and the values that a process inherits from its parent and passes on to its children. It
// is a list that only grows at its head, so that a million processes can share one.
type settings struct {
	level      slog.Leveler // nil: key and value
	key, value any
	rest       *settings
}

// SetLogLevel sets what LogLevel of [SpawnConfig] does for this process, and for those that it starts from now on.
func (p *Process) SetLogLevel(level slog.Leveler) {
	p.entry.settings = &settings{level: level, rest: p.entry.settings}
}

// Value returns the value under a key that Inherit gave to this process or to one above it; nil if there is none.
func (p *Process) Value(key any) any {
	for h := p.entry.settings; h != nil; h = h.rest {
		if h.level == nil && h.key == key {
			return h.value
		}
	}
	return nil
}

// inheritSettings puts the options of a new process before what its parent has.
func inheritSettings(by *Process, options *settings) *settings {
	var all *settings
	if by != nil {
		all = by.entry.settings
	}
	var own []*settings
	for h := options; h != nil; h = h.rest {
		own = append(own, h)
	}
	for _, o := range slices.Backward(own) {
		all = &settings{o.level, o.key, o.value, all}
	}
	return all
}

func (h *settings) logger(of *slog.Logger) *slog.Logger {
	for ; h != nil; h = h.rest {
		if h.level != nil {
			return slog.New(leveled{of.Handler(), h.level})
		}
	}
	return of
}

// leveled is a handler of logs with another level.
type leveled struct {
	slog.Handler
	level slog.Leveler
}

func (l leveled) Enabled(ctx context.Context, at slog.Level) bool {
	if from := l.level.Level(); from != level.System {
		return at >= from
	}
	return l.Handler.Enabled(ctx, at)
}
func (l leveled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return leveled{l.Handler.WithAttrs(attrs), l.level}
}
func (l leveled) WithGroup(name string) slog.Handler {
	return leveled{l.Handler.WithGroup(name), l.level}
}
