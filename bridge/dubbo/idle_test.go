package dubbo_test

import (
	"net"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/internal/brokers"
)

// idleTime is longer than three heartbeats of both sides, after which a connection whose heartbeats nobody answers is closed.
const idleTime = 200 * time.Second

func TestAConnectionThatIsIdleStaysOpenByHeartbeats(t *testing.T) {
	brokers.Nightly(t)
	pings := make(map[string]func() string)
	for _, scheme := range []string{"dubbo", "tri"} {
		served, called := freeAddress(t), freeAddress(t)
		startAs(t, "serves-"+scheme, sabir.Serve(orders(nil)), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{scheme + "://" + served: {mapping()}}}))
		way := brokers.NewForwarder(t, served)
		consumer := run(t, "Consumer", scheme+"://"+asJava(way.Addr())+"/com.shop.OrderService", "idle")
		pings["of a Java consumer by "+scheme] = onlyOver(t, way, func() string { return consumer.ask(t, "ping") })

		_, port, _ := net.SplitHostPort(called)
		run(t, "Provider", port, scheme).until("ready")
		way = brokers.NewForwarder(t, called)
		node := startAs(t, "calls-"+scheme, dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{scheme + "://" + way.Addr(): {typed()}}}))
		pings["to a Java provider by "+scheme] = onlyOver(t, way, func() string {
			answer, err := sabir.Bind[sabir.Empty, string](node, "orders.ping")(t.Context(), sabir.Empty{})
			if err != nil {
				t.Error(err)
			}
			return answer
		})
	}
	<-time.After(idleTime)
	for name, ping := range pings {
		if got := ping(); got != "pong" {
			t.Errorf("the connection %s after %v: %q", name, idleTime, got)
		}
	}
}

// onlyOver pings, and returns what pings again over the connection that is there then: another would lead nowhere.
func onlyOver(t *testing.T, way *brokers.Forwarder, ping func() string) func() string {
	t.Helper()
	if got := ping(); got != "pong" {
		t.Fatalf("the first ping: %q", got)
	}
	way.Point(freeAddress(t))
	return ping
}
