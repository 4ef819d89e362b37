//go:build unix

package utp_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/transporttest"
)

func TestAConnectionOutlivesAStopOfItsProcess(t *testing.T) {
	transporttest.OutlivesAStop(t, "utp://127.0.0.1:0")
}
