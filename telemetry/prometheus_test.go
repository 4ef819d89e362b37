package telemetry_test

import (
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/attribute"

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

func TestTheHandlerWithoutPrometheusIsNotFound(t *testing.T) {
	w := httptest.NewRecorder()
	newTelemetry(t, telemetry.Config{}).Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 404 {
		t.Errorf("status %d, want 404", w.Code)
	}
}
