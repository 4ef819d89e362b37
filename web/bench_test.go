package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

var helloJSON = []byte(`{"name":"Ada","age":36}`)

// BenchmarkHTTPCall is one caller on one connection over loopback.
func BenchmarkHTTPCall(b *testing.B) {
	node, _ := startShop(b)
	client := dialNode(b, node, ClientConfig{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Call(b.Context(), "shop.hello", helloJSON); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHTTPCallParallel is 16 callers per core.
func BenchmarkHTTPCallParallel(b *testing.B) {
	node, _ := startShop(b)
	client := dialNode(b, node, ClientConfig{})
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := client.Call(b.Context(), "shop.hello", helloJSON); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkHTTPCallVia is a typed call of a node that sends it to another.
func BenchmarkHTTPCallVia(b *testing.B) {
	other, _ := startShop(b)
	node := start(b, sabir.WithUpstream(dialNode(b, other, ClientConfig{})))
	hello := sabir.Bind[helloRequest, helloReply](node, "shop.hello")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := hello(b.Context(), helloRequest{"Ada", 36}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHandler is the server alone, without net/http's connections.
func BenchmarkHandler(b *testing.B) {
	benchmarkHandler(b, "/shop/hello", `{"name":"Ada","age":36}`, http.StatusOK)
}

// BenchmarkHandlerInvalid is an input that breaks a rule.
func BenchmarkHandlerInvalid(b *testing.B) {
	benchmarkHandler(b, "/shop/hello", `{"name":"Ada","age":200}`, http.StatusUnprocessableEntity)
}

// BenchmarkHandlerUnknown is an address without a route.
func BenchmarkHandlerUnknown(b *testing.B) {
	benchmarkHandler(b, "/shop/helo", `{}`, http.StatusNotFound)
}

func benchmarkHandler(b *testing.B, path, body string, status int) {
	node, _ := startShop(b)
	h, err := Handler(node)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.NewReader(body)
	r := httptest.NewRequest(http.MethodPost, path, text)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Request-Id", "r1")
	w := discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		text.Reset(body)
		h.ServeHTTP(&w, r)
	}
	if w.status != status {
		b.Fatal(w.status)
	}
}

// BenchmarkNetHTTP is the floor: net/http with a handler that does nothing, and the same client.
func BenchmarkNetHTTP(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		w.Write(helloJSON)
	}))
	defer server.Close()
	client, err := Dial(server.URL, ClientConfig{})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Call(b.Context(), "shop.hello", helloJSON); err != nil {
			b.Fatal(err)
		}
	}
}

// discard is a response writer that keeps only the status.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
