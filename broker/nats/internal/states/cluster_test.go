package states_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/storetest"
)

// whenElected opens the store as soon as the servers have elected a leader.
func whenElected(t *testing.T, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		s, err := store.Open(ctx, address)
		if err == nil {
			_ = s.Close() // it never fails
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatal(err)
		}
	}
}

func TestAClusterOfServers(t *testing.T) {
	brokers.Slow(t) // elections take seconds
	address, servers := brokers.NATSClusterForTest(t)
	address += "?replicas=3"
	whenElected(t, address)
	storetest.Run(t, storetest.Setup{Address: address})

	js := plain(t, servers["server-0"])
	stream, err := js.Stream(t.Context(), "KV_sabir_grains")
	if err != nil {
		t.Fatal(err)
	}
	if c := stream.CachedInfo().Config; c.Replicas != 3 || c.AllowDirect {
		t.Fatalf("it has %d replicas, and answers from any: %v", c.Replicas, c.AllowDirect)
	}
	t.Run("whose leader is killed keeps what it acknowledged", func(t *testing.T) {
		storetest.Durable(t, address, func() error {
			leader, err := leaderOf(t.Context(), stream)
			if err != nil {
				return err
			}
			return errors.Join(servers[leader].Kill(), servers[leader].Restart())
		})
	})
}

// The one that was killed comes back when the next one is: the cluster does without it.
func TestAClusterWithoutItsLeaderGoesOnAndKeepsWhatItAcknowledged(t *testing.T) {
	brokers.Slow(t)
	address, servers := brokers.NATSClusterForTest(t)
	address += "?replicas=3"
	whenElected(t, address)
	stream, err := plain(t, servers["server-0"]).Stream(t.Context(), "KV_sabir_grains")
	if err != nil {
		t.Fatal(err)
	}
	dead := ""
	storetest.Durable(t, address, func() error {
		if dead != "" {
			if err := servers[dead].Restart(); err != nil {
				return err
			}
		}
		dead, err = leaderOf(t.Context(), stream)
		if err != nil {
			return err
		}
		return servers[dead].Kill()
	})
}

// leaderOf waits until there is one.
func leaderOf(ctx context.Context, stream jetstream.Stream) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		one, stop := context.WithTimeout(ctx, time.Second)
		info, err := stream.Info(one)
		stop()
		if err == nil && info.Cluster.Leader != "" {
			return info.Cluster.Leader, nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return "", fmt.Errorf("nobody leads the stream: %w", ctx.Err())
		}
	}
}
