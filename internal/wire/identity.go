package wire

import (
	"net"

	"github.com/sabir-go/sabir/internal/identity"
)

// namesOf returns the names that the other end of a connection has proven: those of its certificate, if an authority that this side
// trusts has signed it, see identity.NamesOf; nil without one. The id in the hello is not among them: a node may call itself as it likes.
func namesOf(conn net.Conn) []string {
	c, ok := conn.(tlsConn)
	if !ok {
		return nil
	}
	state := c.ConnectionState()
	if len(state.VerifiedChains) == 0 {
		return nil
	}
	return identity.NamesOf(state.VerifiedChains[0][0])
}

// LinkKey is the key under which the contexts of a link and of what comes over it have the link, a *Link.
type LinkKey struct{}
