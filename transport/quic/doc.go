// Package quic is the transport quic://host:port: QUIC (RFC 9000) by github.com/quic-go/quic-go. Importing it registers it.
//
// A connection is one QUIC connection with one stream in it, always encrypted with TLS 1.3. Packets leave and arrive in
// batches where the system can do that (Linux).
//
// With [transport.Config].TLS both sides are as with tls://: a server shows a certificate for the name that was dialled,
// and clients one of an authority where that is demanded.
//
// Without it a listener shows a certificate that it makes for itself, which says nothing about who it is. On loopback, and
// where the Config is Keyed, Dial takes any certificate: the connection is encrypted but does not prove who is there. The
// cluster key's handshake then proves that the other end of the link knows the key. It does not prove that nobody sits in
// between: whoever can intercept packets could end the encryption on both sides, pass the handshake through, and read
// along. Set TLS where that matters. Elsewhere, Dial without TLS trusts the authorities of the system.
package quic
