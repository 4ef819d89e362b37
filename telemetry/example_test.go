package telemetry_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/admin"
	"github.com/sabir-go/sabir/telemetry"
)

// Metrics for Prometheus, on this machine's port of choice, with one more line than a node without.
func Example() {
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", hello)

	tel, err := telemetry.New(telemetry.Config{Prometheus: true})
	if err != nil {
		panic(err)
	}
	node := sabir.NewNode(sabir.Serve(greeter), sabir.Use(tel.Middleware()), admin.Serve(":0", admin.Metrics(tel.Handler())))
	if err := node.Start(context.Background()); err != nil {
		panic(err)
	}
	defer node.Stop(context.Background())

	for range 3 {
		_, _ = sabir.Call[helloReply](context.Background(), node, "greeter.hello", helloRequest{Name: "Ada"})
	}

	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + node.AdminAddr() + "/metrics")
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	page, _ := io.ReadAll(answer.Body)
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "sabir_server_calls_total") && strings.Contains(line, "greeter") {
			fmt.Print(line)
		}
	}
	// Output: sabir_server_calls_total{rpc_method="greeter.hello",rpc_system_name="sabir",sabir_service="greeter"} 3
}

// Records that name the call they belong to.
func ExampleLogHandler() {
	options := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	log := slog.New(telemetry.LogHandler(slog.NewTextHandler(os.Stdout, options)))

	orders := sabir.NewService("orders")
	sabir.Handle(orders, "place", func(ctx context.Context, item string) (int, error) {
		log.InfoContext(ctx, "order placed", "item", item)
		return 1, nil
	})
	node := sabir.NewNode(sabir.NodeID("n1"), sabir.Serve(orders))
	if err := node.Start(context.Background()); err != nil {
		panic(err)
	}
	defer node.Stop(context.Background())

	_, _ = sabir.Call[int](sabir.WithRequestID(context.Background(), "r1"), node, "orders.place", "tea")
	// Output: level=INFO msg="order placed" item=tea node=n1 service=orders action=orders.place request_id=r1
}
