package telemetry

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// spanKind holds the fields that all spans of one action share. It is computed when the action is composed.
type spanKind struct {
	name       string
	kind       trace.SpanKind
	attributes []attribute.KeyValue
	options    []trace.SpanStartOption // the same for a tracer of the user's
}

func newSpanKind(name string, kind trace.SpanKind, attributes ...attribute.KeyValue) *spanKind {
	return &spanKind{name, kind, attributes, []trace.SpanStartOption{trace.WithSpanKind(kind), trace.WithAttributes(attributes...)}}
}

// span is the span of a call. It is a trace.Span while the call runs and what exporters read afterwards.
//
// The SDK's own span costs 1136 bytes in four allocations: it reserves space for fields that most spans do not have, copies the
// attributes, and copies itself when it ends. This one is 216 bytes: all spans of an action share the fields that are the same
// for them, and the others are allocated when they are set. The limits are the SDK's defaults (128 attributes, events and
// links).
type span struct {
	sdktrace.ReadWriteSpan // nil: it only lends the unexported methods that mark the interface
	tracer                 *ownTracer
	of                     *spanKind
	context                trace.SpanContext
	parent                 trace.SpanContext
	start                  time.Time

	mu        sync.Mutex
	durations time.Duration
	ended     bool
	more      *spanExtras
}

// spanExtras holds the fields that only some spans have.
type spanExtras struct {
	name                                           string
	attributes                                     []attribute.KeyValue
	events                                         []sdktrace.Event
	links                                          []sdktrace.Link
	status                                         sdktrace.Status
	droppedAttributes, droppedEvents, droppedLinks int
}

const maxSpanItems = 128

var _ sdktrace.ReadWriteSpan = (*span)(nil)

// ownTracer starts spans for the exporter that Traces was given.
type ownTracer struct {
	sampler  sdktrace.Sampler
	batches  *batches
	resource *resource.Resource
	sdk      *sdktrace.TracerProvider // for the spans that users start themselves; they end in the same batches
}

// start starts a span; from is where ctx comes from, valid or not.
func (t *ownTracer) start(ctx context.Context, of *spanKind, from trace.SpanContext) (context.Context, trace.Span) {
	config := trace.SpanContextConfig{TraceID: from.TraceID()}
	if !config.TraceID.IsValid() {
		config.TraceID, from = newTraceID(), trace.SpanContext{}
	}
	config.SpanID = newSpanID()
	verdict := t.sampler.ShouldSample(sdktrace.SamplingParameters{ParentContext: ctx, TraceID: config.TraceID, Name: of.name, Kind: of.kind, Attributes: of.attributes})
	config.TraceState = verdict.Tracestate
	config.TraceFlags = from.TraceFlags().WithSampled(verdict.Decision == sdktrace.RecordAndSample)
	if verdict.Decision == sdktrace.Drop {
		ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(config))
		return ctx, trace.SpanFromContext(ctx)
	}
	s := &span{tracer: t, of: of, context: trace.NewSpanContext(config), parent: from, start: time.Now()}
	if len(verdict.Attributes) > 0 {
		s.SetAttributes(verdict.Attributes...)
	}
	return trace.ContextWithSpan(ctx, s), s
}

// extras is called with mu held.
func (s *span) extras() *spanExtras {
	if s.more == nil {
		s.more = &spanExtras{}
	}
	return s.more
}

// change runs do unless the span has ended.
func (s *span) change(do func(*spanExtras)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		do(s.extras())
	}
}

// SpanContext implements trace.Span.
func (s *span) SpanContext() trace.SpanContext { return s.context }

// TracerProvider implements trace.Span.
func (s *span) TracerProvider() trace.TracerProvider { return s.tracer.sdk }

// IsRecording implements trace.Span.
func (s *span) IsRecording() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended
}

// SetName implements trace.Span.
func (s *span) SetName(name string) { s.change(func(x *spanExtras) { x.name = name }) }

// SetStatus implements trace.Span: a status never goes back from OK to error, nor from error to unset.
func (s *span) SetStatus(code codes.Code, description string) {
	s.change(func(x *spanExtras) {
		if x.status.Code > code {
			return
		}
		if code != codes.Error {
			description = ""
		}
		x.status = sdktrace.Status{Code: code, Description: description}
	})
}

// SetAttributes implements trace.Span.
func (s *span) SetAttributes(attributes ...attribute.KeyValue) {
	if len(attributes) == 0 {
		return
	}
	s.change(func(x *spanExtras) {
		if x.attributes == nil {
			x.attributes = make([]attribute.KeyValue, len(s.of.attributes), len(s.of.attributes)+len(attributes))
			copy(x.attributes, s.of.attributes)
		}
		for _, a := range attributes {
			at := slices.IndexFunc(x.attributes, func(b attribute.KeyValue) bool { return a.Key == b.Key })
			switch {
			case !a.Valid() || at < 0 && len(x.attributes) >= maxSpanItems:
				x.droppedAttributes++
			case at >= 0:
				x.attributes[at] = a
			default:
				x.attributes = append(x.attributes, a)
			}
		}
	})
}

// AddEvent implements trace.Span. Of more than 128 events the last 128 are kept.
func (s *span) AddEvent(name string, options ...trace.EventOption) {
	c := trace.NewEventConfig(options...)
	s.change(func(x *spanExtras) {
		if len(x.events) >= maxSpanItems {
			x.events = slices.Delete(x.events, 0, 1)
			x.droppedEvents++
		}
		x.events = append(x.events, sdktrace.Event{Name: name, Attributes: c.Attributes(), Time: c.Timestamp()})
	})
}

// AddLink implements trace.Span. Of more than 128 links the last 128 are kept.
func (s *span) AddLink(link trace.Link) {
	if !link.SpanContext.IsValid() && len(link.Attributes) == 0 && link.SpanContext.TraceState().Len() == 0 {
		return
	}
	s.change(func(x *spanExtras) {
		if len(x.links) >= maxSpanItems {
			x.links = slices.Delete(x.links, 0, 1)
			x.droppedLinks++
		}
		x.links = append(x.links, sdktrace.Link{SpanContext: link.SpanContext, Attributes: link.Attributes})
	})
}

// RecordError implements trace.Span.
func (s *span) RecordError(err error, options ...trace.EventOption) {
	if err == nil {
		return
	}
	about := trace.WithAttributes(semconv.ExceptionType(fmt.Sprintf("%T", err)), semconv.ExceptionMessage(err.Error()))
	s.AddEvent(semconv.ExceptionEventName, append(slices.Clone(options), about)...)
}

// End implements trace.Span.
func (s *span) End(options ...trace.SpanEndOption) {
	durations := time.Since(s.start)
	if len(options) > 0 {
		config := trace.NewSpanEndConfig(options...)
		if at := config.Timestamp(); !at.IsZero() {
			durations = at.Sub(s.start)
		}
	}
	s.mu.Lock()
	again := s.ended
	s.durations, s.ended = durations, true
	s.mu.Unlock()
	if !again {
		s.tracer.batches.OnEnd(s)
	}
}

// What follows is read by exporters, after the end, when nothing changes any more; while the span runs, by samplers and
// tests.

func (s *span) snapshot() spanExtras {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.more == nil {
		return spanExtras{}
	}
	return *s.more
}

// Name implements sdktrace.ReadOnlySpan, as do the following.
func (s *span) Name() string {
	if name := s.snapshot().name; name != "" {
		return name
	}
	return s.of.name
}

// Attributes must not be changed by the exporter.
func (s *span) Attributes() []attribute.KeyValue {
	if own := s.snapshot().attributes; own != nil {
		return own
	}
	return s.of.attributes
}

// EndTime is the zero time while the span runs.
func (s *span) EndTime() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		return time.Time{}
	}
	return s.start.Add(s.durations)
}

func (s *span) Parent() trace.SpanContext                     { return s.parent }
func (s *span) SpanKind() trace.SpanKind                      { return s.of.kind }
func (s *span) StartTime() time.Time                          { return s.start }
func (s *span) Events() []sdktrace.Event                      { return s.snapshot().events }
func (s *span) Links() []sdktrace.Link                        { return s.snapshot().links }
func (s *span) Status() sdktrace.Status                       { return s.snapshot().status }
func (s *span) InstrumentationScope() instrumentation.Scope   { return scope }
func (s *span) InstrumentationLibrary() instrumentation.Scope { return scope }
func (s *span) Resource() *resource.Resource                  { return s.tracer.resource }
func (s *span) DroppedAttributes() int                        { return s.snapshot().droppedAttributes }
func (s *span) DroppedEvents() int                            { return s.snapshot().droppedEvents }
func (s *span) DroppedLinks() int                             { return s.snapshot().droppedLinks }

// ChildSpanCount is always 0: the children are not counted.
func (s *span) ChildSpanCount() int { return 0 }

// idGenerator draws ids from the runtime's ChaCha8 generators, of which each thread has one: no lock. Ids are not secrets,
// but cannot be guessed from each other either.
type idGenerator struct{}

// NewIDs implements sdktrace.IDGenerator.
func (idGenerator) NewIDs(context.Context) (trace.TraceID, trace.SpanID) {
	return newTraceID(), newSpanID()
}

// NewSpanID implements sdktrace.IDGenerator.
func (idGenerator) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return newSpanID() }

func newTraceID() (id trace.TraceID) {
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], nonZero())
	return id
}

func newSpanID() (id trace.SpanID) {
	binary.NativeEndian.PutUint64(id[:], nonZero())
	return id
}

func nonZero() uint64 {
	for {
		if n := rand.Uint64(); n != 0 {
			return n
		}
	}
}
