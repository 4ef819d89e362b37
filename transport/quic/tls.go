package quic

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"time"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// protocol is the name that both sides must offer in the TLS handshake (RFC 7301), so that no other service is taken for a node.
const protocol = "sabir"

func serverTLS(at *url.URL, config transport.Config) (*tls.Config, error) {
	given := config.TLS
	if given == nil {
		certificate, err := ownCertificate()
		if err != nil {
			return nil, fmt.Errorf("the address %q: a certificate for this run: %w", at.Redacted(), err)
		}
		given = &tls.Config{Certificates: []tls.Certificate{certificate}, SessionTicketsDisabled: true}
	}
	server, err := transports.ServerTLS(given)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w", at.Redacted(), err)
	}
	server.NextProtos = []string{protocol}
	if perClient := server.GetConfigForClient; perClient != nil {
		server.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			chosen, err := perClient(hello)
			if err != nil || chosen == nil {
				return nil, err
			}
			chosen = chosen.Clone()
			chosen.NextProtos = []string{protocol}
			return chosen, nil
		}
	}
	return server, nil
}

func clientTLS(to *url.URL, ip net.IP, config transport.Config) (*tls.Config, error) {
	given := config.TLS
	if given == nil && (config.Keyed || ip.IsLoopback()) {
		given = &tls.Config{InsecureSkipVerify: true} // see the package's comment
	}
	host := to.Hostname()
	if host == "" {
		host = ip.String()
	}
	client, err := transports.ClientTLS(given, host)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w", to.Redacted(), err)
	}
	client.NextProtos = []string{protocol}
	return client, nil
}

// ownCertificate proves nothing; TLS has no handshake without one.
func ownCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "sabir, made for one run"},
		NotBefore:    time.Now().Add(-24 * time.Hour),
		NotAfter:     time.Now().AddDate(20, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
