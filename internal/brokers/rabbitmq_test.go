//go:build unix

package brokers_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
)

func TestRabbitMQStartsStandsStillDiesAndComesBack(t *testing.T) {
	s := brokers.ForTest(t, brokers.RabbitMQ, brokers.Config{Password: "s3cret"})
	if !strings.Contains(s.URL(), "amqp://sabir:s3cret@127.0.0.1:") {
		t.Errorf("the URL is %s", s.URL())
	}
	mustGreet(t, s)
	address, pid := s.Addr(), s.PID()

	if err := s.Suspend(); err != nil {
		t.Fatal(err)
	}
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil && !strings.Contains(string(state), ") T ") {
		t.Errorf("suspended, it is %s", state)
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	mustGreet(t, s)

	began := time.Now()
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Kill took %v", took)
	}
	mustRefuse(t, address)
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	mustGreet(t, s)
	if s.Addr() != address {
		t.Errorf("it came back at %s, was at %s", s.Addr(), address)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, address)
	if err := syscall.Kill(-pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("something of its process group is left: %v", err)
	}
}
