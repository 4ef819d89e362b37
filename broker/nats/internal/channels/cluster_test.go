package channels_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/channeltest"
	"github.com/sabir-go/sabir/internal/engine"
)

// The server is not started again: the other two have to do without it.
func TestWhatWasAcknowledgedIsHandledAfterTheLeaderOfThreeServersIsKilled(t *testing.T) {
	brokers.Slow(t) // elections take seconds
	address, servers := brokers.NATSClusterForTest(t)
	l := channeltest.StartLoad(t, address+"?replicas=3")
	l.Some(t, 1000)
	leader := leaderOf(t, address)
	if err := servers[leader].Kill(); err != nil {
		t.Fatal(err)
	}
	l.Some(t, 1000)
	if lost := l.Lost(t); lost != 0 {
		t.Errorf("%d of %d acknowledged messages are lost", lost, l.Acknowledged())
	}
}

func TestWhoDoesNotSayHowManyReplicasLeavesThemAsTheyAre(t *testing.T) {
	brokers.Slow(t)
	address, _ := brokers.NATSClusterForTest(t)
	l := channeltest.StartLoad(t, address+"?replicas=3")
	l.Some(t, 1)
	log := new(logged)
	s, err := engine.Open(t.Context(), address, engine.Config{Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Declare(t.Context(), engine.Spec{Name: "failover"}); err != nil {
		t.Fatal(err)
	}
	if info := streamOf(t, address); info.Config.Replicas != 3 || log.String() != "" {
		t.Errorf("the channel has %d replicas; the log has %q", info.Config.Replicas, log)
	}
	if err := s.Declare(t.Context(), engine.Spec{Name: "other"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "replicas=3") {
		t.Errorf("a channel that one server keeps is not warned of: %q", log)
	}
}

type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// streamOf returns the servers' report on the channel of a load.
func streamOf(t *testing.T, address string) *jetstream.StreamInfo {
	t.Helper()
	conn, err := nats.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	stream, err := js.Stream(ctx, "sabir=failover")
	if err != nil {
		t.Fatal(fmt.Errorf("the stream of the channel: %w", err))
	}
	return stream.CachedInfo()
}

func leaderOf(t *testing.T, address string) string {
	t.Helper()
	return streamOf(t, address).Cluster.Leader
}
