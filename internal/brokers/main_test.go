package brokers_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/brokers"
)

// asParent is the variable that makes the test binary start a broker of that kind, print its process and wait to be killed.
const asParent = "SABIR_TEST_PARENT"

func TestMain(m *testing.M) {
	if kind := os.Getenv(asParent); kind != "" {
		s, err := brokers.Start(brokers.Kind(kind), brokers.Config{Dir: os.Getenv(asParent + "_DIR")})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(s.PID(), s.Addr())
		select {}
	}
	goleak.VerifyTestMain(brokers.Stopping(m))
}
