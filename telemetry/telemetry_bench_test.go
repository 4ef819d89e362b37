package telemetry_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
)

type helloRequest struct {
	Name string `json:"name"`
	Age  int    `json:"age"`
}

type helloReply struct {
	Text string `json:"text"`
	Age  int    `json:"age"`
}

func hello(_ context.Context, in helloRequest) (helloReply, error) {
	return helloReply{Text: in.Name, Age: in.Age + 1}, nil
}

// counter is an exporter that counts the spans it is given.
type counter struct{ spans atomic.Uint64 }

func (c *counter) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	c.spans.Add(uint64(len(spans)))
	return nil
}

func (c *counter) Shutdown(context.Context) error { return nil }

// benchmark calls by name through a node with the telemetry, and checks that every span reached the exporter or was
// counted as dropped.
func benchmark(b *testing.B, parallel bool, exporter *counter, config telemetry.Config) {
	if exporter != nil {
		config.Traces = exporter
	}
	log := slog.Default()
	slog.SetDefault(quiet) // lost spans are reported below
	b.Cleanup(func() { slog.SetDefault(log) })
	tel, err := telemetry.New(config)
	if err != nil {
		b.Fatal(err)
	}
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", hello)
	node := sabir.NewNode(sabir.Serve(greeter), sabir.Use(tel.Middleware()))
	if err := node.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	var calls atomic.Uint64
	in := helloRequest{"Ada", 36}
	ctx := context.Background()
	call := func() {
		out, err := sabir.Call[helloReply](ctx, node, "greeter.hello", in)
		if err != nil || out.Age != 37 {
			b.Error(out, err)
		}
	}
	b.ReportAllocs()
	if parallel {
		b.RunParallel(func(pb *testing.PB) {
			n := uint64(0)
			for pb.Next() {
				call()
				n++
			}
			calls.Add(n)
		})
	} else {
		n := uint64(0)
		for b.Loop() {
			call()
			n++
		}
		calls.Add(n)
	}
	b.StopTimer()
	if err := node.Stop(context.Background()); err != nil {
		b.Fatal(err)
	}
	if exporter == nil {
		return
	}
	if got, lost := exporter.spans.Load(), tel.Spans().Dropped(); got+lost != calls.Load() {
		b.Fatalf("%d calls made %d spans and %d dropped ones", calls.Load(), got, lost)
	}
	b.ReportMetric(100*float64(tel.Spans().Dropped())/float64(calls.Load()), "%dropped")
}

func BenchmarkOff(b *testing.B) { benchmark(b, false, nil, telemetry.Config{}) }

func BenchmarkMetrics(b *testing.B)         { benchmark(b, false, nil, telemetry.Config{Metrics: true}) }
func BenchmarkMetricsParallel(b *testing.B) { benchmark(b, true, nil, telemetry.Config{Metrics: true}) }

func BenchmarkTracing(b *testing.B)         { benchmark(b, false, &counter{}, telemetry.Config{}) }
func BenchmarkTracingParallel(b *testing.B) { benchmark(b, true, &counter{}, telemetry.Config{}) }

func BenchmarkBoth(b *testing.B) { benchmark(b, false, &counter{}, telemetry.Config{Metrics: true}) }

// BenchmarkTracingBySDK is the same with the SDK's spans and batch processor, for comparison. Its losses are not known.
func BenchmarkTracingBySDK(b *testing.B) {
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(&counter{}))
	b.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	benchmark(b, false, nil, telemetry.Config{TracerProvider: provider})
}

func BenchmarkLogsOff(b *testing.B) { benchmark(b, false, nil, telemetry.Config{CallLog: quiet}) }
