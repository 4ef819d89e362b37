package telemetry_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/sabir-go/sabir/telemetry"
)

// badSpans is an exporter of spans that does in each method what it is given.
type badSpans struct{ do func() }

func (e badSpans) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { e.do(); return nil }
func (e badSpans) Shutdown(context.Context) error                             { e.do(); return nil }

// badMetrics is the same for metrics.
type badMetrics struct{ do func() }

func (badMetrics) Temporality(kind sdkmetric.InstrumentKind) metricdata.Temporality {
	return sdkmetric.DefaultTemporalitySelector(kind)
}

func (badMetrics) Aggregation(kind sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(kind)
}
func (e badMetrics) Export(context.Context, *metricdata.ResourceMetrics) error { e.do(); return nil }
func (e badMetrics) ForceFlush(context.Context) error                          { e.do(); return nil }
func (e badMetrics) Shutdown(context.Context) error                            { e.do(); return nil }

func TestAnExporterThatPanicsOrEndsItsGoroutineIsAnErrorOfTheFlush(t *testing.T) {
	for name, do := range map[string]func(){"panics": func() { panic("boom") }, "ends its goroutine": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			tel, err := telemetry.New(telemetry.Config{Traces: badSpans{do}, MetricExporters: []sdkmetric.Exporter{badMetrics{do}}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			for range 2 { // the second finds the exporter where the first left it
				_, span := tel.TracerProvider().Tracer("test").Start(ctx, "one")
				span.End()
				if err := tel.Flush(ctx); err == nil || ctx.Err() != nil {
					t.Errorf("Flush: %v, want the exporter's error", err)
				}
			}
			if c := tel.Spans(); c.Failed != 2 {
				t.Errorf("%d spans failed, want 2", c.Failed)
			}
			if err := tel.Shutdown(ctx); err == nil || ctx.Err() != nil {
				t.Errorf("Shutdown: %v, want the exporter's error", err)
			}
		})
	}
}
