// Telemetry shows a node that is watched: metrics that Prometheus reads, a span for each call, and logs that name the call
// they were written in.
//
//	go run ./examples/telemetry
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/admin"
	"github.com/sabir-go/sabir/telemetry"
)

type Order struct {
	Item string `json:"item"`
}

type Receipt struct {
	Number int `json:"number"`
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	// A real program gives the spans to otlptracehttp; this one keeps them to print them.
	spans := tracetest.NewInMemoryExporter()
	tel, err := telemetry.New(telemetry.Config{Prometheus: true, Traces: spans})
	if err != nil {
		return err
	}
	logger := slog.New(telemetry.LogHandler(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: steady})))
	node := sabir.NewNode(sabir.NodeID("shop-1"), sabir.Serve(orders(logger), stock()),
		sabir.Use(tel.Middleware()),                     // before all other middlewares, so that it sees what callers see
		admin.Serve(":0", admin.Metrics(tel.Handler()))) // ":9464" is what Prometheus asks by custom
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer node.Stop(ctx) // flushes what has not been exported

	for range 2 {
		if _, err := sabir.Call[Receipt](ctx, node, "orders.place", Order{"pen"}); err != nil {
			return err
		}
	}
	if err := tel.Flush(ctx); err != nil {
		return err
	}
	for _, span := range spans.GetSpans() {
		fmt.Println("span:", span.Name, "nested:", span.Parent.IsValid())
	}
	return metrics(ctx, "http://"+node.AdminAddr()+"/metrics")
}

// steady leaves out of the log what differs from run to run.
func steady(_ []string, a slog.Attr) slog.Attr {
	switch a.Key {
	case slog.TimeKey:
		return slog.Attr{}
	case "trace_id", "span_id":
		return slog.String(a.Key, "…")
	}
	return a
}

// metrics prints how often each action was called. There are latencies, errors and calls in flight, too.
func metrics(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if line := lines.Text(); strings.HasPrefix(line, "sabir_server_calls_total") && !strings.Contains(line, "$node") {
			fmt.Println("metric:", line)
		}
	}
	return lines.Err()
}

func orders(logger *slog.Logger) *sabir.Service {
	s := sabir.NewService("orders", sabir.DependsOn(sabir.ServiceName("stock")))
	sabir.Handle(s, "place", func(ctx context.Context, in Order) (Receipt, error) {
		logger.InfoContext(ctx, "order placed", "item", in.Item)
		return sabir.Call[Receipt](ctx, s, "stock.take", in)
	})
	return s
}

func stock() *sabir.Service {
	s := sabir.NewService("stock")
	sabir.Handle(s, "take", func(context.Context, Order) (Receipt, error) { return Receipt{1}, nil })
	return s
}
