package dashboard_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/telemetry"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/dashboard"
)

const faceKey = "correct-horse-battery"

// get asks a node's server; headers are "Name: value".
func get(tb testing.TB, n *sabir.Node, path string, headers ...string) (int, http.Header, string) {
	tb.Helper()
	r, err := http.NewRequest("GET", "http://"+n.HTTPAddr()+path, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(body)
}

func start(tb testing.TB, options ...sabir.NodeOption) *sabir.Node {
	tb.Helper()
	n := sabir.NewNode(append(options, sabir.Logger(slog.New(slog.DiscardHandler)))...)
	if err := n.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = n.Stop(context.Background()) })
	return n
}

func TestOnlyTheLoginPageIsReachedWithoutTheGatewaysKey(t *testing.T) {
	n := start(t, sabir.HTTP(":0", gateway.Key(faceKey), dashboard.At("/dashboard")))
	if status, _, page := get(t, n, "/dashboard/login"); status != 200 || !strings.Contains(page, "Log in") {
		t.Errorf("%d %s", status, page)
	}
	if status, header, _ := get(t, n, "/dashboard/"); status != http.StatusSeeOther || header.Get("Location") != "/dashboard/login" {
		t.Errorf("%d %v", status, header)
	}
	for _, path := range []string{"/dashboard/api/traces", "/dashboard/api/stream", "/$node/info", "/dashboards"} {
		if status, _, _ := get(t, n, path); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, status)
		}
	}
	if status, _, body := get(t, n, "/dashboard/api/traces", "Authorization: Bearer "+faceKey); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

func TestTheKeyOfTheDashboardIsNotTheGateways(t *testing.T) {
	n := start(t, sabir.HTTP(":0", gateway.Key(faceKey), dashboard.At("/dashboard", dashboard.Config{Key: secret.New("another-key-entirely")})))
	for key, want := range map[string]int{"another-key-entirely": 200, faceKey: 401} {
		if status, _, _ := get(t, n, "/dashboard/api/traces", "Authorization: Bearer "+key); status != want {
			t.Errorf("%s: %d", key, status)
		}
	}
	if status, _, _ := get(t, n, "/", "Authorization: Bearer another-key-entirely"); status != 401 {
		t.Errorf("the gateway takes the dashboard's key: %d", status)
	}
}

func TestWrongKeysAreThoseOfTheClientBehindATrustedProxy(t *testing.T) {
	n := start(t, sabir.HTTP(":0", gateway.Key(faceKey), dashboard.At("/dashboard"), web.With(web.Config{TrustProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}})))
	status := 0
	for tries := 0; status != http.StatusTooManyRequests && tries < 100; tries++ {
		status, _, _ = get(t, n, "/dashboard/api/traces", "Authorization: Bearer wrong", "X-Forwarded-For: 203.0.113.1")
	}
	for client, want := range map[string]int{"203.0.113.1": http.StatusTooManyRequests, "203.0.113.2": http.StatusOK} {
		if status, _, _ := get(t, n, "/dashboard/api/traces", "Authorization: Bearer "+faceKey, "X-Forwarded-For: "+client); status != want {
			t.Errorf("%s: %d, want %d", client, status, want)
		}
	}
}

func TestAnOpenDashboardIsForThisMachinesNamesOnly(t *testing.T) {
	n := start(t, sabir.HTTP(":0", dashboard.At("/dashboard")))
	for host, want := range map[string]int{n.HTTPAddr(): 200, "localhost": 200, "evil.example": 403, "127.0.0.1.evil.example": 403} {
		for _, path := range []string{"/dashboard/", "/dashboard/api/traces"} {
			if status, _, _ := get(t, n, path, "Host: "+host); status != want {
				t.Errorf("%s as %s: %d, want %d", path, host, status, want)
			}
		}
	}
}

// A server that authenticates callers answers to any name, so that a proxy on its machine can pass on requests from anywhere.
func TestADashboardBesideAuthenticationNeedsAKeyOnThisMachineToo(t *testing.T) {
	keys := web.With(web.Config{Auth: []auth.Authenticator{&auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada"}}}}})
	n := sabir.NewNode(sabir.Logger(slog.New(slog.DiscardHandler)), sabir.HTTP(":0", keys, dashboard.At("/dashboard")))
	if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "Key in dashboard.Config") {
		t.Errorf("an open dashboard: %v", err)
	}
	n = start(t, sabir.HTTP(":0", keys, dashboard.At("/dashboard", dashboard.Config{Key: secret.New("another-key-entirely")})))
	if status, _, _ := get(t, n, "/dashboard/api/traces", "Host: shop.example.com"); status != 401 {
		t.Errorf("one with a key: %d", status)
	}
}

func TestThereIsNoDashboardUnlessAskedFor(t *testing.T) {
	n := start(t, sabir.HTTP(":0"))
	if status, _, _ := get(t, n, "/dashboard/"); status != 404 {
		t.Errorf("%d", status)
	}
}

func TestAWrongPathKeepsTheNodeFromStarting(t *testing.T) {
	n := sabir.NewNode(sabir.Logger(slog.New(slog.DiscardHandler)), sabir.HTTP(":0", dashboard.At("/a b")))
	if err := n.Start(t.Context()); err == nil {
		_ = n.Stop(context.Background())
		t.Error("it started")
	}
}

// A node that shows itself: what its actions do, and its last traces.
func Example() {
	ring := dashboard.Traces(4096)
	tel, err := telemetry.New(telemetry.Config{Metrics: true, Traces: ring})
	if err != nil {
		panic(err)
	}
	node := sabir.NewNode(sabir.Logger(slog.New(slog.DiscardHandler)),
		sabir.Serve(tel.Stats(), ring.Service()), sabir.Use(tel.Middleware()),
		sabir.HTTP(":0", dashboard.At("/dashboard")))
	if err := node.Start(context.Background()); err != nil {
		panic(err)
	}
	defer node.Stop(context.Background())
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(newRequest("http://" + node.HTTPAddr() + "/dashboard/"))
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status, answer.Header.Get("Content-Type"))
	// Output: 200 OK text/html; charset=utf-8
}

func newRequest(url string) *http.Request {
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		panic(err)
	}
	return r
}
