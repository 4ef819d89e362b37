//go:build unix

package links_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
)

func suspend(t *testing.T, p *os.Process) {
	t.Helper()
	if err := brokers.Suspend(p); err != nil {
		t.Fatal(err)
	}
}

func resume(t *testing.T, p *os.Process) {
	t.Helper()
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
