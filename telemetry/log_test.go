package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
)

// linesOf parses what a JSON handler wrote.
func linesOf(t *testing.T, b *buffer) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(b.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fields)
	}
	return lines
}

func TestTheLogHandlerKeepsTheRulesOfSlog(t *testing.T) {
	var out bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		out.Reset()
		return telemetry.LogHandler(slog.NewJSONHandler(&out, nil))
	}, func(t *testing.T) map[string]any {
		var fields map[string]any
		if err := json.Unmarshal(out.Bytes(), &fields); err != nil {
			t.Fatal(err)
		}
		return fields
	})
}

func TestRecordsTellTheCallTheyAreLoggedIn(t *testing.T) {
	var out buffer
	log := slog.New(telemetry.LogHandler(slog.NewJSONHandler(&out, nil)))
	exporter := tracetest.NewInMemoryExporter()
	tel := newTelemetry(t, telemetry.Config{Traces: exporter})
	s := sabir.NewService("orders")
	sabir.Handle(s, "place", func(ctx context.Context, _ helloRequest) (helloReply, error) {
		log.With("a", 1).WithGroup("g").With("b", 2).InfoContext(ctx, "placed", "c", 3)
		return helloReply{}, sabir.Emit(ctx, s, "order.placed", 1)
	})
	sabir.On(s, "order.*", func(ctx context.Context, _ int) error {
		log.InfoContext(ctx, "received")
		return nil
	})
	node := start(t, sabir.Serve(s), sabir.Use(tel.Middleware()))
	if err := call(node, sabir.WithRequestID(t.Context(), "r1"), "orders.place"); err != nil {
		t.Fatal(err)
	}
	log.InfoContext(t.Context(), "outside")
	spans := spansOf(t, tel, exporter)
	lines := linesOf(t, &out)
	place := spans["orders.place"].SpanContext
	want := map[string]any{"node": "n1", "service": "orders", "action": "orders.place", "request_id": "r1", "a": 1.0,
		"trace_id": place.TraceID().String(), "span_id": place.SpanID().String()}
	for key, value := range want {
		if lines[0][key] != value {
			t.Errorf("%s is %v, want %v", key, lines[0][key], value)
		}
	}
	if g, _ := lines[0]["g"].(map[string]any); len(g) != 2 || g["b"] != 2.0 || g["c"] != 3.0 {
		t.Errorf("the group is %v", lines[0]["g"])
	}
	if lines[1]["event"] != "order.placed" || lines[1]["action"] != nil || lines[1]["span_id"] != spans["handle order.*"].SpanContext.SpanID().String() {
		t.Errorf("the event's line is %v", lines[1])
	}
	for _, key := range []string{"node", "service", "action", "request_id", "trace_id"} {
		if lines[2][key] != nil {
			t.Errorf("outside a call, %s is %v", key, lines[2][key])
		}
	}
}

func TestLogsWritesFaultsWithTheStackOfAPanic(t *testing.T) {
	var out buffer
	tel := newTelemetry(t, telemetry.Config{CallLog: slog.New(slog.NewJSONHandler(&out, nil))})
	node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
	for _, action := range []string{"hello", "buy", "invalid", "plain", "panic"} {
		_ = call(node, t.Context(), "v2.shop."+action)
	}
	lines := linesOf(t, &out)
	if len(lines) != 2 {
		t.Fatalf("%d lines, want those of plain and panic: %v", len(lines), lines)
	}
	for i, want := range []struct{ action, code string }{{"v2.shop.plain", "Unknown"}, {"v2.shop.panic", "Internal"}} {
		e, _ := lines[i]["error"].(map[string]any)
		if lines[i]["level"] != "ERROR" || lines[i]["action"] != want.action || e["code"] != want.code {
			t.Errorf("line %d is %v, want %v", i, lines[i], want)
		}
	}
	if e, _ := lines[1]["error"].(map[string]any); !strings.Contains(e["stack"].(string), "metrics_test.go") || e["cause"] != "oh no" {
		t.Errorf("the panic's error is %v", e)
	}
}

func TestEachCallLogsEveryCallAtItsLevel(t *testing.T) {
	for _, c := range []struct {
		least slog.Level
		lines int
	}{{slog.LevelDebug, 4}, {slog.LevelInfo, 1}} {
		var out buffer
		log := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: c.least}))
		tel := newTelemetry(t, telemetry.Config{CallLog: log, EachCall: slog.LevelDebug})
		s := shop()
		sabir.On(s, "x", func(context.Context, int) error { return nil })
		node := start(t, sabir.Serve(s), sabir.Use(tel.Middleware()))
		_ = call(node, t.Context(), "v2.shop.hello")
		_ = call(node, t.Context(), "v2.shop.buy")
		_ = call(node, t.Context(), "v2.shop.plain")
		_ = sabir.Emit(t.Context(), node, "x", 1)
		lines := linesOf(t, &out)
		if len(lines) != c.lines {
			t.Fatalf("at %v: %d lines, want %d", c.least, len(lines), c.lines)
		}
		if c.lines == 4 && (lines[0]["msg"] != "call" || lines[0]["level"] != "DEBUG" || lines[0]["duration_ms"] == nil ||
			lines[1]["msg"] != "call failed" || lines[1]["level"] != "DEBUG" || lines[2]["level"] != "ERROR" || lines[3]["msg"] != "event") {
			t.Errorf("the lines are %v", lines)
		}
	}
}
