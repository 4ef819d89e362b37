package integration

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
)

// The server speaks no Redis, so no node starts. What counts is whether its certificate was accepted.
func TestChannelsTLSSaysWhichAuthoritiesTheBrokerMayHave(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	address := strings.Replace(server.URL, "https", "rediss", 1)
	for name, test := range map[string]struct {
		broker  sabir.NodeOption
		refused bool
	}{
		"without it": {channel.Broker(address), true},
		"with it":    {channel.Broker(address, &tls.Config{RootCAs: pool}), false},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err := sabir.NewNode(sabir.Logger(quiet), test.broker).Start(ctx)
		cancel()
		if err == nil || strings.Contains(err.Error(), "certificate") != test.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
