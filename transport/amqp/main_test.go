package amqp_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/brokers"
)

func TestMain(m *testing.M) {
	code := m.Run()
	brokers.StopShared()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
