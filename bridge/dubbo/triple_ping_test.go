package dubbo_test

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/sabir-go/sabir/bridge/dubbo"
)

// pinged is the first ping, after the preface and before the limit, on a connection of a node to a provider of Triple.
func pinged(t *testing.T, heartbeat, limit time.Duration) error {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	start(t, dubbo.Bridge(dubbo.Config{Heartbeat: heartbeat, References: map[string][]dubbo.Interface{"tri://" + listener.Addr().String(): {typed()}}}))
	c, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(limit))
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		t.Fatal(err)
	}
	frames := http2.NewFramer(c, c)
	if err := frames.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	for {
		got, err := frames.ReadFrame()
		if err != nil {
			return err
		}
		if ping, ok := got.(*http2.PingFrame); ok && !ping.IsAck() {
			return nil
		}
	}
}

func TestASilentProviderOfTripleGetsHeartbeats(t *testing.T) {
	if err := pinged(t, 100*time.Millisecond, waitLimit); err != nil {
		t.Error(err)
	}
}

func TestAProviderOfTripleGetsNoPingsBesideHeartbeats(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("pings came after 3 s: servers of gRPC ended connections for the fourth")
	}
	if err := pinged(t, time.Hour, 4*time.Second); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want no ping", err)
	}
}
