package auth

import (
	"crypto/x509"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/web/exchange"
)

type certificate struct {
	settings
	who func(*x509.Certificate) (*Principal, error)
}

// Certificate authenticates by the certificate that the client showed in the TLS handshake, if it was verified: the server's
// tls.Config demands or asks for one and has ClientCAs. The function returns the principal, nil, nil if it is unknown; without
// it the subject is the first URI (as SPIFFE has it), else the first DNS name, else the common name.
func Certificate(who func(*x509.Certificate) (*Principal, error)) Authenticator {
	if who == nil {
		who = named
	}
	return &certificate{settings{name: "Certificate"}, who}
}

func (c *certificate) Name() string       { return "certificate" }
func (c *certificate) Scheme() api.Scheme { return api.Scheme{Type: "mutualTLS"} }

func (c *certificate) Authenticate(x *exchange.Exchange) (*Principal, error) {
	if x.TLS == nil || len(x.TLS.VerifiedChains) == 0 || len(x.TLS.VerifiedChains[0]) == 0 {
		return nil, nil // none, or one that was not verified
	}
	chain := x.TLS.VerifiedChains[0]
	p, err := c.who(chain[0])
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
