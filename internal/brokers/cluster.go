package brokers

import (
	"fmt"
	"strings"
	"testing"
)

// NATSClusterForTest starts three NATS servers that are one cluster, and returns the address of all and the servers by their names.
// They end with the test. Electing a leader takes them some seconds.
func NATSClusterForTest(t testing.TB) (address string, servers map[string]*Server) {
	t.Helper()
	Long(t)
	routes := make([]string, 3)
	for n := range routes {
		var err error
		if routes[n], err = FreeAddress("tcp"); err != nil {
			t.Fatal(err)
		}
	}
	servers = make(map[string]*Server)
	var hosts []string
	for n, route := range routes {
		name := fmt.Sprint("server-", n)
		extra := fmt.Sprintf("server_name: %s\ncluster {\n  name: test\n  listen: %q\n  routes: [nats://%s]\n}\n", name, route, strings.Join(routes, ", nats://"))
		servers[name] = ForTest(t, NATS, Config{Extra: extra})
		hosts = append(hosts, servers[name].Addr())
	}
	return "nats://" + strings.Join(hosts, ","), servers
}
