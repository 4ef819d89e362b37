//go:build unix

package quic_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/transporttest"
)

func TestAConnectionOutlivesAStopOfItsProcess(t *testing.T) {
	transporttest.OutlivesAStop(t, "quic://127.0.0.1:0")
}
