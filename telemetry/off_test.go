package telemetry_test

import (
	"context"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
)

func TestWhatIsOffIsNotComposedIn(t *testing.T) {
	m := newTelemetry(t, telemetry.Config{}).Middleware()
	if m.Local != nil || m.Remote != nil || m.Event != nil || m.Stream != nil || m.Signal != nil {
		t.Errorf("off, but composed in: %+v", m)
	}
	m = newTelemetry(t, telemetry.Config{Traces: &counter{}}).Middleware()
	if m.Signal != nil {
		t.Error("metrics are off, but signals are received")
	}
}

func TestCallsAllocateNothing(t *testing.T) {
	for name, config := range map[string]telemetry.Config{
		"off":     {},
		"metrics": {Metrics: true},
		"logs":    {CallLog: quiet},
	} {
		t.Run(name, func(t *testing.T) {
			tel := newTelemetry(t, config)
			node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
			ctx, in := context.Background(), helloRequest{"Ada", 36}
			allocations := testing.AllocsPerRun(1000, func() {
				if _, err := sabir.Call[helloReply](ctx, node, "v2.shop.hello", in); err != nil {
					t.Error(err)
				}
			})
			if allocations != 0 {
				t.Errorf("a call allocates %v times", allocations)
			}
		})
	}
}
