package web

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/exchange"
)

// clients answers each request with the header X-Client, the address that a filter takes for the client's.
var clients = With(Config{Filters: Filters{exchange.Filter{Name: "clients", Before: func(x *exchange.Exchange) error {
	x.Answer.Set("X-Client", x.Client().String())
	return nil
}}}})

func TestTrustedProxiesAreNamedOnceForAllFilters(t *testing.T) {
	node := start(t, sabir.Serve(shop()), sabir.HTTP("127.0.0.1:0", clients, With(Config{TrustProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})))
	a := ask(t, http.MethodPost, "http://"+node.HTTPAddr()+"/users/get", `{"id":"u-1"}`, "X-Forwarded-For: 198.51.100.7")
	if got := a.header.Get("X-Client"); got != "198.51.100.7" {
		t.Errorf("the client is %s, want the one that the proxy names", got)
	}
}

func TestTheLogWarnsOnceOfAProxyThatIsNotNamed(t *testing.T) {
	log := new(logBuffer)
	node := start(t, sabir.Serve(shop()), sabir.HTTP("127.0.0.1:0", clients), logTo(log))
	for range 3 {
		a := ask(t, http.MethodPost, "http://"+node.HTTPAddr()+"/users/get", `{"id":"u-1"}`, "X-Forwarded-For: 198.51.100.7")
		if got := a.header.Get("X-Client"); got != "127.0.0.1" {
			t.Errorf("the client is %s, want the connection's address", got)
		}
	}
	if n := strings.Count(log.String(), "TrustProxies of web.Config"); n != 1 {
		t.Errorf("%d warnings, want 1:\n%s", n, log)
	}
}
