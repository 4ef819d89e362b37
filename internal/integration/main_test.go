package integration

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/brokers"
)

func TestMain(m *testing.M) {
	if protos := os.Getenv(conformanceVariable); protos != "" {
		if err := serveConformance(protos); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(brokers.Stopping(m))
}
