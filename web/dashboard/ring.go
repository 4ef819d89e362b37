package dashboard

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/sabir-go/sabir"
)

// Ring keeps the last spans of a process, for the dashboards of the cluster. It is an exporter of OpenTelemetry's, and the
// node that it is given to serves what it holds:
//
//	ring := dashboard.Traces(4096)
//	tel, err := telemetry.New(telemetry.Config{Metrics: true, Traces: ring})
//	node := sabir.NewNode(sabir.Serve(tel.Stats(), ring.Service()), sabir.Use(tel.Middleware()), …)
//
// To have the spans elsewhere too, give telemetry an exporter that passes them to both. A Ring is safe for use by several
// goroutines.
type Ring struct {
	mu     sync.Mutex
	recent ringBuffer[sdktrace.ReadOnlySpan] // of all spans
	failed ringBuffer[sdktrace.ReadOnlySpan] // of those that ended with an error, which many good ones would soon push out
	lines  ringBuffer[keptLine]              // of the log
}

// ringBuffer keeps the last of what is added.
type ringBuffer[T any] struct {
	list  []T
	next  int
	limit int
}

func (l *ringBuffer[T]) add(one T) {
	if len(l.list) < l.limit {
		l.list = append(l.list, one)
		return
	}
	l.list[l.next] = one
	l.next = (l.next + 1) % l.limit
}

// minRing is the fewest spans that show anything.
const minRing = 64

// Traces makes a ring of the last so many spans, 64 at least, and a quarter as many of those that failed. A span of Sabir's
// takes 216 bytes and up. Give each node of a process its own, since spans are shown as those of the node that serves them.
func Traces(spans int) *Ring {
	spans = max(spans, minRing)
	r := &Ring{}
	r.recent.limit, r.failed.limit, r.lines.limit = spans, spans/4, spans
	return r
}

var _ sdktrace.SpanExporter = (*Ring)(nil)

// ExportSpans implements OpenTelemetry's SpanExporter. It never fails.
func (r *Ring) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range spans {
		r.recent.add(s)
		if s.Status().Code == codes.Error {
			r.failed.add(s)
		}
	}
	return nil
}

// Shutdown implements OpenTelemetry's SpanExporter. What the ring holds stays readable.
func (r *Ring) Shutdown(context.Context) error { return nil }

// all returns the spans in the ring, each once, the latest first.
func (r *Ring) all() []sdktrace.ReadOnlySpan {
	r.mu.Lock()
	list := slices.Concat(r.recent.list, r.failed.list)
	r.mu.Unlock()
	seen := make(map[[8]byte]bool, len(list))
	list = slices.DeleteFunc(list, func(s sdktrace.ReadOnlySpan) bool {
		id := [8]byte(s.SpanContext().SpanID())
		defer func() { seen[id] = true }()
		return seen[id]
	})
	slices.SortFunc(list, func(a, b sdktrace.ReadOnlySpan) int {
		return cmp.Compare(b.EndTime().UnixNano(), a.EndTime().UnixNano())
	})
	return list
}

// spanQuery is the input of $traces.recent.
type spanQuery struct {
	Trace string `json:"trace,omitempty"` // the spans of this trace only
	Limit int    `json:"limit,omitempty"` // default and maximum: 1000
}

// spanList is its output.
type spanList struct {
	Node  string     `json:"node"`
	Held  int        `json:"held"` // spans in the ring
	Spans []spanInfo `json:"spans"`
}

// spanInfo is a span as the page gets it.
type spanInfo struct {
	Trace   string            `json:"trace"`
	ID      string            `json:"id"`
	Parent  string            `json:"parent,omitempty"`
	Name    string            `json:"name"`
	Kind    string            `json:"kind"` // server, client, consumer, internal, producer
	Node    string            `json:"node"`
	Service string            `json:"service,omitempty"` // whose work it is, or whose answer is waited for
	Start   int64             `json:"start"`             // Unix microseconds
	Took    float64           `json:"took"`              // microseconds
	Error   string            `json:"error,omitempty"`
	Failed  bool              `json:"failed,omitempty"`
	Details map[string]string `json:"details,omitempty"`
	Events  []spanEvent       `json:"events,omitempty"`
}

type spanEvent struct {
	Name    string            `json:"name"`
	At      float64           `json:"at"` // microseconds after the span's start
	Details map[string]string `json:"details,omitempty"`
}

// The bounds of what learns of spans.
const (
	maxSpans   = 1000
	maxDetails = 32        // attributes of a span, and events
	maxDetail  = 4<<10 + 8 // bytes of one: a whole input, see telemetry.Config.Values
)

// Service makes the service "$traces", which sends the dashboards of the cluster's nodes what the ring holds. It is not
// called from outside the cluster.
func (r *Ring) Service() *sabir.Service {
	s := sabir.NewService("$traces", sabir.Doc("tells the last spans of the process it runs in"))
	sabir.Handle(s, "recent", func(ctx context.Context, q spanQuery) (spanList, error) {
		limit := q.Limit
		if limit <= 0 || limit > maxSpans {
			limit = maxSpans
		}
		spans := r.all()
		list := spanList{Node: sabir.NodeFromContext(ctx).ID(), Held: len(spans), Spans: []spanInfo{}}
		for _, span := range spans {
			left := limit - len(list.Spans)
			if left == 0 {
				break
			}
			if q.Trace == "" && left <= limit/4 && span.Status().Code != codes.Error {
				continue // the rest is for older ones that failed
			}
			if q.Trace == "" || span.SpanContext().TraceID().String() == q.Trace {
				list.Spans = append(list.Spans, infoOf(span, list.Node, q.Trace != ""))
			}
		}
		return list, nil
	}, sabir.Doc("lists spans, the latest first"), sabir.ClusterOnly(), sabir.Idempotent())
	sabir.Handle(s, "logs", func(ctx context.Context, q logQuery) (logList, error) {
		return logList{sabir.NodeFromContext(ctx).ID(), r.linesOf(q.Trace)}, nil
	}, sabir.Doc("lists what was logged in the calls of a trace"), sabir.ClusterOnly(), sabir.Idempotent())
	return s
}

func infoOf(s sdktrace.ReadOnlySpan, node string, whole bool) spanInfo {
	info := spanInfo{Trace: s.SpanContext().TraceID().String(), ID: s.SpanContext().SpanID().String(), Name: clip(s.Name()), Kind: s.SpanKind().String(), Node: node,
		Start: s.StartTime().UnixMicro(), Took: float64(s.EndTime().Sub(s.StartTime()).Nanoseconds()) / 1e3}
	if s.Parent().SpanID().IsValid() {
		info.Parent = s.Parent().SpanID().String()
	}
	for _, a := range s.Attributes() {
		if a.Key == "sabir.service" {
			info.Service = clip(a.Value.String())
		}
		if a.Key == "sabir.error.name" || info.Error == "" && a.Key == "error.type" {
			info.Error = clip(a.Value.String())
		}
	}
	if info.Failed = s.Status().Code == codes.Error; info.Failed && info.Error == "" {
		info.Error = "error"
	}
	if !whole {
		return info
	}
	info.Details = make(map[string]string)
	for _, a := range s.Attributes()[:min(len(s.Attributes()), maxDetails)] {
		info.Details[clip(string(a.Key))] = clip(a.Value.String())
	}
	if said := s.Status().Description; said != "" {
		info.Details["status"] = clip(said)
	}
	for _, e := range s.Events()[:min(len(s.Events()), maxDetails)] {
		event := spanEvent{Name: clip(e.Name), At: float64(e.Time.Sub(s.StartTime()).Nanoseconds()) / 1e3, Details: make(map[string]string)}
		for _, a := range e.Attributes[:min(len(e.Attributes), maxDetails)] {
			event.Details[clip(string(a.Key))] = clip(a.Value.String())
		}
		info.Events = append(info.Events, event)
	}
	return info
}

func clip(text string) string {
	if len(text) > maxDetail {
		return text[:maxDetail] + "…"
	}
	return text
}
