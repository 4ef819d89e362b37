package telemetry_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
)

// inSpan runs do within a call, with the call's span, and returns the span as the exporter got it.
func inSpan(t *testing.T, do func(trace.Span)) tracetest.SpanStub {
	t.Helper()
	var got tracetest.SpanStub
	bothWays(t, func(t *testing.T, tel *telemetry.Telemetry, spans func() map[string]tracetest.SpanStub) {
		s := sabir.NewService("s")
		sabir.Handle(s, "do", func(ctx context.Context, _ helloRequest) (helloReply, error) {
			do(trace.SpanFromContext(ctx))
			return helloReply{}, nil
		})
		node := start(t, sabir.Serve(s), sabir.Use(tel.Middleware()))
		if err := call(node, t.Context(), "s.do"); err != nil {
			t.Fatal(err)
		}
		for _, one := range spans() {
			if got.Name != "" {
				same(t, got, one)
			}
			got = one
		}
	})
	return got
}

// same holds Sabir's own span against the SDK's.
func same(t *testing.T, own, sdk tracetest.SpanStub) {
	t.Helper()
	attrs := func(list []attribute.KeyValue) string {
		set := attribute.NewSet(list...)
		return set.Encoded(attribute.DefaultEncoder())
	}
	brief := func(s tracetest.SpanStub) string {
		text := fmt.Sprint(s.Name, s.SpanKind, s.Status, s.DroppedAttributes, s.DroppedEvents, s.DroppedLinks, len(s.Links), attrs(s.Attributes))
		for _, e := range s.Events {
			text += fmt.Sprint(e.Name, attrs(e.Attributes))
		}
		return text
	}
	if brief(own) != brief(sdk) {
		t.Errorf("the span differs from the SDK's:\n%s\n%s", brief(own), brief(sdk))
	}
}

func TestAHandlerCanFillItsSpanAsWithTheSDKs(t *testing.T) {
	cases := map[string]func(trace.Span){
		"nothing": func(trace.Span) {},
		"name":    func(s trace.Span) { s.SetName("other") },
		"attributes": func(s trace.Span) {
			s.SetAttributes(attribute.Int("a", 1), attribute.Int("a", 2), attribute.Int("b", 3))
		},
		"invalid attribute": func(s trace.Span) { s.SetAttributes(attribute.KeyValue{}) },
		"too many attributes": func(s trace.Span) {
			for i := range 200 {
				s.SetAttributes(attribute.Int(fmt.Sprint("k", i), i))
			}
		},
		"status":            func(s trace.Span) { s.SetStatus(codes.Error, "bad") },
		"status ok is last": func(s trace.Span) { s.SetStatus(codes.Ok, "said"); s.SetStatus(codes.Error, "bad") },
		"status not undone": func(s trace.Span) { s.SetStatus(codes.Error, "bad"); s.SetStatus(codes.Unset, "") },
		"event":             func(s trace.Span) { s.AddEvent("e", trace.WithAttributes(attribute.Int("a", 1))) },
		"too many events": func(s trace.Span) {
			for i := range 200 {
				s.AddEvent(fmt.Sprint("e", i))
			}
		},
		"error":      func(s trace.Span) { s.RecordError(errExport) },
		"nil error":  func(s trace.Span) { s.RecordError(nil) },
		"link":       func(s trace.Span) { s.AddLink(trace.Link{SpanContext: s.SpanContext()}) },
		"empty link": func(s trace.Span) { s.AddLink(trace.Link{}) },
		"ended early": func(s trace.Span) {
			s.End()
			s.SetName("late")
			s.SetAttributes(attribute.Int("late", 1))
			s.AddEvent("late")
		},
	}
	for name, do := range cases {
		t.Run(name, func(t *testing.T) { inSpan(t, do) })
	}
}

func TestASpanEndsOnceAndAtTheTimeGiven(t *testing.T) {
	var began time.Time
	got := inSpan(t, func(s trace.Span) {
		began = time.Now()
		s.End(trace.WithTimestamp(began.Add(time.Hour)))
	})
	if late := got.EndTime.Sub(began); late != time.Hour {
		t.Errorf("it ended %v after, want 1h", late)
	}
}

func TestASpanMayBeFilledByManyGoroutinesWhileItEnds(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tel := newTelemetry(t, telemetry.Config{Traces: exporter})
	s := sabir.NewService("s")
	var wg sync.WaitGroup
	sabir.Handle(s, "do", func(ctx context.Context, _ helloRequest) (helloReply, error) {
		span := trace.SpanFromContext(ctx)
		for i := range 8 {
			wg.Go(func() {
				for range 50 {
					span.SetAttributes(attribute.Int("k", i))
					span.AddEvent("e")
					span.SetStatus(codes.Error, "x")
					_ = span.IsRecording()
				}
			})
		}
		return helloReply{}, nil
	})
	node := start(t, sabir.Serve(s), sabir.Use(tel.Middleware()))
	if err := call(node, t.Context(), "s.do"); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if all := spansOf(t, tel, exporter); len(all) != 1 {
		t.Errorf("%d spans, want 1", len(all))
	}
}

func TestIDsAreDifferentAndValid(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tel := newTelemetry(t, telemetry.Config{Traces: exporter})
	node := start(t, sabir.Serve(family()), sabir.Use(tel.Middleware()))
	for range 500 {
		_ = call(node, context.Background(), "family.child")
	}
	if err := tel.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := map[any]bool{}
	for _, s := range exporter.GetSpans() {
		if !s.SpanContext.IsValid() || seen[s.SpanContext.TraceID()] || seen[s.SpanContext.SpanID()] {
			t.Fatalf("bad or repeated: %v", s.SpanContext)
		}
		seen[s.SpanContext.TraceID()], seen[s.SpanContext.SpanID()] = true, true
	}
	if len(seen) != 1000 {
		t.Errorf("%d ids, want 1000", len(seen))
	}
}
