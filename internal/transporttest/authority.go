package transporttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority is a certificate authority for tests.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	above       *Authority // nil for a root
}

// NewAuthority makes an authority with a key of its own, which ends in an hour.
func NewAuthority(t testing.TB, name string) *Authority {
	t.Helper()
	return NewAuthorityFor(t, name, time.Hour)
}

// NewAuthorityFor is NewAuthority for one that ends when the duration is over.
func NewAuthorityFor(t testing.TB, name string, ends time.Duration) *Authority {
	t.Helper()
	return newAuthority(t, nil, name, ends)
}

// Below makes an authority that this one answers for.
func (a *Authority) Below(t testing.TB, name string, ends time.Duration) *Authority {
	t.Helper()
	return newAuthority(t, a, name, ends)
}

func newAuthority(t testing.TB, above *Authority, name string, ends time.Duration) *Authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber:          newSerial(t),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(ends),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	parent, signer := template, key
	if above != nil {
		parent, signer = above.certificate, above.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &Authority{certificate, key, above}
}

// Files are the paths of a certificate, its key and the authority's certificate, all in PEM form.
type Files struct{ Cert, Key, CA string }

// Client is a configuration that trusts the authority and shows the certificate.
func (f Files) Client(t testing.TB) *tls.Config {
	t.Helper()
	certificate, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(f.CA)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		t.Fatalf("no certificate in %s", f.CA)
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, RootCAs: roots}
}

// Issue writes a certificate for a server and client of the names, which may be IP addresses, into a directory, in place
// of what Issue wrote there before. Each file is replaced by a rename, the certificate's last.
func (a *Authority) Issue(t testing.TB, dir string, names ...string) Files {
	t.Helper()
	return a.IssueFor(t, dir, time.Hour, names...)
}

// IssueFor is Issue for a certificate that ends when the duration is over. Its file has those of the authorities between it and the root too.
func (a *Authority) IssueFor(t testing.TB, dir string, ends time.Duration, names ...string) Files {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: newSerial(t),
		Subject:      pkix.Name{CommonName: names[0]},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(ends),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	files := Files{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "ca.pem")}
	chain, root := [][]byte{der}, a
	for ; root.above != nil; root = root.above {
		chain = append(chain, root.certificate.Raw)
	}
	replace(t, files.CA, "CERTIFICATE", root.certificate.Raw)
	replace(t, files.Key, "PRIVATE KEY", keyDER)
	replace(t, files.Cert, "CERTIFICATE", chain...)
	return files
}

func replace(t testing.TB, path, kind string, list ...[]byte) {
	t.Helper()
	var text []byte
	for _, der := range list {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})...)
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newSerial(t testing.TB) *big.Int {
	t.Helper()
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		t.Fatal(err)
	}
	return serial
}
