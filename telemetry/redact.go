package telemetry

import (
	"context"
	"log/slog"
	"slices"
	"strings"
)

// redacted is the value that Redact puts in the place of others, as the command line and the dashboard do for settings.
const redacted = "(hidden)"

// Redact hides the values of the fields of these names, in upper or lower case, before inner sees them, in groups too. What is
// inside of a value that is no group, such as a struct, it does not look at: give such a type a method LogValue (see [slog.LogValuer]).
// Put it around all other handlers:
//
//	slog.New(telemetry.Redact(telemetry.LogHandler(slog.NewJSONHandler(os.Stderr, nil)), "password", "token"))
func Redact(inner slog.Handler, fields ...string) slog.Handler {
	hidden := make(map[string]bool, len(fields))
	for _, name := range fields {
		hidden[strings.ToLower(name)] = true
	}
	return &redactor{inner, hidden}
}

// redactor is the handler that Redact returns.
type redactor struct {
	inner  slog.Handler
	hidden map[string]bool // names in lower case
}

// Enabled implements slog.Handler.
func (r *redactor) Enabled(ctx context.Context, level slog.Level) bool {
	return r.inner.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (r *redactor) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, record.Message, record.PC)
	record.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(r.attr(a))
		return true
	})
	return r.inner.Handle(ctx, clean)
}

// WithAttrs implements slog.Handler.
func (r *redactor) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &redactor{r.inner.WithAttrs(r.attrs(attrs)), r.hidden}
}

// WithGroup implements slog.Handler. A group of a hidden name hides all that is in it.
func (r *redactor) WithGroup(name string) slog.Handler {
	switch {
	case name == "":
		return r
	case r.hidden[strings.ToLower(name)]:
		return &hiddenGroup{r.inner.WithAttrs([]slog.Attr{slog.String(name, redacted)})}
	}
	return &redactor{r.inner.WithGroup(name), r.hidden}
}

func (r *redactor) attrs(attrs []slog.Attr) []slog.Attr {
	clean := slices.Clone(attrs)
	for i := range clean {
		clean[i] = r.attr(clean[i])
	}
	return clean
}

// attr is the attribute as it may be seen.
func (r *redactor) attr(a slog.Attr) slog.Attr {
	if r.hidden[strings.ToLower(a.Key)] {
		return slog.String(a.Key, redacted)
	}
	// What resolves to a group is looked into; anything else is left to the handler that writes it.
	if kind := a.Value.Kind(); kind == slog.KindGroup || kind == slog.KindLogValuer {
		if a.Value = a.Value.Resolve(); a.Value.Kind() == slog.KindGroup {
			a.Value = slog.GroupValue(r.attrs(a.Value.Group())...)
		}
	}
	return a
}

// hiddenGroup drops the fields of a group that is hidden.
type hiddenGroup struct{ inner slog.Handler }

// Enabled implements slog.Handler.
func (h *hiddenGroup) Enabled(ctx context.Context, level slog.Level) bool {
	return h.inner.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *hiddenGroup) Handle(ctx context.Context, record slog.Record) error {
	return h.inner.Handle(ctx, slog.NewRecord(record.Time, record.Level, record.Message, record.PC))
}

// WithAttrs implements slog.Handler.
func (h *hiddenGroup) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements slog.Handler.
func (h *hiddenGroup) WithGroup(string) slog.Handler { return h }
