package main

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"time"
)

// bothEnds is TLS 1.3 for a client and a server of the lab, in which each shows a certificate. Key and certificate come out the same in every
// process, so that no file has to be shared; they protect nothing.
func bothEnds() *tls.Config {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lab"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<32, 0), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		panic(err) // the template is a constant
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(certificate)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key, Leaf: certificate}},
		RootCAs:      trusted, ClientCAs: trusted, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13, ServerName: "localhost",
	}
}
