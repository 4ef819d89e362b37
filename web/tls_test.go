package web

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
)

// shown is the serial number of the certificate that the node shows. It is read, not verified.
func shown(t *testing.T, node *sabir.Node) string {
	t.Helper()
	c, err := tls.Dial("tcp", node.HTTPAddr(), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

func TestACertificateIsReplacedWhileTheNodeRuns(t *testing.T) {
	authority, first, second := certificates(t) // of the second, a client's, only the number matters
	var current atomic.Pointer[tls.Certificate]
	current.Store(&first)
	node := start(t, sabir.Serve(shop()), sabir.HTTP(":0", gateway.TLS(&tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return current.Load(), nil }})))
	client, err := Dial("https://"+node.HTTPAddr(), ClientConfig{TLS: &tls.Config{RootCAs: authority}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Call(t.Context(), "shop.hello", []byte(`{"name":"Ada"}`)); err != nil {
		t.Fatal(err)
	}
	if serial := shown(t, node); serial != "2" {
		t.Errorf("at first the certificate %s is shown", serial)
	}
	current.Store(&second)
	if serial := shown(t, node); serial != "3" {
		t.Errorf("after the change the certificate %s is shown", serial)
	}
	if _, err := client.Call(t.Context(), "shop.hello", []byte(`{"name":"Ada"}`)); err != nil {
		t.Errorf("on a connection from before the change: %v", err)
	}
}

// The lines of docs/http-server.md that reload a certificate from its files.
func TestACertificateIsReloadedFromItsFiles(t *testing.T) {
	_, first, second := certificates(t)
	certFile, keyFile := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	writeCertificate(t, first, certFile, keyFile)

	var current atomic.Pointer[tls.Certificate]
	reload := func() error {
		c, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err == nil {
			current.Store(&c)
		}
		return err
	}
	if err := reload(); err != nil {
		t.Fatal(err)
	}
	node := start(t, sabir.HTTP(":0", gateway.TLS(&tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return current.Load(), nil }})))
	if err := os.WriteFile(certFile, []byte("half a cert"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := reload(); err == nil {
		t.Error("a broken file was taken")
	}
	if serial := shown(t, node); serial != "2" {
		t.Errorf("with a broken file the certificate %s is shown", serial)
	}
	writeCertificate(t, second, certFile, keyFile)
	if err := reload(); err != nil {
		t.Fatal(err)
	}
	if serial := shown(t, node); serial != "3" {
		t.Errorf("after the reload the certificate %s is shown", serial)
	}
}

func writeCertificate(t *testing.T, c tls.Certificate, certFile, keyFile string) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: c.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
