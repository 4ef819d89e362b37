package rediscache_test

import (
	"strings"
	"testing"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/brokers"
)

// useByTwo has two nodes share the cache at an address: one answers for the other, and a cleaning of one holds for both.
func useByTwo(t *testing.T, address string) {
	t.Helper()
	var r runs
	first := open(t, address)
	a, b := newNode(t, first, r.handler), newNode(t, open(t, address), r.handler)
	if x, y := a.get(t, "ada"), b.get(t, "ada"); x != 1 || y != 1 {
		t.Fatalf("the handler ran %d and %d times, want once for both", x, y)
	}
	must(t, first.Invalidate(t.Context(), "users.*"))
	if x, y := b.get(t, "ada"), a.get(t, "ada"); x != 2 || y != 2 {
		t.Fatalf("after the cleaning the handler ran %d and %d times, want once more for both", x, y)
	}
}

func TestACacheIsKeptInARedisCluster(t *testing.T) {
	servers, buses := make([]string, 2), make([]string, 2)
	for i := range servers {
		bus, err := brokers.FreeAddress("tcp") // by itself a server takes its port + 10000, which others may have
		must(t, err)
		_, buses[i], _ = strings.Cut(bus, ":")
		servers[i] = brokers.ForTest(t, brokers.Redis, brokers.Config{Extra: "cluster-enabled yes\ncluster-port " + buses[i] + "\n"}).Addr()
	}
	first, second := client(t, "redis://"+servers[0]), client(t, "redis://"+servers[1])
	must(t, first.Do(t.Context(), first.B().Arbitrary("CLUSTER", "ADDSLOTSRANGE", "0", "8191").Build()).Error())
	must(t, second.Do(t.Context(), second.B().Arbitrary("CLUSTER", "ADDSLOTSRANGE", "8192", "16383").Build()).Error())
	host, port, _ := strings.Cut(servers[1], ":")
	must(t, first.Do(t.Context(), first.B().Arbitrary("CLUSTER", "MEET", host, port, buses[1]).Build()).Error())
	eventually(t, "the servers are a cluster", func() bool {
		for _, c := range []rueidis.Client{first, second} {
			state, _ := c.Do(t.Context(), c.B().ClusterInfo().Build()).ToString()
			if !strings.Contains(state, "cluster_state:ok") {
				return false
			}
		}
		return true
	})
	useByTwo(t, "redis://"+strings.Join(servers, ","))
}

func TestACacheIsFoundBySentinels(t *testing.T) {
	r := brokers.ReplicatedForTest(t, 1)
	useByTwo(t, "redis://"+r.Sentinel(t)+"?sentinel="+brokers.SentinelName)
}
