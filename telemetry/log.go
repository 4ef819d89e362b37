package telemetry

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/sabir-go/sabir"
)

// LogHandler adds to each record what its context holds: node, service, action or event, and request_id of the call that
// it is logged in; trace_id and span_id, in OpenTelemetry's hexadecimal form, of its span. Fields that the context does not
// hold are left out. They stay at the top level whatever groups the logger opened. Log with the context to have them:
//
//	slog.SetDefault(slog.New(telemetry.LogHandler(slog.NewJSONHandler(os.Stderr, nil))))
//	slog.InfoContext(ctx, "order placed", "order", id)
func LogHandler(inner slog.Handler) slog.Handler {
	if h, ok := inner.(*logHandler); ok {
		return h
	}
	return &logHandler{root: inner}
}

// logHandler keeps the attributes after the first group apart from root, so that its own fields go in before them.
type logHandler struct {
	root   slog.Handler
	groups []func(slog.Handler) slog.Handler
}

// Enabled implements slog.Handler.
func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.root.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *logHandler) Handle(ctx context.Context, record slog.Record) error {
	attrs := callAttrs(ctx)
	if len(h.groups) == 0 {
		if len(attrs) > 0 {
			record = record.Clone()
			record.AddAttrs(attrs...)
		}
		return h.root.Handle(ctx, record)
	}
	inner := h.root
	if len(attrs) > 0 {
		inner = inner.WithAttrs(attrs)
	}
	for _, open := range h.groups {
		inner = open(inner)
	}
	return inner.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(h.groups) == 0 {
		return &logHandler{root: h.root.WithAttrs(attrs)}
	}
	return h.then(func(inner slog.Handler) slog.Handler { return inner.WithAttrs(attrs) })
}

// WithGroup implements slog.Handler.
func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.then(func(inner slog.Handler) slog.Handler { return inner.WithGroup(name) })
}

func (h *logHandler) then(open func(slog.Handler) slog.Handler) slog.Handler {
	return &logHandler{h.root, append(slices.Clip(h.groups), open)}
}

// callAttrs returns the log attributes of the call that ctx belongs to.
func callAttrs(ctx context.Context) []slog.Attr {
	if ctx == nil {
		return nil
	}
	info, span := sabir.InfoFromContext(ctx), trace.SpanContextFromContext(ctx)
	attrs := make([]slog.Attr, 0, 7)
	add := func(key, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(key, value))
		}
	}
	add("node", info.Node)
	add("service", info.Service)
	add("action", info.Action)
	add("event", info.Event)
	add("request_id", info.RequestID)
	if span.IsValid() {
		add("trace_id", span.TraceID().String())
		add("span_id", span.SpanID().String())
	}
	return attrs
}

// logs writes lines about calls.
type logs struct {
	log  *slog.Logger
	each slog.Leveler // of calls that go well, which have no line if it is nil
}

// call logs the calls, or the streams, of one action.
func (l *logs) call(a *sabir.Action, next sabir.Handler) sabir.Handler {
	released := !a.Inline && !a.Stream && !a.Remote
	return func(ctx context.Context, r *sabir.Request) error {
		start := l.start(ctx)
		err := next(ctx, r)
		if err != nil || !start.IsZero() {
			l.ended(ctx, "call", start, outcome(ctx, released, err))
		}
		return err
	}
}

// event logs what one handler of events handles.
func (l *logs) event(next sabir.EventHandler) sabir.EventHandler {
	return func(ctx context.Context, e *sabir.Event) error {
		start := l.start(ctx)
		err := next(ctx, e)
		if err != nil || !start.IsZero() {
			l.ended(ctx, "event", start, err)
		}
		return err
	}
}

// start is the zero time when calls that go well are not logged.
func (l *logs) start(ctx context.Context) time.Time {
	if l.each == nil || !l.log.Enabled(ctx, l.each.Level()) {
		return time.Time{}
	}
	return time.Now()
}

func (l *logs) ended(ctx context.Context, what string, start time.Time, err error) {
	var attrs []slog.Attr
	if !start.IsZero() {
		attrs = append(attrs, slog.Float64("duration_ms", float64(time.Since(start).Microseconds())/1000))
	}
	if err == nil {
		l.log.LogAttrs(ctx, l.each.Level(), what, attrs...)
		return
	}
	e := sabir.AsError(err)
	attrs = append(attrs, slog.Any("error", e))
	switch {
	case e.Code == sabir.CodeInternal || e.Code == sabir.CodeUnknown:
		l.log.LogAttrs(ctx, slog.LevelError, what+" failed", attrs...)
	case !start.IsZero():
		l.log.LogAttrs(ctx, l.each.Level(), what+" failed", attrs...)
	}
}
