package telemetry

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/sabir-go/sabir/internal/names"
)

// Config says what a [Telemetry] does. With the zero Config it does nothing, and its middleware composes nothing into calls.
type Config struct {
	// Prometheus counts calls, events and streams, and lets Prometheus read them, with Go's runtime metrics and the process's,
	// from [Telemetry.Handler].
	Prometheus bool

	// Metrics counts calls, events and streams for [Telemetry.Stats] and [Telemetry.Producer]. Prometheus and MetricExporters
	// count too.
	Metrics bool

	// MetricExporters get the counts once a minute: OTLP's (go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp),
	// stdoutmetric's, or any other. Sums are cumulative.
	MetricExporters []sdkmetric.Exporter

	// Buckets are the upper bounds, in seconds, of the buckets of all latency histograms: 31 at most. Default: 1, 10, 100 µs and
	// 1 ms, and then those of the semantic conventions for RPC, 5 ms to 10 s.
	Buckets []float64

	// Traces gets a span of each call, event handled and stream, in batches: OTLP's exporter
	// (go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp), stdouttrace's while developing, or any other.
	Traces sdktrace.SpanExporter

	// SampleRatio is the share, 0 to 1, of the calls that are traced of those that are not traced yet; nested calls follow the
	// call they are in. Default: 1.
	SampleRatio float64

	// Sampler decides what is traced of the calls that are not traced yet, instead of SampleRatio.
	Sampler sdktrace.Sampler

	// SpanQueue bounds the spans that wait for the exporter: 512 at least. What does not fit is dropped, counted (see
	// [Telemetry.Spans]) and logged. A span takes 216 bytes and up. Default: 16,384.
	SpanQueue int

	// Values has the spans of these actions and events, by pattern ("orders.*", "**" for all but Sabir's own), tell what they took and
	// what they returned: the attributes sabir.input and sabir.output, as JSON, cut at 4 KiB each. A field is "(hidden)" where its tag is `sabir:"secret"`,
	// Hidden names it, or its name says that it is a secret, as password, apiKey, accessToken and the like do; bytes are their number only. It costs
	// nothing for calls that are not traced. Values are read in place: what a handler returns must not be changed by others, as for
	// a caller on another node.
	Values []string

	// Hidden names fields, and keys of maps, whose values are hidden in Values, in upper or lower case.
	Hidden []string

	// TracerProvider makes the spans, instead of Traces: a tracer provider of the program's own, such as
	// otel.GetTracerProvider(). What happens to them there, losses too, is left to it; so is its shutdown. The SDK's provider costs
	// three to four times as much per span as Traces does.
	TracerProvider trace.TracerProvider

	// CallLog gets, through [LogHandler], a line for every call, event and stream that ends with an error of code Internal or
	// Unknown, at level Error and with the stack of a panic. A call that fails because a nested one did is a line of its own.
	CallLog *slog.Logger

	// EachCall is the level of a line in CallLog for every call, event and stream when it ends, with the time it took and the code
	// of its error. Default: nil, which is no line for those that go well.
	EachCall slog.Leveler

	// Resource describes the program in every metric and span, on top of what OpenTelemetry finds by itself, such as the environment
	// variables OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES: attribute.String("service.name", "shop").
	Resource []attribute.KeyValue
}

// counts reports whether calls are counted.
func (c *Config) counts() bool { return c.Prometheus || c.Metrics || len(c.MetricExporters) > 0 }

// check returns all that is wrong, and fills in the defaults.
func (c *Config) check() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf("telemetry: "+format, args...)) }
	if slices.Contains(c.MetricExporters, nil) {
		wrong("one of MetricExporters is nil")
	}
	if c.Buckets == nil {
		c.Buckets = defaultBounds
	}
	if c.Traces != nil && c.TracerProvider != nil {
		wrong("Traces and TracerProvider exclude each other")
	}
	if c.Traces == nil && (c.SampleRatio != 0 || c.Sampler != nil || c.SpanQueue != 0) {
		wrong("SampleRatio, Sampler and SpanQueue are of Traces, which is nil")
	}
	if c.SampleRatio != 0 && c.Sampler != nil {
		wrong("SampleRatio and Sampler exclude each other")
	}
	if !(c.SampleRatio >= 0 && c.SampleRatio <= 1) {
		wrong("SampleRatio is %v, want 0 to 1", c.SampleRatio)
	}
	switch {
	case c.Sampler != nil:
	case c.SampleRatio == 0:
		c.Sampler = sdktrace.AlwaysSample()
	default:
		c.Sampler = sdktrace.TraceIDRatioBased(c.SampleRatio)
	}
	if c.SpanQueue == 0 {
		c.SpanQueue = 16_384
	}
	if c.SpanQueue < batchSize {
		wrong("SpanQueue is %d, want at least %d", c.SpanQueue, batchSize)
	}
	for _, pattern := range c.Values {
		if err := names.CheckPattern(pattern); err != nil {
			wrong("Values: %w", err)
		}
	}
	if len(c.Values) > 0 && c.Traces == nil && c.TracerProvider == nil {
		wrong("Values are in spans, and both Traces and TracerProvider are nil")
	}
	if len(c.Hidden) > 0 && len(c.Values) == 0 {
		wrong("Hidden is of Values, which is empty")
	}
	if c.EachCall != nil && c.CallLog == nil {
		wrong("EachCall is of CallLog, which is nil")
	}
	return errors.Join(errs...)
}
