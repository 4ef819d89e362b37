package mqtt

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"

	"github.com/sabir-go/sabir/transport/transporttest"
)

// clientTLS trusts the authority of the files and shows their certificate.
func clientTLS(t *testing.T, files transporttest.Files) *tls.Config {
	t.Helper()
	certificate, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(files.CA)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		t.Fatalf("no certificate in %s", files.CA)
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, RootCAs: roots}
}
