package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
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

// Handler answers GET requests with the metrics in Prometheus's text format, or OpenMetrics' if asked for it. Mount it where
// the program's own HTTP server should have it; it does not authenticate. Without Config.Prometheus it answers 404.
func (t *Telemetry) Handler() http.Handler {
	if t.handler == nil {
		return http.NotFoundHandler()
	}
	return t.handler
}

// Serve lets a node serve the metrics at /metrics on an address of its own while it runs:
//
//	node := sabir.NewNode(sabir.Use(tel.Middleware()), tel.Serve(":9464"))
//
// An address without a host means this machine only, 127.0.0.1. Since every client that reaches the address can read the
// metrics, a host that others can reach is refused without Config.AllowUnauthenticated. Port 0 takes a free one; [Telemetry.Addr] returns it.
func (t *Telemetry) Serve(addr string) sabir.NodeOption {
	return sabir.WithGateway(func(*sabir.Node) (gateway.Gateway, error) {
		if t.handler == nil {
			return nil, errors.New("telemetry: Serve has nothing to serve: give telemetry.New a Config with Prometheus")
		}
		f := &metricsServer{telemetry: t, addr: addr}
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, fmt.Errorf("telemetry: the address of Serve must be host:port or :port: %w", err)
		}
		if host == "" {
			host = "127.0.0.1"
		}
		if !t.exposed && !isLoopback(host) {
			return nil, fmt.Errorf("telemetry: %s can be reached from other machines, where anyone could read the metrics; if that is meant, set telemetry.Config.AllowUnauthenticated", addr)
		}
		f.addr = net.JoinHostPort(host, port)
		return f, nil
	})
}

// Addr is the host and port that Serve listens on while the node runs; "" if it does not.
func (t *Telemetry) Addr() string {
	if addr := t.addr.Load(); addr != nil {
		return *addr
	}
	return ""
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// metricsServer serves /metrics for a node.
type metricsServer struct {
	telemetry *Telemetry
	addr      string
	server    *http.Server
	ended     chan struct{}
}

// Name implements gateway.Gateway.
func (f *metricsServer) Name() string { return "metrics " + f.addr }

// Start implements gateway.Gateway.
func (f *metricsServer) Start(ctx context.Context) error {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", f.addr)
	if err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", f.telemetry.handler)
	f.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
	f.ended = make(chan struct{})
	go func() {
		defer close(f.ended)
		if err := f.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			f.telemetry.log().Error("metrics are not served any more", "address", f.addr, "error", err)
		}
	}()
	addr := listener.Addr().String()
	f.telemetry.addr.Store(&addr)
	return nil
}

// Stop implements gateway.Gateway.
func (f *metricsServer) Stop(ctx context.Context) error {
	f.telemetry.addr.Store(nil)
	err := f.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, f.server.Close())
	}
	<-f.ended
	return err
}
