package telemetry_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"

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

func TestServeAnswersWhileTheNodeRuns(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()), tel.Serve(":0"))
	addr := tel.Addr()
	if !strings.HasPrefix(addr, "127.0.0.1:") {
		t.Fatalf("it listens on %q, want this machine only", addr)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for path, want := range map[string]int{"/metrics": 200, "/": 404} {
		answer, err := client.Get("http://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != want || want == 200 && !strings.Contains(string(body), "sabir_server_calls_total") {
			t.Errorf("%s: %d %.200s", path, answer.StatusCode, body)
		}
	}
	stop(t, node)
	if tel.Addr() != "" {
		t.Errorf("after the stop the address is %q", tel.Addr())
	}
	if _, err := client.Get("http://" + addr + "/metrics"); err == nil {
		t.Error("it answers after the stop")
	}
}

func TestServeRefusesWhatItShould(t *testing.T) {
	on, off := newTelemetry(t, telemetry.Config{Prometheus: true}), newTelemetry(t, telemetry.Config{})
	for name, c := range map[string]struct {
		option sabir.NodeOption
		says   string
	}{
		"others could read":      {on.Serve("0.0.0.0:0"), "AllowUnauthenticated"},
		"others could read, IP6": {on.Serve("[::]:0"), "AllowUnauthenticated"},
		"no port":                {on.Serve("localhost"), "host:port"},
		"metrics are off":        {off.Serve(":0"), "Config with Prometheus"},
	} {
		node := sabir.NewNode(c.option, sabir.Logger(quiet))
		if err := node.Start(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: the error is %v, want %q in it", name, err, c.says)
		}
	}
}

func TestServeIsExposedWhenAsked(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true, AllowUnauthenticated: true})
	start(t, sabir.Use(tel.Middleware()), tel.Serve("0.0.0.0:0"))
	if tel.Addr() == "" || strings.HasPrefix(tel.Addr(), "127.") {
		t.Errorf("it listens on %q", tel.Addr())
	}
}

func TestTheHandlerWithoutPrometheusIsNotFound(t *testing.T) {
	w := httptest.NewRecorder()
	newTelemetry(t, telemetry.Config{}).Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 404 {
		t.Errorf("status %d, want 404", w.Code)
	}
}
