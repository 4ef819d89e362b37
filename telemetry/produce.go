package telemetry

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/sabir-go/sabir/introspect"
)

// scope is the instrumentation scope, OpenTelemetry's name for the library that metrics and spans come from.
var scope = instrumentation.Scope{Name: "github.com/sabir-go/sabir/telemetry", SchemaURL: semconv.SchemaURL}

// familyMetrics are the metrics of a family.
type familyMetrics struct{ duration, durationText, ended, active, errors, unit, what string }

var metricsOf = [families]familyMetrics{
	serverCalls: {"rpc.server.call.duration", "Measures the duration of an incoming Remote Procedure Call (RPC).",
		"sabir.server.calls", "sabir.server.active", "sabir.server.errors", "{call}", "Calls handled"},
	clientCalls: {"rpc.client.call.duration", "Measures the duration of an outgoing Remote Procedure Call (RPC).",
		"sabir.client.calls", "sabir.client.active", "sabir.client.errors", "{call}", "Calls sent to other nodes"},
	events: {"messaging.process.duration", "Duration of processing operation.",
		"sabir.event.handled", "sabir.event.active", "sabir.event.errors", "{event}", "Events handled"},
	streams: {"sabir.stream.duration", "Time from the opening of a stream to its end.",
		"sabir.stream.opened", "sabir.stream.active", "sabir.stream.errors", "{stream}", "Streams opened"},
}

// producer gives the counts to OpenTelemetry's readers. All sums are cumulative since New.
type producer struct{ telemetry *Telemetry }

// Produce implements metric.Producer.
func (p producer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	now := time.Now()
	var list []metricdata.Metrics
	if m := p.telemetry.metrics; m != nil {
		w := writer{start: m.epoch, now: now}
		for f := range families {
			list = append(list, w.family(metricsOf[f], m.list(f))...)
		}
		list = append(list, w.signals(m.signals.list())...)
		list = append(list, w.refused(p.telemetry.refused())...)
		list = append(list, w.memory(p.telemetry.running())...)
	}
	if b := p.telemetry.batches; b != nil {
		w := writer{start: b.since, now: now}
		list = append(list, w.spans(b.counts())...)
	}
	if len(list) == 0 {
		return nil, nil
	}
	return []metricdata.ScopeMetrics{{Scope: scope, Metrics: list}}, nil
}

// writer writes metrics in the SDK's form.
type writer struct{ start, now time.Time }

func (w writer) sum(name, unit, description string, monotonic bool, points []metricdata.DataPoint[int64]) []metricdata.Metrics {
	if len(points) == 0 {
		return nil
	}
	return []metricdata.Metrics{{Name: name, Unit: unit, Description: description,
		Data: metricdata.Sum[int64]{DataPoints: points, Temporality: metricdata.CumulativeTemporality, IsMonotonic: monotonic}}}
}

func (w writer) point(attributes attribute.Set, value int64) metricdata.DataPoint[int64] {
	return metricdata.DataPoint[int64]{Attributes: attributes, StartTime: w.start, Time: w.now, Value: value}
}

func (w writer) histogram(attributes attribute.Set, b *bounds, r reading) metricdata.HistogramDataPoint[float64] {
	return metricdata.HistogramDataPoint[float64]{Attributes: attributes, StartTime: w.start, Time: w.now,
		Count: r.count, Bounds: b.seconds, BucketCounts: r.counts, Sum: r.seconds}
}

func (w writer) family(m familyMetrics, tallies []*tally) []metricdata.Metrics {
	if len(tallies) == 0 {
		return nil
	}
	var ended, active, errors []metricdata.DataPoint[int64]
	var durations []metricdata.HistogramDataPoint[float64]
	for _, t := range tallies {
		failed, named := t.readFailures(w)
		r := t.read()
		durations = append(durations, w.histogram(t.ok, t.bounds, r.success))
		durations = append(durations, failed...)
		errors = append(errors, named...)
		count := int64(r.ended)
		if m == metricsOf[streams] {
			count += r.active // a stream counts from its opening
		}
		ended = append(ended, w.point(t.all, count))
		active = append(active, w.point(t.all, r.active))
	}
	list := []metricdata.Metrics{{Name: m.duration, Unit: "s", Description: m.durationText,
		Data: metricdata.Histogram[float64]{DataPoints: durations, Temporality: metricdata.CumulativeTemporality}}}
	list = append(list, w.sum(m.ended, m.unit, m.what+".", true, ended)...)
	list = append(list, w.sum(m.active, m.unit, m.what+" and not ended yet.", false, active)...)
	return append(list, w.sum(m.errors, m.unit, m.what+" that ended with an error, by code and name.", true, errors)...)
}

// readFailures reads the failed work of a tally: durations by code, counts by code and name.
func (t *tally) readFailures(w writer) (durations []metricdata.HistogramDataPoint[float64], named []metricdata.DataPoint[int64]) {
	for i := range t.failed {
		if f := t.failed[i].Load(); f != nil {
			r := t.bounds.empty()
			r.add(&f.durations)
			durations = append(durations, w.histogram(f.attributes, t.bounds, r))
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.errors {
		named = append(named, w.point(e.attributes, int64(e.count.Load())))
	}
	return durations, named
}

func (w writer) signals(actions []*actionSignals) (list []metricdata.Metrics) {
	for i, s := range signalMetrics {
		var points []metricdata.DataPoint[int64]
		for _, a := range actions {
			if n := a.counts[i].Load(); n > 0 {
				points = append(points, w.point(attribute.NewSet(a.attributes...), int64(n)))
			}
		}
		list = append(list, w.sum(s.metric, s.unit, s.description, true, points)...)
	}
	var open, out, others []metricdata.DataPoint[int64]
	for _, a := range actions {
		set := attribute.NewSet(a.attributes...)
		if a.hasBreaker.Load() {
			open = append(open, w.point(set, oneIf(a.breakerOpen.Load())))
		}
		if n, any := a.nodesOut(); any {
			out = append(out, w.point(set, int64(n)))
		}
		kinds := a.others()
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			more := append(slices.Clone(a.attributes), signalKey.String(kind))
			others = append(others, w.point(attribute.NewSet(more...), int64(kinds[kind])))
		}
	}
	if len(open) > 0 {
		list = append(list, metricdata.Metrics{Name: "sabir.breaker.open", Unit: "{breaker}",
			Description: "1 while the circuit breaker is open or half open, 0 when it is closed.", Data: metricdata.Gauge[int64]{DataPoints: open}})
	}
	if len(out) > 0 {
		list = append(list, metricdata.Metrics{Name: "sabir.nodes.out", Unit: "{node}",
			Description: "Nodes that get no calls of the action for a while.", Data: metricdata.Gauge[int64]{DataPoints: out}})
	}
	return append(list, w.sum("sabir.signals", "{signal}", "Signals of middlewares that are not among Sabir's own.", true, others)...)
}

// refused writes what the nodes refused, also where that is nothing: an alert on a counter needs its zero.
func (w writer) refused(r introspect.Refused) []metricdata.Metrics {
	one := func(n uint64) []metricdata.DataPoint[int64] {
		return []metricdata.DataPoint[int64]{w.point(attribute.NewSet(), int64(n))}
	}
	return append(w.sum("sabir.links.forged", "{packet}", "Packets, records and announcements that no holder of the cluster key made.", true, one(r.Forged)),
		w.sum("sabir.http.heads.refused", "{request}", "Requests over HTTP whose form RFC 9112 does not allow, or lets a server refuse.", true, one(r.HTTPHeads))...)
}

// memory writes what waits in the nodes.
func (w writer) memory(nodes []introspect.Node) []metricdata.Metrics {
	var waiting, streams, limits, refused, ended []metricdata.DataPoint[int64]
	for _, node := range nodes {
		used, of := node.Memory, attribute.NewSet(nodeKey.String(node.ID))
		waiting = append(waiting, w.point(of, used.Waiting))
		streams = append(streams, w.point(of, used.Streams))
		limits = append(limits, w.point(of, used.Limit))
		refused = append(refused, w.point(of, used.Refused))
		ended = append(ended, w.point(of, used.Ended))
	}
	list := w.sum("sabir.memory.waiting", "By", "Bytes of what waits in the node for something slow.", false, waiting)
	list = append(list, w.sum("sabir.memory.streams", "By", "Bytes of them in streams, and in answers over HTTP.", false, streams)...)
	list = append(list, w.sum("sabir.memory.limit", "By", "Bytes that may wait in the node.", false, limits)...)
	list = append(list, w.sum("sabir.memory.refused", "{value}", "Values and streams that there was no space for.", true, refused)...)
	return append(list, w.sum("sabir.memory.ended", "{stream}", "Streams and answers cut off, since their receivers stood still.", true, ended)...)
}

func oneIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// spans writes the counts of spans by their fate: no loss is silent.
func (w writer) spans(c SpanCounts) []metricdata.Metrics {
	why := func(reason string) attribute.Set { return attribute.NewSet(errorTypeKey.String(reason)) }
	list := w.sum("otel.sdk.exporter.span.exported", "{span}", "Spans that the exporter took, or with error.type did not.", true,
		[]metricdata.DataPoint[int64]{w.point(attribute.NewSet(), int64(c.Exported)), w.point(why("rejected"), int64(c.Failed))})
	return append(list, w.sum("otel.sdk.processor.span.processed", "{span}", "Spans handed to the exporter, or with error.type dropped.", true,
		[]metricdata.DataPoint[int64]{w.point(attribute.NewSet(), int64(c.Exported+c.Failed)),
			w.point(why("queue_full"), int64(c.QueueFull)), w.point(why("already_shutdown"), int64(c.Late))})...)
}
