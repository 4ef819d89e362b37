package transports

import (
	"crypto/tls"
	"errors"
	"fmt"
)

// ServerTLS returns a copy of config for listening, with TLS 1.3 as the lowest version, for drivers that encrypt. It returns an
// error where config has no certificate.
func ServerTLS(config *tls.Config) (*tls.Config, error) {
	if config == nil || len(config.Certificates) == 0 && config.GetCertificate == nil && config.GetConfigForClient == nil {
		return nil, errors.New("listening with TLS needs a certificate: set Config.TLS, for example with tcp.Certificates(certFile, keyFile, caFile)")
	}
	if config.MaxVersion != 0 && config.MaxVersion < tls.VersionTLS13 {
		return nil, errOldTLS(config)
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
