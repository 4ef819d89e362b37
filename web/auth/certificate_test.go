package auth_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"net/url"
	"testing"

	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

func showing(c *x509.Certificate, verified bool) *exchange.Exchange {
	x := request()
	x.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{c}}
	if verified {
		x.TLS.VerifiedChains = [][]*x509.Certificate{{c, {}}}
	}
	return x
}

func TestACertificateNamesItsOwner(t *testing.T) {
	named := x509.Certificate{Subject: pkix.Name{CommonName: "backup"}}
	dns, uri := named, named
	dns.DNSNames = []string{"backup.example.com", "other.example.com"}
	uri.DNSNames = dns.DNSNames
	uri.URIs = []*url.URL{must(url.Parse("spiffe://example.com/backup"))}
	for want, c := range map[string]*x509.Certificate{"backup": &named, "backup.example.com": &dns, "spiffe://example.com/backup": &uri} {
		if p := admitted(t, &auth.Certificate{}, showing(c, true)); p.Subject != want || p.Scheme != "certificate" || p.Roles != nil {
			t.Errorf("got %+v, want %s", p, want)
		}
		refused(t, &auth.Certificate{}, showing(c, false), auth.ErrNotSignedIn)
	}
	refused(t, &auth.Certificate{}, showing(&x509.Certificate{}, true), auth.ErrBadCredentials)
	refused(t, &auth.Certificate{}, request(), auth.ErrNotSignedIn)
}

func TestAFunctionSaysWhoseCertificateItIs(t *testing.T) {
	a := &auth.Certificate{Who: func(c *x509.Certificate) (*auth.Principal, error) {
		switch c.Subject.CommonName {
		case "backup":
			return &auth.Principal{Subject: "b", Roles: []string{"reader"}}, nil
		case "broken":
			return nil, errors.New("no table")
		}
		return nil, nil
	}}
	if p := admitted(t, a, showing(&x509.Certificate{Subject: pkix.Name{CommonName: "backup"}}, true)); p.Subject != "b" || !p.HasAny("reader") {
		t.Errorf("got %+v", p)
	}
	for _, name := range []string{"broken", "other"} {
		refused(t, a, showing(&x509.Certificate{Subject: pkix.Name{CommonName: name}}, true), auth.ErrBadCredentials)
	}
}
