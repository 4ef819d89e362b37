package auth

import (
	"crypto/x509"

	"github.com/sabir-go/sabir/web/exchange"
)

// Certificate authenticates by the certificate that the client showed in the TLS handshake, if it was verified: the server's
// tls.Config demands or asks for one and has ClientCAs. The zero value is ready for use.
type Certificate struct {
	// Who returns the principal; nil, nil if it is unknown. Default: its subject is the first URI (as SPIFFE has it), else the first DNS
	// name, else the common name.
	Who func(*x509.Certificate) (*Principal, error)
}

// Name is "certificate".
func (c *Certificate) Name() string { return "certificate" }

// Scheme is the handshake.
func (c *Certificate) Scheme() exchange.Scheme { return exchange.Scheme{Type: "mutualTLS"} }

// Authenticate reads the certificate that was verified.
func (c *Certificate) Authenticate(x *exchange.Exchange) (*Principal, error) {
	if x.TLS == nil || len(x.TLS.VerifiedChains) == 0 || len(x.TLS.VerifiedChains[0]) == 0 {
		return nil, nil // none, or one that was not verified
	}
	chain := x.TLS.VerifiedChains[0]
	who := c.Who
	if who == nil {
		who = named
	}
	p, err := who(chain[0])
	if err != nil || p == nil {
		if err == nil {
			err = badCredentials("the certificate names nobody who is known here")
		}
		return nil, err
	}
	own := *p
	for _, one := range chain { // a connection may outlive what was verified when it was made
		if own.Expires.IsZero() || one.NotAfter.Before(own.Expires) {
			own.Expires = one.NotAfter
		}
	}
	return &own, nil
}

func named(c *x509.Certificate) (*Principal, error) {
	switch {
	case len(c.URIs) > 0:
		return &Principal{Subject: c.URIs[0].String()}, nil
	case len(c.DNSNames) > 0:
		return &Principal{Subject: c.DNSNames[0]}, nil
	case c.Subject.CommonName != "":
		return &Principal{Subject: c.Subject.CommonName}, nil
	}
	return nil, nil
}
