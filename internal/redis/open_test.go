package redis

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/brokers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The first to use a client may have little time.
func TestATimeLimitOfTheFirstConnectionIsNotThatOfLaterOnes(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	a := read(t, server.URL())
	option := a.Options()
	option.Dialer = net.Dialer{Timeout: time.Minute}
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	s, err := Open(short, a, option, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := server.Suspend(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(3*time.Second, func() { server.Resume() })
	for range 2 { // the first one may find out only that its connection was lost
		err = s.Do(t.Context(), s.B().Set().Key("k").Value("").Build()).Error()
	}
	if err != nil {
		t.Errorf("a server that answered after 3 s, with a limit of a minute: %v", err)
	}
}
