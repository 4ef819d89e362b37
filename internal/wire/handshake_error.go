package wire

import (
	"errors"
	"fmt"
)

// Reason is the cause of a failed handshake, in words. Both sides end with the same one where it could still be sent.
type Reason string

// The reasons there are. Their numbers on the wire are in reasonNumbers.
const (
	ReasonVersion   Reason = "no common version"
	ReasonKeyNeeded Reason = "only one side has a cluster key"
	ReasonKey       Reason = "wrong key"
	ReasonCluster   Reason = "cluster name differs"
	ReasonSameNode  Reason = "same node id"
	ReasonSelf      Reason = "a node reached itself"
	ReasonPurpose   Reason = "purpose not served"
	ReasonRole      Reason = "both sides dialled or both accepted"
	ReasonBinding   Reason = "the TLS of the two sides is not the same"
	ReasonMalformed Reason = "not understood"
	ReasonRefused   Reason = "refused by the owner"
	ReasonIdentity  Reason = "node id not proven"

	// ReasonNotSabir and those below are never sent to the peer.
	ReasonNotSabir Reason = "the peer does not speak this protocol"
	ReasonTimeout  Reason = "timeout"           // HandshakeTimeout or the deadline of the context passed
	ReasonCanceled Reason = "cancelled"         // the context was
	ReasonLost     Reason = "connection lost"   // closed or broken before both sides had agreed
	ReasonConfig   Reason = "own configuration" // Config.Validate failed
)

// reasonNumbers is the one table of the reasons that go on the wire, by their number there.
var reasonNumbers = [...]Reason{
	1: ReasonVersion, 2: ReasonKeyNeeded, 3: ReasonKey, 4: ReasonCluster, 5: ReasonSameNode, 6: ReasonPurpose,
	7: ReasonRole, 8: ReasonBinding, 9: ReasonMalformed, 10: ReasonRefused, 11: ReasonSelf, 12: ReasonIdentity,
}

// ErrNewerPurpose lies below a refusal, by this side, of a purpose that it does not know. The other node is of a later release, and does without.
var ErrNewerPurpose = errors.New("the other node is of a later release")

// HandshakeError is the error of Handshake. It holds no key and no proof.
type HandshakeError struct {
	Reason Reason
	Detail string // for users: what differed and what to do; may be empty
	ByPeer bool   // the peer refused and Detail is its own; else this side did
	Node   string // the peer's id, where it had sent it; not proven where there is no key or the reason is ReasonKey
	Addr   string // the peer's address, where the connection has one
	Err    error  // what lies below, such as os.ErrDeadlineExceeded or context.Canceled; nil for none
}

// Error describes which side refused and why.
func (e *HandshakeError) Error() string {
	with := "a peer"
	if e.Node != "" {
		with = fmt.Sprintf("node %q", e.Node)
	}
	if e.Addr != "" {
		with += " at " + e.Addr
	}
	text := "wire: handshake with " + with + ": " + string(e.Reason)
	if e.ByPeer {
		text = "wire: handshake with " + with + ": refused by it: " + string(e.Reason)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the underlying error, or nil.
func (e *HandshakeError) Unwrap() error { return e.Err }

// Temporary reports whether the same handshake may well succeed soon: after a lost connection, a timeout, or a refusal by an
// owner that may change its mind. The other reasons last until an operator changes a configuration or a version.
func (e *HandshakeError) Temporary() bool {
	return e.Reason == ReasonLost || e.Reason == ReasonTimeout || e.Reason == ReasonRefused
}
