package wire

import (
	"fmt"
	"io"
	"net"

	"github.com/sabir-go/sabir/internal/identity"
)

// namesOf returns the names that the other end of a connection has proven: those of its certificate, if an authority that this side
// trusts has signed it, see identity.NamesOf; nil without one. The id in the hello is not among them: a node may call itself as it likes
// where nobody asks it for a proof.
func namesOf(conn net.Conn) []string {
	c, ok := conn.(tlsConn)
	if !ok {
		return nil
	}
	state := c.ConnectionState()
	if len(state.VerifiedChains) > 0 {
		return identity.NamesOf(state.VerifiedChains[0][0])
	}
	if len(state.PeerCertificates) > 0 && identity.IsVerified(state.PeerCertificates[0]) {
		return identity.NamesOf(state.PeerCertificates[0])
	}
	return nil
}

// The purposes of the two proofs of a handshake.
const (
	proofOfDialler  = "link dialler 1"
	proofOfAcceptor = "link acceptor 1"
)

// appendProof appends the proof of this side's id, if it has a key for that. tie ties it to the handshake.
func (h *handshaker) appendProof(messages, tie []byte) []byte {
	if h.config.NodeKey.None() {
		return messages
	}
	purpose := proofOfAcceptor
	if h.dialled {
		purpose = proofOfDialler
	}
	return appendMessage(messages, messageProof, h.config.NodeKey.Prove(purpose, h.config.Node, tie))
}

// checkProof reads the peer's proof, and returns a refusal where it proves no such id.
func (h *handshaker) checkProof(node string, turn io.Reader) error {
	proof, _ := readMessage(turn, messageProof, identity.ProofSize) // something else is no proof
	side, purpose, tie := "accepting", proofOfAcceptor, []byte(nil)
	if h.dialled {
		tie = h.offer.Tie
	} else {
		side, purpose, tie = "dialling", proofOfDialler, h.answer.Tie
	}
	if err := h.config.NodeKeys.Check(proof, purpose, node, tie); err != nil {
		return &HandshakeError{Reason: ReasonIdentity, Detail: fmt.Sprintf("the %s side calls itself %q, and %v", side, node, err)}
	}
	return nil
}

// LinkKey is the key under which the contexts of a link and of what comes over it have the link, a *Link.
type LinkKey struct{}
