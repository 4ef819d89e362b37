// Package telemetry gives a node metrics, traces and logs: OpenTelemetry's, with a page for Prometheus, and log/slog's.
// It is one middleware; a node without it pays nothing, and what is not asked for is not composed in.
//
//	tel, err := telemetry.New(telemetry.Config{Prometheus: true, Traces: exporter})
//	node := sabir.NewNode(sabir.Serve(users), sabir.Use(tel.Middleware()), admin.Serve(":9464", admin.Metrics(tel.Handler())))
//
// Give the middleware to NewNode, first of all, so that it sees what callers see: a call that was retried is one call, an
// answer from a cache is a call too. When the last of the nodes that use it has stopped, it flushes and shuts itself down, within the
// deadline of the stop or, where that has none, 10 seconds.
//
// docs/telemetry.md lists the metrics, the attributes of spans, and what each part costs.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
)

// Telemetry is the metrics, traces and logs of a node, or of several in one process, which are counted together. Make it
// with [New]. Its methods may be used by many goroutines at once.
type Telemetry struct {
	metrics  *metrics // nil when off, as the following
	tracer   *tracer
	logs     *logs
	batches  *batches
	provider *sdkmetric.MeterProvider
	handler  http.Handler

	mu    sync.Mutex
	nodes map[*sabir.Node]introspect.Refused // that have started and not stopped, with what they had refused when that was last read
	gone  introspect.Refused                 // what others had refused
	once  sync.Once
	ended error // of the shutdown
}

// New makes a Telemetry. Its error names all that is wrong with the configuration.
func New(config Config) (*Telemetry, error) {
	err := config.check()
	b, bad := newBounds(config.Buckets)
	if err := errors.Join(err, bad); err != nil {
		return nil, err
	}
	described, err := resource.Merge(resource.Default(), resource.NewSchemaless(config.Resource...))
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	t := &Telemetry{}
	if config.CallLog != nil {
		t.logs = &logs{slog.New(LogHandler(config.CallLog.Handler())), config.EachCall}
	}
	if config.counts() {
		if err := t.openMetrics(&config, b, described); err != nil {
			return nil, err
		}
	}
	switch {
	case config.Traces != nil:
		t.openTraces(&config, described)
	case config.TracerProvider != nil:
		t.tracer = &tracer{foreign: config.TracerProvider.Tracer(scope.Name, trace.WithSchemaURL(scope.SchemaURL))}
	}
	if t.tracer != nil {
		t.tracer.values = newValues(config.Values, config.Hidden)
	}
	return t, nil
}

func (t *Telemetry) openMetrics(c *Config, b *bounds, about *resource.Resource) error {
	t.metrics = newMetrics(b)
	options := []sdkmetric.Option{sdkmetric.WithResource(about)}
	if c.Prometheus {
		reader, err := t.openPrometheus()
		if err != nil {
			return err
		}
		options = append(options, sdkmetric.WithReader(reader))
	}
	for _, e := range c.MetricExporters {
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(isolatedExporter{e, t}, sdkmetric.WithProducer(producer{t}))))
	}
	t.provider = sdkmetric.NewMeterProvider(options...)
	return nil
}

// isolatedExporter is an exporter of metrics whose panics are errors: the SDK calls it on a goroutine of its own.
type isolatedExporter struct {
	sdkmetric.Exporter
	t *Telemetry
}

func (e isolatedExporter) do(what string, do func() error) error {
	return isolated(e.t.log(), "the metric exporter, in "+what, do)
}

// Export implements metric.Exporter.
func (e isolatedExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	return e.do("an export", func() error { return e.Exporter.Export(ctx, m) })
}

// ForceFlush implements metric.Exporter.
func (e isolatedExporter) ForceFlush(ctx context.Context) error {
	return e.do("a flush", func() error { return e.Exporter.ForceFlush(ctx) })
}

// Shutdown implements metric.Exporter.
func (e isolatedExporter) Shutdown(ctx context.Context) error {
	return e.do("its shutdown", func() error { return e.Exporter.Shutdown(ctx) })
}

func (t *Telemetry) openTraces(c *Config, about *resource.Resource) {
	sampler := sdktrace.ParentBased(c.Sampler)
	t.batches = newBatches(c.Traces, c.SpanQueue, t.log)
	sdk := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(t.batches), sdktrace.WithSampler(sampler),
		sdktrace.WithIDGenerator(idGenerator{}), sdktrace.WithResource(about))
	t.tracer = &tracer{own: &ownTracer{sampler: sampler, batches: t.batches, resource: about, sdk: sdk}}
}

// log returns the logger for telemetry's own problems.
func (t *Telemetry) log() *slog.Logger {
	if t.logs != nil {
		return t.logs.log
	}
	return slog.Default()
}

// MeterProvider serves metrics of the program's own: they go where Sabir's go. It is nil when metrics are off.
func (t *Telemetry) MeterProvider() *sdkmetric.MeterProvider { return t.provider }

// TracerProvider serves spans of the program's own and of libraries that trace, such as otelhttp: they go where Sabir's
// go, and are children of the call whose context they start from. It is nil without Config.Traces.
func (t *Telemetry) TracerProvider() *sdktrace.TracerProvider {
	if t.tracer == nil || t.tracer.own == nil {
		return nil
	}
	return t.tracer.own.sdk
}

// Producer gives Sabir's counts to a reader of a MeterProvider that the program makes itself:
//
//	reader := metric.NewPeriodicReader(exporter, metric.WithProducer(tel.Producer()))
func (t *Telemetry) Producer() sdkmetric.Producer { return producer{t} }

// Spans returns the counts of the spans of Config.Traces, which the metrics have too.
func (t *Telemetry) Spans() SpanCounts {
	if t.batches == nil {
		return SpanCounts{}
	}
	return t.batches.counts()
}

// Middleware switches the telemetry on for a node; give it to NewNode with sabir.Use, before other middlewares.
// Given to a service or an action instead, it sees those only, and receives no signals of policies.
func (t *Telemetry) Middleware() sabir.Middleware {
	m := sabir.Middleware{Name: "telemetry", Lifecycle: t.lifecycle}
	if t.metrics != nil {
		m.Signal = t.metrics.signals.record
	}
	if t.metrics == nil && t.tracer == nil && t.logs == nil {
		return m
	}
	m.Local = t.layer(serverCalls, trace.SpanKindServer)
	m.Remote = t.layer(clientCalls, trace.SpanKindClient)
	m.Stream = t.layer(streams, trace.SpanKindServer)
	m.Event = t.event
	if t.tracer != nil {
		m.Carry = Inject
	}
	return m
}

// layer composes what is switched on around an action: the span outermost, so that what is logged inside has its ids.
func (t *Telemetry) layer(f family, kind trace.SpanKind) func(*sabir.Action, sabir.Handler) sabir.Handler {
	return func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		if t.logs != nil {
			next = t.logs.call(a, next)
		}
		if t.metrics != nil {
			next = t.metrics.call(f, a, next)
		}
		if t.tracer != nil {
			next = t.tracer.call(kind, a, next)
		}
		return next
	}
}

func (t *Telemetry) event(s *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
	if t.logs != nil {
		next = t.logs.event(next)
	}
	if t.metrics != nil {
		next = t.metrics.event(s, next)
	}
	if t.tracer != nil {
		next = t.tracer.event(s, next)
	}
	return next
}

// lifecycle counts the nodes in and out, and shuts down after the last.
func (t *Telemetry) lifecycle(stage sabir.Stage, next func(context.Context) error) func(context.Context) error {
	switch {
	case stage.Service != "":
		return next
	case !stage.Stop:
		return func(ctx context.Context) error {
			t.enter(sabir.NodeFromContext(ctx))
			err := next(ctx)
			if err != nil { // a node that fails to start is not stopped by any caller
				err = errors.Join(err, t.leave(ctx, sabir.NodeFromContext(ctx)))
			}
			return err
		}
	}
	return func(ctx context.Context) error {
		t.refused() // while the node can still be asked
		err := next(ctx)
		return errors.Join(err, t.leave(ctx, sabir.NodeFromContext(ctx)))
	}
}

func (t *Telemetry) enter(n *sabir.Node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.nodes == nil {
		t.nodes = make(map[*sabir.Node]introspect.Refused)
	}
	t.nodes[n] = introspect.Refused{}
}

// running describes the nodes that have started and not stopped, by their ids.
func (t *Telemetry) running() (list []introspect.Node) {
	t.mu.Lock()
	nodes := slices.Collect(maps.Keys(t.nodes))
	t.mu.Unlock()
	for _, n := range nodes {
		list = append(list, n.Info())
	}
	slices.SortFunc(list, func(a, b introspect.Node) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(list, func(a, b introspect.Node) bool { return a.ID == b.ID })
}

func (t *Telemetry) leave(ctx context.Context, n *sabir.Node) error {
	t.mu.Lock()
	t.gone = plus(t.gone, t.nodes[n])
	delete(t.nodes, n)
	last := len(t.nodes) == 0
	t.mu.Unlock()
	if !last {
		return nil
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, stopTimeout)
		defer cancel()
	}
	return t.Shutdown(ctx)
}

// stopTimeout bounds the shutdown at a stop that has no bound of its own: for a collector that does not answer, the exporters of OTLP try
// each batch for a minute.
const stopTimeout = 10 * time.Second

// refused counts the refusals of all nodes. It never decreases: of a node that is stopping the last numbers count.
func (t *Telemetry) refused() introspect.Refused {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := t.gone
	for n, last := range t.nodes {
		now := n.Info().Refused
		last = introspect.Refused{Forged: max(last.Forged, now.Forged), HTTPHeads: max(last.HTTPHeads, now.HTTPHeads)}
		t.nodes[n] = last
		sum = plus(sum, last)
	}
	return sum
}

func plus(a, b introspect.Refused) introspect.Refused {
	return introspect.Refused{Forged: a.Forged + b.Forged, HTTPHeads: a.HTTPHeads + b.HTTPHeads}
}

// Flush gives all spans that have ended and the metrics as they are now to their exporters.
func (t *Telemetry) Flush(ctx context.Context) error {
	var errs []error
	if t.batches != nil {
		errs = append(errs, t.batches.ForceFlush(ctx))
	}
	if t.provider != nil {
		errs = append(errs, t.provider.ForceFlush(ctx))
	}
	return errors.Join(errs...)
}

// Shutdown flushes, and shuts the exporters down; the context bounds the waiting. Nodes do it by themselves when they
// stop, so it is for programs that made a Telemetry and started no node. Calls made later are still counted; their spans
// are dropped and counted as late. A second Shutdown returns what the first did.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	t.once.Do(func() {
		var errs []error
		if own := t.TracerProvider(); own != nil {
			errs = append(errs, own.Shutdown(ctx))
		}
		if t.provider != nil {
			errs = append(errs, t.provider.Shutdown(ctx))
		}
		t.ended = errors.Join(errs...)
	})
	return t.ended
}
