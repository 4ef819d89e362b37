package transports

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ServerTLS returns a copy of config for listening, with TLS 1.3 as the lowest version, for drivers that encrypt. It returns an
// error where config has no certificate, or has one that is of no use to a node, see [checkUsages].
func ServerTLS(config *tls.Config) (*tls.Config, error) {
	if config == nil || len(config.Certificates) == 0 && config.GetCertificate == nil && config.GetConfigForClient == nil {
		return nil, errors.New("listening with TLS needs a certificate: set Config.TLS, for example with tcp.Certificates(certFile, keyFile, caFile)")
	}
	if config.MaxVersion != 0 && config.MaxVersion < tls.VersionTLS13 {
		return nil, errOldTLS(config)
	}
	if err := checkUsages(config); err != nil {
		return nil, err
	}
	config = config.Clone()
	config.MinVersion = tls.VersionTLS13
	if perClient := config.GetConfigForClient; perClient != nil {
		config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			chosen, err := perClient(hello)
			if err != nil || chosen == nil || chosen.MinVersion >= tls.VersionTLS13 {
				return chosen, err
			}
			chosen = chosen.Clone()
			chosen.MinVersion = tls.VersionTLS13
			return chosen, nil
		}
	}
	return config, nil
}

// checkUsages returns an error where the certificate is not for what a node does with it: it shows it to nodes that dial it, and to those that it
// dials where these ask for one, as it does itself. Others would refuse it one connection after the other, and only their logs say why.
func checkUsages(config *tls.Config) error {
	if len(config.Certificates) != 1 || len(config.Certificates[0].Certificate) == 0 { // of several, each may be for another use
		return nil
	}
	leaf, err := x509.ParseCertificate(config.Certificates[0].Certificate[0])
	if err != nil {
		return fmt.Errorf("the TLS certificate cannot be read: %w", err)
	}
	var missing []string
	if !usable(leaf, x509.ExtKeyUsageServerAuth) {
		missing = append(missing, "serverAuth")
	}
	if config.ClientAuth != tls.NoClientCert && !usable(leaf, x509.ExtKeyUsageClientAuth) {
		missing = append(missing, "clientAuth")
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("the TLS certificate of %q does not allow the usage %s, so other nodes would refuse it: nodes dial each other, so give it extendedKeyUsage = serverAuth, clientAuth",
		leaf.Subject, strings.Join(missing, " and "))
}

// usable reports whether a certificate may be used in a way. One that names no usages is for all.
func usable(c *x509.Certificate, usage x509.ExtKeyUsage) bool {
	return len(c.ExtKeyUsage)+len(c.UnknownExtKeyUsage) == 0 || slices.Contains(c.ExtKeyUsage, usage) || slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageAny)
}

// ClientTLS returns a copy of config, which may be nil, for dialling host, with TLS 1.3 as the lowest version, for drivers
// that encrypt. The server must have a certificate for config.ServerName or, where that is empty, for host.
//
// A VerifyConnection of config gets that name even where it is an IP address, which Go's TLS leaves out.
func ClientTLS(config *tls.Config, host string) (*tls.Config, error) {
	if config == nil {
		config = &tls.Config{}
	}
	if config.MaxVersion != 0 && config.MaxVersion < tls.VersionTLS13 {
		return nil, errOldTLS(config)
	}
	config = config.Clone()
	config.MinVersion = tls.VersionTLS13
	if config.ServerName == "" {
		config.ServerName = host
	}
	if verify := config.VerifyConnection; verify != nil {
		name := config.ServerName
		config.VerifyConnection = func(state tls.ConnectionState) error {
			state.ServerName = name
			return verify(state)
		}
	}
	return config, nil
}

func errOldTLS(config *tls.Config) error {
	return fmt.Errorf("the TLS configuration allows %s at most: links need TLS 1.3, so leave MaxVersion unset", tls.VersionName(config.MaxVersion))
}
