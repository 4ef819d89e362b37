package dubbo

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/sabir-go/sabir/internal/deadconn"
)

// paramTLS says of a provider in a registry that it speaks TLS.
const paramTLS = "ssl-enabled"

// provesCallers reports whether who calls has shown a certificate.
func (c *config) provesCallers() bool {
	return c.TLS != nil && c.TLS.ClientAuth == tls.RequireAndVerifyClientCert
}

// checkTLS reports whether the bridge can listen with its certificates.
func (c *config) checkTLS() error {
	if c.TLS != nil && len(c.serve) > 0 && len(c.TLS.Certificates) == 0 && c.TLS.GetCertificate == nil && c.TLS.GetConfigForClient == nil {
		return errors.New("TLS: to listen it needs a certificate: Certificates or GetCertificate of the tls.Config")
	}
	return nil
}

// offeredProtocols are the names of HTTP's versions for TLS, which Java's consumers offer for dubbo:// too.
var offeredProtocols = []string{"h2", "http/1.1"}

// withProtocols is a copy of a configuration, and of those that it gives by the client, which takes them.
func withProtocols(config *tls.Config) *tls.Config {
	config = config.Clone()
	config.NextProtos = slices.Clone(offeredProtocols)
	if byClient := config.GetConfigForClient; byClient != nil {
		config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			chosen, err := byClient(hello)
			if chosen != nil {
				chosen = chosen.Clone()
				chosen.NextProtos = slices.Clone(offeredProtocols)
			}
			return chosen, err
		}
	}
	return config
}

// secured is a connection that came in, with TLS if the bridge has it.
func (b *bridge) secured(c net.Conn) net.Conn {
	if b.serverTLS == nil {
		return c
	}
	return tls.Server(c, b.serverTLS)
}

// handshake does the handshake of a connection with TLS.
func handshake(ctx context.Context, c net.Conn) error {
	over, is := c.(*tls.Conn)
	if !is {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, firstLimit)
	defer cancel()
	return over.HandshakeContext(ctx)
}

// dial connects to a provider.
func (b *bridge) dial(ctx context.Context, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Control: deadconn.Control}).DialContext(ctx, "tcp", address)
	if err != nil || b.TLS == nil {
		return c, err
	}
	with := b.TLS.Clone()
	with.NextProtos = slices.Clone(offeredProtocols)
	if with.ServerName == "" {
		with.ServerName, _, _ = net.SplitHostPort(address)
	}
	over := tls.Client(c, with)
	ctx, cancel := context.WithDeadline(ctx, time.Now().Add(dialLimit))
	defer cancel()
	if err := over.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("TLS with %s: %w", address, err)
	}
	return over, nil
}
