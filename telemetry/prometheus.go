package telemetry

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// openPrometheus makes the registry and the reader that fills it.
func (t *Telemetry) openPrometheus() (sdkmetric.Reader, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reader, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithProducer(producer{t}), otelprometheus.WithoutScopeInfo())
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	t.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, EnableOpenMetrics: true, MaxRequestsInFlight: 4, Timeout: 10 * time.Second,
	})
	return reader, nil
}

// Handler answers GET requests with the metrics in Prometheus's text format, or OpenMetrics' if asked for it. Give it to admin.Metrics,
// which serves it at an address for operators, or mount it in an HTTP server of the program's own: it does not authenticate. Without
// Config.Prometheus it answers 404.
func (t *Telemetry) Handler() http.Handler {
	if t.handler == nil {
		return http.NotFoundHandler()
	}
	return t.handler
}
