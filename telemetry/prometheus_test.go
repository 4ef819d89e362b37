package telemetry_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
)

func TestThePageTellsTheProgramAndItsRuntime(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true, Resource: []attribute.KeyValue{attribute.String("service.name", "shop")}})
	p := scrape(t, tel)
	if p["go_goroutines"] == nil || p["process_start_time_seconds"] == nil {
		t.Error("the metrics of the runtime or the process are missing")
	}
	found := false
	for _, l := range p["target_info"].GetMetric()[0].GetLabel() {
		found = found || l.GetName() == "service_name" && l.GetValue() == "shop"
	}
	if !found {
		t.Errorf("target_info is %v", p["target_info"])
	}
}

func TestMetricsOfTheProgramsOwnAreOnThePage(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	orders, err := tel.MeterProvider().Meter("shop").Int64Counter("shop.orders")
	if err != nil {
		t.Fatal(err)
	}
	orders.Add(t.Context(), 3)
	scrape(t, tel).expect(t, "shop_orders_total", labels{}, 3)
}

func TestMetricsOfTheProgramsOwnHaveTheTraceOfTheCallAsExemplar(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true, Traces: tracetest.NewInMemoryExporter()})
	items, err := tel.MeterProvider().Meter("shop").Int64Histogram("shop.items")
	if err != nil {
		t.Fatal(err)
	}
	var id string
	shop := sabir.NewService("shop")
	sabir.Handle(shop, "order", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		id = trace.SpanContextFromContext(ctx).TraceID().String()
		items.Record(ctx, 3)
		return sabir.Empty{}, nil
	})
	node := start(t, sabir.Serve(shop), sabir.Use(tel.Middleware()))
	if _, err := sabir.Call[sabir.Empty](t.Context(), node, "shop.order", sabir.Empty{}); err != nil {
		t.Fatal(err)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept", "application/openmetrics-text")
	tel.Handler().ServeHTTP(w, r)
	_, line, _ := strings.Cut(w.Body.String(), `shop_items_bucket{le="5.0"} 1 # `)
	if exemplar, _, _ := strings.Cut(line, "\n"); !strings.Contains(exemplar, `trace_id="`+id+`"`) {
		t.Errorf("it is %q, want the trace %s", exemplar, id)
	}
}

func TestTheHandlerWithoutPrometheusIsNotFound(t *testing.T) {
	w := httptest.NewRecorder()
	newTelemetry(t, telemetry.Config{}).Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 404 {
		t.Errorf("status %d, want 404", w.Code)
	}
}
