package transports_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

func TestTLSNeedsACertificateToListen(t *testing.T) {
	for _, config := range []*tls.Config{nil, {}} {
		if _, err := transports.ServerTLS(config); err == nil || !strings.Contains(err.Error(), "tcp.Certificates") {
			t.Errorf("got %v", err)
		}
	}
}

func TestACertificateThatOtherNodesWouldRefuseIsAnErrorThatNamesTheUsage(t *testing.T) {
	const server, client = x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		usages []x509.ExtKeyUsage
		asked  tls.ClientAuthType
		want   string // of the error; "" for none
	}{
		{[]x509.ExtKeyUsage{server, client}, tls.RequireAndVerifyClientCert, ""},
		{nil, tls.RequireAndVerifyClientCert, ""},
		{[]x509.ExtKeyUsage{x509.ExtKeyUsageAny}, tls.RequireAndVerifyClientCert, ""},
		{[]x509.ExtKeyUsage{server}, tls.NoClientCert, ""},
		{[]x509.ExtKeyUsage{server}, tls.RequireAndVerifyClientCert, "the usage clientAuth,"},
		{[]x509.ExtKeyUsage{client}, tls.RequireAndVerifyClientCert, "the usage serverAuth,"},
		{[]x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection}, tls.VerifyClientCertIfGiven, "the usage serverAuth and clientAuth,"},
	} {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "orders-1"}, ExtKeyUsage: test.usages}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		_, err = transports.ServerTLS(&tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, ClientAuth: test.asked})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "CN=orders-1")) {
			t.Errorf("usages %v, client certificates %v: %v", test.usages, test.asked, err)
		}
	}
}

func TestTLS13IsTheLowestVersion(t *testing.T) {
	perClient := func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{MinVersion: tls.VersionTLS10}, nil
	}
	given := &tls.Config{Certificates: make([]tls.Certificate, 1), MinVersion: tls.VersionTLS10, GetConfigForClient: perClient}
	server, err := transports.ServerTLS(given)
	if err != nil || server.MinVersion != tls.VersionTLS13 {
		t.Errorf("server: %v, %v", server, err)
	}
	if chosen, err := server.GetConfigForClient(nil); err != nil || chosen.MinVersion != tls.VersionTLS13 {
		t.Errorf("the server's choice for a client: %v, %v", chosen, err)
	}
	client, err := transports.ClientTLS(given, "host")
	if err != nil || client.MinVersion != tls.VersionTLS13 {
		t.Errorf("client: %v, %v", client, err)
	}
	if given.MinVersion != tls.VersionTLS10 || given.ServerName != "" {
		t.Error("the configuration that was given has changed")
	}

	given.MaxVersion = tls.VersionTLS12
	if _, err := transports.ServerTLS(given); err == nil || !strings.Contains(err.Error(), "TLS 1.2") {
		t.Errorf("server with TLS 1.2 at most: %v", err)
	}
	if _, err := transports.ClientTLS(given, "host"); err == nil || !strings.Contains(err.Error(), "TLS 1.2") {
		t.Errorf("client with TLS 1.2 at most: %v", err)
	}
}

func TestTheServersNameIsTheDialledOneUnlessSet(t *testing.T) {
	var verified string
	given := &tls.Config{VerifyConnection: func(state tls.ConnectionState) error {
		verified = state.ServerName
		return nil
	}}
	for _, test := range []struct{ set, dialled, want string }{
		{"", "shop.example.com", "shop.example.com"},
		{"", "192.0.2.1", "192.0.2.1"},
		{"shop", "192.0.2.1", "shop"},
	} {
		given.ServerName = test.set
		client, err := transports.ClientTLS(given, test.dialled)
		if err != nil {
			t.Fatal(err)
		}
		client.VerifyConnection(tls.ConnectionState{}) // as crypto/tls calls it for an IP address
		if client.ServerName != test.want || verified != test.want {
			t.Errorf("%+v: the name is %q, and %q for the verification", test, client.ServerName, verified)
		}
	}
	if client, err := transports.ClientTLS(nil, "host"); err != nil || client.ServerName != "host" {
		t.Errorf("without a configuration: %v, %v", client, err)
	}
}

func TestWithATLSConfigurationNothingIsSentInTheClear(t *testing.T) {
	at := parse(t, "kcp://ann:secret@shop.example.com:7700")
	if err := (transport.Config{}).CheckPlain(at, "quic"); err != nil {
		t.Errorf("without a TLS configuration it gave %v", err)
	}
	err := transport.Config{TLS: &tls.Config{}}.CheckPlain(at, "quic", "tls")
	if err == nil || !strings.Contains(err.Error(), "use quic://shop.example.com:7700 or tls://shop.example.com:7700") || strings.Contains(err.Error(), "secret") {
		t.Errorf("with one it gave %v", err)
	}
}
