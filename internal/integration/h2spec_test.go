package integration

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/summerwind/h2spec/config"
	"github.com/summerwind/h2spec/generic"
	"github.com/summerwind/h2spec/hpack"
	"github.com/summerwind/h2spec/http2"
	"github.com/summerwind/h2spec/spec"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/brokers"
	_ "github.com/sabir-go/sabir/web"
)

// h2failures runs h2spec's cases for servers against the address: those of the sections, or without any all. It returns how many ran, and the sections
// of those that failed.
func h2failures(address, path string, sections ...string) (cases int, failed []string) {
	at := netip.MustParseAddrPort(address)
	c := &config.Config{Host: at.Addr().String(), Port: int(at.Port()), Path: path, Timeout: 2 * time.Second, MaxHeaderLen: 4000, Strict: true, TLS: true, Insecure: true,
		Sections: sections}
	var walk func(g *spec.TestGroup)
	walk = func(g *spec.TestGroup) {
		for i, one := range g.Tests {
			if one.Result == nil {
				continue
			}
			cases++
			if one.Result.Failed {
				failed = append(failed, fmt.Sprintf("%s/%d", g.ID(), i+1))
			}
		}
		for _, inner := range g.Groups {
			walk(inner)
		}
	}
	for _, g := range []*spec.TestGroup{generic.Spec(), http2.Spec(), hpack.Spec()} {
		g.Test(c)
		walk(g)
	}
	return cases, failed
}

// HTTP/2 is net/http's, and so are its departures from the RFC: what fails here fails there.
func TestHTTP2FailsNoCaseThatNetHTTPDoesNot(t *testing.T) {
	brokers.Slow(t)
	plain := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, "hello")
	}))
	plain.EnableHTTP2 = true
	plain.Config.ErrorLog = log.New(io.Discard, "", 0)
	plain.StartTLS()
	t.Cleanup(plain.Close)
	// It reads the request's body as the other handler does: whether what is wrong with a body is seen depends on that.
	service := sabir.NewService("h2")
	sabir.Handle(service, "hello", func(context.Context, struct{}) (string, error) { return "hello", nil }, sabir.Idempotent())
	node := startAllowed(t, sabir.NewNode(sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(service),
		sabir.HTTP("127.0.0.1:0", gateway.TLS(&tls.Config{Certificates: plain.TLS.Certificates}))))

	count, failed := h2failures(node.HTTPAddr(), "/h2/hello")
	if count != 146 {
		t.Fatalf("h2spec ran %d cases, want 146", count)
	}
	t.Logf("of 146 cases %d fail: %q", len(failed), failed)
	for _, section := range failed {
		if _, there := h2failures(plain.Listener.Addr().String(), "/", section); len(there) > 0 {
			continue
		}
		// h2spec gives an answer two seconds: again, lest it be the machine that was slow.
		if _, again := h2failures(node.HTTPAddr(), "/h2/hello", section); len(again) > 0 {
			t.Errorf("%s fails, and does not with net/http alone", section)
		}
	}
}
