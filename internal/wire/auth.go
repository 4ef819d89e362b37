package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"net"
)

// The labels keep the proofs of the two sides apart, so that a side's own proof sent back to it proves nothing, and apart
// from whatever else the same key may be used for.
const (
	diallerLabel  = "sabir link handshake: dialling side\x00"
	acceptorLabel = "sabir link handshake: accepting side\x00"

	proofSize = sha256.Size
)

// prove returns a key holder's proof about everything that both have sent so far:
//
//	HMAC-SHA256(key, label ‖ binding ‖ SHA-256(transcript))
//
// The nonces of both sides are in the transcript, so no proof can be used twice; so are the versions, the flags and the
// hellos, so none of these can be changed on the way. RFC 2104, FIPS 180-4.
func prove(key []byte, label string, binding [bindingSize]byte, transcript []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(label))
	mac.Write(binding[:])
	mac.Write(transcript)
	return mac.Sum(nil)
}

const bindingSize = 32

// tlsConn is a connection that sees TLS, such as a *tls.Conn or what embeds one.
type tlsConn interface {
	net.Conn
	ConnectionState() tls.ConnectionState
}

// tlsBinding is a value that only the two ends of this very TLS connection can know, and zero where there is no TLS: the
// "tls-exporter" of RFC 9266. Some bytes must have been read from conn before, so that its TLS handshake is over. With it in
// the proofs, a machine in the middle that ends the TLS of both sides cannot pass them on.
func tlsBinding(conn net.Conn) (binding [bindingSize]byte, err error) {
	c, ok := conn.(tlsConn)
	if !ok {
		return binding, nil
	}
	state := c.ConnectionState()
	exported, err := state.ExportKeyingMaterial("EXPORTER-Channel-Binding", nil, bindingSize)
	if err != nil {
		return binding, err
	}
	return [bindingSize]byte(exported), nil
}
