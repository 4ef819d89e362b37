package dashboard

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
)

// logLine is a record that was logged in a traced call.
type logLine struct {
	At      int64      `json:"at"` // Unix nanoseconds
	Span    string     `json:"span"`
	Node    string     `json:"node"`
	Level   string     `json:"level"`
	Message string     `json:"message"`
	Fields  []logField `json:"fields,omitempty"`
}

type logField struct {
	Name  string `json:"name"` // with those of its groups before it: request.path
	Value string `json:"value"`
}

// keptLine is a line in a ring.
type keptLine struct {
	trace trace.TraceID
	line  logLine
}

// LogHandler passes records on to inner, and keeps as many of those logged in a traced call as the ring has spans: the page of a
// trace shows them. What must not be seen there is taken out before, with [telemetry.Redact]:
//
//	log := slog.New(telemetry.Redact(ring.LogHandler(telemetry.LogHandler(slog.NewJSONHandler(os.Stderr, nil))), "password"))
//	node := sabir.NewNode(sabir.Logger(log), sabir.Serve(ring.Service()), sabir.Use(tel.Middleware()), …)
//
// [telemetry.Redact]: https://pkg.go.dev/github.com/sabir-go/sabir/telemetry#Redact
func (r *Ring) LogHandler(inner slog.Handler) slog.Handler { return &logTap{ring: r, inner: inner} }

// logTap is the handler that LogHandler returns.
type logTap struct {
	ring  *Ring
	inner slog.Handler
	group string // with a dot at the end; "" for none
	with  []logField
}

// Enabled implements slog.Handler.
func (l *logTap) Enabled(ctx context.Context, level slog.Level) bool {
	return l.inner.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (l *logTap) Handle(ctx context.Context, record slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		fields := slices.Clip(l.with)
		record.Attrs(func(a slog.Attr) bool {
			fields = appendFields(fields, l.group, a)
			return len(fields) < maxDetails
		})
		l.ring.keepLine(keptLine{span.TraceID(), logLine{At: record.Time.UnixNano(), Span: span.SpanID().String(), Node: sabir.InfoFromContext(ctx).Node,
			Level: record.Level.String(), Message: clip(record.Message), Fields: fields}})
	}
	return l.inner.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (l *logTap) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := slices.Clip(l.with)
	for _, a := range attrs {
		with = appendFields(with, l.group, a)
	}
	return &logTap{l.ring, l.inner.WithAttrs(attrs), l.group, with}
}

// WithGroup implements slog.Handler.
func (l *logTap) WithGroup(name string) slog.Handler {
	if name == "" {
		return l
	}
	return &logTap{l.ring, l.inner.WithGroup(name), l.group + name + ".", l.with}
}

// appendFields appends an attribute, or those of a group.
func appendFields(to []logField, group string, a slog.Attr) []logField {
	value := a.Value.Resolve()
	switch {
	case len(to) >= maxDetails || a.Equal(slog.Attr{}):
		return to
	case value.Kind() != slog.KindGroup:
		return append(to, logField{clip(group + a.Key), clip(value.String())})
	}
	if a.Key != "" {
		group += a.Key + "."
	}
	for _, one := range value.Group() {
		to = appendFields(to, group, one)
	}
	return to
}

func (r *Ring) keepLine(line keptLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines.add(line)
}

// linesOf returns the lines of a trace, by their time.
func (r *Ring) linesOf(id string) []logLine {
	lines := []logLine{}
	wanted, err := trace.TraceIDFromHex(id)
	if err != nil {
		return lines
	}
	r.mu.Lock()
	for _, kept := range r.lines.list {
		if kept.trace == wanted {
			lines = append(lines, kept.line)
		}
	}
	r.mu.Unlock()
	return byTime(lines)
}

// byTime sorts lines and bounds them.
func byTime(lines []logLine) []logLine {
	slices.SortFunc(lines, func(a, b logLine) int {
		return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Node, b.Node), strings.Compare(a.Message, b.Message))
	})
	return lines[:min(len(lines), maxSpans)]
}

// logQuery is the input of $traces.logs.
type logQuery struct {
	Trace string `json:"trace"`
}

// logList is its output.
type logList struct {
	Node  string    `json:"node"`
	Lines []logLine `json:"lines"`
}

// askLogs asks all nodes for the lines of a trace. One that several have, because they share a ring, is taken once.
func (b *dashboard) askLogs(ctx context.Context, id string) []logLine {
	var mu sync.Mutex
	all := []logLine{}
	eachNode(b.nodesNamed(""), func(n introspect.Node) {
		list, err := ask[logList](ctx, b.node, n.ID, "$traces.logs", logQuery{id})
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, list.Lines...)
	})
	return slices.CompactFunc(byTime(all), func(a, b logLine) bool {
		return a.At == b.At && a.Span == b.Span && a.Node == b.Node && a.Message == b.Message && slices.Equal(a.Fields, b.Fields)
	})
}
