package integration

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/brokers"
)

// programs are those that this one is where a variable of the environment has a value, which they get.
var programs = map[string]func(value string) error{conformanceVariable: serveConformance}

func TestMain(m *testing.M) {
	for variable, run := range programs {
		value := os.Getenv(variable)
		if value == "" {
			continue
		}
		if err := run(value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(brokers.Stopping(m))
}
