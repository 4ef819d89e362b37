package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
)

// TestTheLogOfARequestIsBesideItsTraceOnWhicheverNodesItRan makes one call that another node handles in part.
func TestTheLogOfARequestIsBesideItsTraceOnWhicheverNodesItRan(t *testing.T) {
	address := freeAddress(t)
	stock := sabir.NewService("stock")
	orders := sabir.NewService("orders")
	var nodes []*sabir.Node
	for i, s := range []*sabir.Service{orders, stock} {
		ring := Traces(100)
		tel, err := telemetry.New(telemetry.Config{Traces: ring})
		must(t, err)
		log := slog.New(telemetry.Redact(ring.LogHandler(slog.NewTextHandler(io.Discard, nil)), "card"))
		if i == 0 {
			sabir.Handle(s, "create", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
				log.With("order", 7).WithGroup("pay").WarnContext(ctx, "it is late", "card", "4111", "sum", 12)
				return sabir.Call[sabir.Empty](ctx, sabir.NodeFromContext(ctx), "stock.reserve", sabir.Empty{})
			})
		} else {
			sabir.Handle(s, "reserve", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
				log.InfoContext(ctx, "the last rope")
				return sabir.Empty{}, nil
			})
		}
		log.Info("outside of any call")
		n := sabir.NewNode(sabir.NodeID(fmt.Sprint("n", i+1)), quiet, sabir.Join(address), sabir.Serve(s, ring.Service()), sabir.Use(tel.Middleware()))
		must(t, n.Start(t.Context()))
		t.Cleanup(func() { must(t, n.Stop(context.Background())) })
		nodes = append(nodes, n)
	}
	must(t, nodes[0].WaitFor(t.Context(), "stock"))
	_, err := sabir.Call[sabir.Empty](t.Context(), nodes[0], "orders.create", sabir.Empty{})
	must(t, err)
	board := boardOf(t, nodes[1], config{})
	var got traceSpans
	until(t, "the spans of both nodes are there", func() bool {
		var list traceList
		must(t, json.Unmarshal(board.ask(t, "GET", "/api/traces", "").Body.Bytes(), &list))
		for _, one := range list.Traces {
			if one.Name == "orders.create" && len(one.Nodes) == 2 {
				must(t, json.Unmarshal(board.ask(t, "GET", "/api/trace?id="+one.Trace, "").Body.Bytes(), &got))
				return true
			}
		}
		return false
	})
	var lines []string
	for _, l := range got.Lines {
		lines = append(lines, fmt.Sprint(l.Node, " ", l.Level, " ", l.Message, " ", l.Fields))
	}
	want := "n1 WARN it is late [{order 7} {pay.card (hidden)} {pay.sum 12}]; n2 INFO the last rope []"
	if got := strings.Join(lines, "; "); got != want {
		t.Errorf("the lines are %s, want %s", got, want)
	}
	spans := make(map[string]bool)
	for _, s := range got.Spans {
		spans[s.ID] = true
	}
	for _, l := range got.Lines {
		if !spans[l.Span] {
			t.Errorf("the line %q is of no span of the trace", l.Message)
		}
	}
}

func TestTheRingKeepsTheLastLinesAndBoundsThem(t *testing.T) {
	ring := Traces(minRing)
	for i := range minRing + 10 {
		ring.keepLine(keptLine{line: logLine{Message: fmt.Sprint(i)}})
	}
	if n, first := len(ring.lines.list), ring.lines.list[ring.lines.next].line.Message; n != minRing || first != "10" {
		t.Errorf("it holds %d lines from %s on", n, first)
	}
	var fields []logField
	for range maxDetails + 10 {
		fields = appendFields(fields, "", slog.String("k", strings.Repeat("x", maxDetail+1)))
	}
	if len(fields) != maxDetails || len(fields[0].Value) > maxDetail+len("…") {
		t.Errorf("%d fields of %d bytes", len(fields), len(fields[0].Value))
	}
}

func TestTheHandlerOfARingKeepsTheRulesOfSlog(t *testing.T) {
	var out bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		out.Reset()
		return Traces(minRing).LogHandler(slog.NewJSONHandler(&out, nil))
	}, func(t *testing.T) (fields map[string]any) {
		must(t, json.Unmarshal(out.Bytes(), &fields))
		return fields
	})
}
