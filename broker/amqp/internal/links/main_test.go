package links_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/brokers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }
