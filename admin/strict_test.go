package admin_test

import (
	"crypto/tls"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/admin"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/httpstrict/stricttest"
)

func TestRequestsThatCanBeReadInTwoWaysAreRefused(t *testing.T) {
	node := start(t, admin.Serve(":0", admin.Metrics(metrics), admin.Profiler()))
	stricttest.AllAreRefused(t, node.AdminAddr())
}

func TestOverTLSTheSameHolds(t *testing.T) {
	other := httptest.NewTLSServer(nil)
	defer other.Close()
	node := start(t, admin.Serve(":0", admin.Metrics(metrics), gateway.TLS(&tls.Config{Certificates: other.TLS.Certificates, NextProtos: []string{"h2"}})))
	client := other.Client()
	defer client.CloseIdleConnections()
	answer, err := client.Get("https://" + node.AdminAddr() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 200 || answer.ProtoMajor != 1 {
		t.Errorf("answered %s by %s", answer.Status, answer.Proto)
	}
	c, err := tls.Dial("tcp", node.AdminAddr(), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, stricttest.Heads["a folded header"])
	if text, _ := io.ReadAll(c); !strings.HasPrefix(string(text), "HTTP/1.1 400 ") {
		t.Errorf("a folded header is answered with %q", text)
	}
	if statuses, text := stricttest.Talk(t, node.AdminAddr(), "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"); len(statuses) != 1 || statuses[0] != 400 || text != "this port speaks HTTPS: the request was HTTP" {
		t.Errorf("plain HTTP is answered with %d and %q", statuses, text)
	}
}
