package lease_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/brokers"
)

// TestMain runs the tests, or a node where the process was started as one.
func TestMain(m *testing.M) {
	if node := os.Getenv(nodeVariable); node != "" {
		beNode(node)
		return
	}
	goleak.VerifyTestMain(brokers.Stopping(m))
}
