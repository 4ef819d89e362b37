// Package quic is the transport quic://host:port: QUIC (RFC 9000) by github.com/quic-go/quic-go. Importing it registers it.
//
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.Join("quic://:7700"))
//
// A connection is one QUIC connection with one stream in it, always encrypted with TLS 1.3. Packets leave and arrive in
// batches where the system can do that (Linux). They hold at most [transport.Config].PacketSize bytes for as long as the
// connection lasts.
//
// With [transport.Config].TLS both sides are as with tls://: a server shows a certificate for the name that was dialled,
// and clients one of an authority where that is demanded.
//
// Without it a listener shows a certificate that it makes for itself, which does not identify it. On loopback, and
// where the Config is Keyed, Dial takes any certificate: the connection is encrypted but does not authenticate the listener. The
// cluster key's handshake then proves that the other end of the link knows the key. It does not prove that no machine sits in
// between: an attacker that can intercept packets could end the encryption on both sides, pass the handshake through, and read
// along. Set TLS where that matters. Elsewhere, Dial without TLS trusts the authorities of the system.
package quic
