package web_test

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/sabir-go/sabir"
)

// Requests leave garbage as calls between nodes do: a unary call of gRPC took 0.87 of the processor time with the floor.
func TestANodeThatServesHTTPHasTheHeapGrowToItsFloorUntilItStops(t *testing.T) {
	if own, set := os.LookupEnv("GOGC"); set {
		os.Unsetenv("GOGC") // which leaves the percentage as it is
		t.Cleanup(func() { os.Setenv("GOGC", own) })
		defer debug.SetGCPercent(debug.SetGCPercent(100))
	}
	percent := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	// More than twice what the tests before this one may have left alive, for which there is no floor.
	node := sabir.NewNode(sabir.HTTP("127.0.0.1:0"), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Limits{HeapFloor: 8 << 30})
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := percent(); now <= 100 {
		t.Errorf("while it serves HTTP the percentage is %d", now)
	}
	if err := node.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if now := percent(); now != 100 {
		t.Errorf("after the stop the percentage is %d", now)
	}
}
