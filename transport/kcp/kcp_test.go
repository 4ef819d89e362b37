package kcp_test

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/transport"
)

func TestATLSConfigurationIsRefused(t *testing.T) {
	config := transport.Config{TLS: &tls.Config{}}
	_, listenErr := transport.Listen(t.Context(), "kcp://:0", config)
	_, dialErr := transport.Dial(t.Context(), "kcp://:7700", config)
	for _, err := range []error{listenErr, dialErr} {
		if err == nil || !strings.Contains(err.Error(), "use quic://") {
			t.Errorf("got %v", err)
		}
	}
}
