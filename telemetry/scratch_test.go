package telemetry

import (
	"context"
	"math/rand/v2"
	"encoding/binary"
	"testing"
	"time"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"github.com/sabir-go/sabir"
	_ "go.opentelemetry.io/otel/exporters/prometheus"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/prometheus/client_golang/prometheus/collectors"
	_ "github.com/prometheus/common/expfmt"
	_ "go.opentelemetry.io/otel/sdk/trace/tracetest"
)

type countExp struct{ n int }

func (c *countExp) ExportSpans(_ context.Context, s []sdktrace.ReadOnlySpan) error { c.n += len(s); return nil }
func (c *countExp) Shutdown(context.Context) error                                 { return nil }

type ids struct{}

func (ids) NewIDs(context.Context) (t trace.TraceID, s trace.SpanID) {
	binary.LittleEndian.PutUint64(t[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(t[8:], rand.Uint64())
	binary.LittleEndian.PutUint64(s[:], rand.Uint64()|1)
	return
}
func (ids) NewSpanID(context.Context, trace.TraceID) (s trace.SpanID) {
	binary.LittleEndian.PutUint64(s[:], rand.Uint64()|1)
	return
}

type proc struct {
	mu   sync.Mutex
	b    []sdktrace.ReadOnlySpan
}

func (p *proc) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (p *proc) OnEnd(s sdktrace.ReadOnlySpan) {
	p.mu.Lock()
	p.b = append(p.b, s)
	if len(p.b) >= 512 {
		clear(p.b)
		p.b = p.b[:0]
	}
	p.mu.Unlock()
}
func (p *proc) Shutdown(context.Context) error   { return nil }
func (p *proc) ForceFlush(context.Context) error { return nil }

func BenchmarkSDK(b *testing.B) {
	attrs := []attribute.KeyValue{attribute.String("rpc.system.name", "sabir"), attribute.String("rpc.method", "greeter.hello"), attribute.String("sabir.service", "greeter")}
	for _, bc := range []string{"bsp", "own", "ownSampler"} {
		b.Run(bc, func(b *testing.B) {
			var p sdktrace.SpanProcessor
			if bc == "bsp" {
				p = sdktrace.NewBatchSpanProcessor(&countExp{})
			} else {
				p = &proc{}
			}
			tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(p), sdktrace.WithIDGenerator(ids{}))
			tr := tp.Tracer("x")
			opts := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attrs...)}
			if bc == "ownSampler" {
				opts = opts[:1]
			}
			b.ReportAllocs()
			for b.Loop() {
				_, s := tr.Start(context.Background(), "greeter.hello", opts...)
				if bc == "ownSampler" {
					s.SetAttributes(attrs...)
				}
				s.End()
			}
			tp.Shutdown(context.Background())
		})
	}
}

var base = time.Now()

func BenchmarkClock(b *testing.B) {
	for b.Loop() {
		_ = time.Since(base)
	}
}
func BenchmarkCall(b *testing.B) {
	type q struct{ A string }
	s := sabir.NewService("greeter")
	sabir.Handle(s, "hello", func(ctx context.Context, in q) (q, error) { return in, nil })
	n := sabir.NewNode(sabir.Serve(s))
	n.Start(b.Context())
	for b.Loop() {
		sabir.Call[q](context.Background(), n, "greeter.hello", q{"a"})
	}
}
