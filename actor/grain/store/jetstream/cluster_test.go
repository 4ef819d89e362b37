package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/actor/grain/store/storetest"
	"github.com/sabir-go/sabir/brokers"
)

// cluster starts three servers that are one, and returns them by name.
func cluster(t *testing.T) (address string, servers map[string]*brokers.Server) {
	t.Helper()
	var routes []string
	for range 3 {
		free, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		routes = append(routes, free.Addr().String())
		if err := free.Close(); err != nil {
			t.Fatal(err)
		}
	}
	servers = make(map[string]*brokers.Server)
	var hosts []string
	for n, route := range routes {
		name := fmt.Sprint("server-", n)
		extra := fmt.Sprintf("server_name: %s\ncluster {\n  name: suite\n  listen: %q\n  routes: [nats://%s]\n}\n", name, route, strings.Join(routes, ", nats://"))
		servers[name] = brokers.ForTest(t, brokers.NATS, brokers.Config{Extra: extra})
		hosts = append(hosts, servers[name].Addr())
	}
	return "nats://" + strings.Join(hosts, ",") + "?replicas=3", servers
}

// whenElected opens the store as soon as the servers have agreed on who leads.
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
	address, servers := cluster(t)
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
		storetest.KeepsItsWord(t, address, func() error {
			leader, err := leaderOf(t.Context(), stream)
			if err != nil {
				return err
			}
			return errors.Join(servers[leader].Kill(), servers[leader].Restart())
		})
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
