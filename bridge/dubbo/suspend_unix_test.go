//go:build unix

package dubbo_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
)

// standStill shows that a provider that stands still holds up nobody longer than the deadline of the call, and goes on where it was.
func standStill(t *testing.T, provider *process, node *sabir.Node) {
	if err := brokers.Suspend(provider.command.Process); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := sabir.Bind[sabir.Empty, string](node, "orders.ping")(ctx, sabir.Empty{}); !errors.Is(err, sabir.ErrDeadlineExceeded) {
		t.Errorf("a call of a provider that stands still: %v", err)
	}
	if err := provider.command.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	ask(t, node, "orders.ping", sabir.Empty{}, "pong")
}
