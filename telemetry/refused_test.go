package telemetry_test

import (
	"context"
	"io"
	"net"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
	_ "github.com/sabir-go/sabir/web"
)

// The counters are there from the start, since an alert on one that appears with its first refusal misses that.
func TestWhatIsRefusedIsCountedAndStaysSoWhenItsNodeHasStopped(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	start(t, sabir.Use(tel.Middleware())) // so that the telemetry goes on
	node := start(t, sabir.HTTP("127.0.0.1:0"), sabir.Use(tel.Middleware()))
	scrape(t, tel).expect(t, "sabir_http_heads_refused_total", labels{}, 0)
	scrape(t, tel).expect(t, "sabir_links_forged_total", labels{}, 0)
	c, err := net.Dial("tcp", node.HTTPAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
	io.Copy(io.Discard, c)
	scrape(t, tel).expect(t, "sabir_http_heads_refused_total", labels{}, 1)
	if err := node.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	scrape(t, tel).expect(t, "sabir_http_heads_refused_total", labels{}, 1)
}
