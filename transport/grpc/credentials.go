package grpc

import (
	"context"
	"crypto/tls"
	"net"
	"slices"

	"google.golang.org/grpc/credentials"

	"github.com/sabir-go/sabir/internal/transports"
)

// below are the credentials of a connection that was made, and where wanted encrypted, before gRPC saw it. On the server's
// side they give handlers the socket a stream came by.
type below struct{ encrypted bool }

// socketInfo is the AuthInfo of a handler's peer. It carries the socket to the handler.
type socketInfo struct {
	credentials.CommonAuthInfo
	socket *transports.Socket
}

func (socketInfo) AuthType() string { return "sabir" }

func (b below) level() credentials.CommonAuthInfo {
	if b.encrypted {
		return credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}
	}
	return credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity}
}

func (b below) ClientHandshake(_ context.Context, _ string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return raw, socketInfo{b.level(), nil}, nil
}

func (b below) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	socket, _ := raw.(*transports.Socket)
	return raw, socketInfo{b.level(), socket}, nil
}

func (b below) Info() credentials.ProtocolInfo {
	if b.encrypted {
		return credentials.ProtocolInfo{SecurityProtocol: "tls"} // the scheme of requests is then https
	}
	return credentials.ProtocolInfo{SecurityProtocol: "insecure"}
}

func (b below) Clone() credentials.TransportCredentials { return b }
func (below) OverrideServerName(string) error           { return nil }

// withH2 is config with HTTP/2 as the protocol that TLS agrees on (RFC 9113, section 3.2), which proxies want to see.
func withH2(config *tls.Config) *tls.Config {
	h2 := []string{"h2"}
	if config == nil {
		return &tls.Config{NextProtos: h2}
	}
	config = config.Clone()
	config.NextProtos = h2
	if perClient := config.GetConfigForClient; perClient != nil {
		config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			chosen, err := perClient(hello)
			if err != nil || chosen == nil || slices.Equal(chosen.NextProtos, h2) {
				return chosen, err
			}
			chosen = chosen.Clone()
			chosen.NextProtos = h2
			return chosen, nil
		}
	}
	return config
}
