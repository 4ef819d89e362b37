package main

import (
	"context"
	"fmt"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
)

// dropper is an exporter that counts the spans that it is given.
type dropper struct{ spans atomic.Uint64 }

func (d *dropper) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	d.spans.Add(uint64(len(spans)))
	return nil
}

func (*dropper) Shutdown(context.Context) error { return nil }

// observed counts and traces calls, and checks after each measurement that none was missed.
func observed(metrics, tracing bool) (work, error) {
	spans := new(dropper)
	config := telemetry.Config{Metrics: metrics}
	if tracing {
		config.Traces = spans
	}
	tel, err := telemetry.New(config)
	if err != nil {
		return work{}, err
	}
	math := sabir.NewService("math")
	sabir.Handle(math, "add", add)
	node, stop, err := started(sabir.Serve(math, tel.Stats()), sabir.Use(tel.Middleware()))
	if err != nil {
		return work{}, err
	}
	ctx, calls, asked := context.Background(), uint64(0), uint64(0)
	w := work{stop: stop, do: sums(func(in Pair) (int, error) {
		calls++
		return sabir.Call[int](ctx, node, "math.add", in)
	})}
	w.after = func() (map[string]float64, error) {
		figures := map[string]float64{}
		if tracing {
			if err := tel.Flush(ctx); err != nil {
				return nil, err
			}
			all := float64(calls + asked)
			figures["lost"] = 100 * (all - float64(spans.spans.Load())) / all
		}
		if metrics {
			asked++ // which is a call, and a span, too
			counted, err := countedCalls(ctx, node)
			if err != nil {
				return nil, err
			}
			if counted != calls {
				return nil, fmt.Errorf("%d of %d calls were counted", counted, calls)
			}
		}
		return figures, nil
	}
	return w, nil
}

func countedCalls(ctx context.Context, node *sabir.Node) (uint64, error) {
	stats, err := sabir.Call[telemetry.Stats](ctx, node, "$telemetry.stats", sabir.Empty{})
	if err != nil {
		return 0, err
	}
	for _, action := range stats.Actions {
		if action.Name == "math.add" {
			return action.Calls, nil
		}
	}
	return 0, nil
}
