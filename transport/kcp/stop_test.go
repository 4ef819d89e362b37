//go:build unix

package kcp_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/transporttest"
)

func TestAConnectionOutlivesAStopOfItsProcess(t *testing.T) {
	transporttest.OutlivesAStop(t, "kcp://127.0.0.1:0")
}
