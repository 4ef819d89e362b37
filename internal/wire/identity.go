package wire

import "net"

// namesOf returns the names that the other end of a connection has proven: those of its certificate, if an authority that this side
// trusts has signed it. They are its URIs, such as a SPIFFE ID, and its DNS names; without any of these its common name. The
// id in the hello is not among them: a node may call itself as it likes.
func namesOf(conn net.Conn) (names []string) {
	c, ok := conn.(tlsConn)
	if !ok {
		return nil
	}
	state := c.ConnectionState()
	if len(state.VerifiedChains) == 0 {
		return nil
	}
	leaf := state.VerifiedChains[0][0]
	for _, u := range leaf.URIs {
		names = append(names, u.String())
	}
	names = append(names, leaf.DNSNames...)
	if names == nil && leaf.Subject.CommonName != "" {
		names = append(names, leaf.Subject.CommonName)
	}
	return names
}

// LinkKey is the key under which the contexts of a link and of what comes over it have the link, a *Link.
type LinkKey struct{}
