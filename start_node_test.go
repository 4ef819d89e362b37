package sabir_test

import (
	"log/slog"
	"testing"

	"github.com/sabir-go/sabir"
)

var quiet = slog.New(slog.DiscardHandler)

// startNode starts a node and stops it at the end of the test.
func startNode(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	n := sabir.NewNode(append([]sabir.NodeOption{sabir.Logger(quiet)}, options...)...)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopIfRunning(t, n) })
	return n
}
