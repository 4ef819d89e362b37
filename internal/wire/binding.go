package wire

import (
	"crypto/tls"
	"net"
)

// secureConn is a connection that is encrypted and authenticated by itself, such as a session over a broker. Its ChannelBinding
// is nil where it is not, after all.
type secureConn interface {
	net.Conn
	ChannelBinding() []byte
}

// tlsConn is a connection that sees TLS, such as a *tls.Conn or what embeds one.
type tlsConn interface {
	net.Conn
	ConnectionState() tls.ConnectionState
}

const bindingSize = 32

// isBound reports whether the connection has a binding.
func isBound(conn net.Conn) bool {
	if c, ok := conn.(secureConn); ok {
		return c.ChannelBinding() != nil
	}
	_, ok := conn.(tlsConn)
	return ok
}

// bindingOf is a value that only the two ends of this very connection can know, and nil where it is not encrypted: for TLS the
// "tls-exporter" of RFC 9266. Some bytes must have been read from conn before, so that its TLS handshake is over. With it in the
// prologue of the handshake, a machine in the middle that ends the encryption of both sides cannot pass the rest on.
func bindingOf(conn net.Conn) ([]byte, error) {
	switch c := conn.(type) {
	case secureConn:
		return c.ChannelBinding(), nil
	case tlsConn:
		state := c.ConnectionState()
		return state.ExportKeyingMaterial("EXPORTER-Channel-Binding", nil, bindingSize)
	}
	return nil, nil
}
