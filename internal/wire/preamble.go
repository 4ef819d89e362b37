package wire

import (
	"bytes"
	"fmt"
	"io"
)

// The versions of the protocol that this package speaks, see docs/protocol.md.
const (
	oldestVersion = 3
	newestVersion = 3
)

// The preamble is the first message of each side: 48 bytes with the same layout in all versions for ever, so that any two
// nodes can at least report to each other why they are incompatible.
//
//	magic 6 bytes "SABIR\n" | oldest version uint8 | newest version uint8 | flags uint8 | 7 bytes of zero | nonce 32 bytes
const (
	magic        = "SABIR\n"
	preambleSize = 48
	nonceSize    = 32

	flagKeyed   = 1 << 0 // this side has a cluster key
	flagBound   = 1 << 1 // the connection is encrypted as this side sees it, by TLS or a broker's session, and the handshake is bound to that
	flagDialled = 1 << 2 // this side dialled
	flagAES     = 1 << 3 // this side's processor has instructions for AES-GCM
	flagPlain   = 1 << 4 // this side does not need what follows the handshake to be sealed
)

// preamble is one side's. Bits of flags and reserved bytes that are not known are for later versions.
type preamble struct {
	oldest, newest uint8
	flags          uint8
	nonce          [nonceSize]byte
}

func (p preamble) append(dst []byte) []byte {
	dst = append(dst, magic...)
	dst = append(dst, p.oldest, p.newest, p.flags)
	dst = append(dst, make([]byte, preambleSize-nonceSize-len(magic)-3)...)
	return append(dst, p.nonce[:]...)
}

// readPreamble returns the peer's preamble and its bytes. It stops after the magic of something else, which may be shorter
// than a preamble and wait for an answer.
func readPreamble(from io.Reader) (p preamble, raw []byte, err error) {
	raw = make([]byte, preambleSize)
	if _, err := io.ReadFull(from, raw[:len(magic)]); err != nil {
		return p, nil, err
	}
	if !bytes.HasPrefix(raw, []byte(magic)) {
		return p, nil, &HandshakeError{Reason: ReasonNotSabir, Detail: fmt.Sprintf(
			"it starts with %q instead of %q; is this the port of another protocol, or is TLS on one side only?", raw[:len(magic)], magic)}
	}
	if _, err := io.ReadFull(from, raw[len(magic):]); err != nil {
		return p, nil, err
	}
	p.oldest, p.newest, p.flags = raw[6], raw[7], raw[8]
	p.nonce = [nonceSize]byte(raw[preambleSize-nonceSize:])
	return p, raw, nil
}

// agree returns the version that follows from two preambles, or the reason why there can be no link. Each side computes it for
// itself, and both get the same result, whatever version each of them is.
func agree(dialler, acceptor preamble) (version int, refusal *HandshakeError) {
	refuse := func(reason Reason, format string, args ...any) (int, *HandshakeError) {
		return 0, &HandshakeError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
	}
	if dialler.flags&flagDialled == 0 || acceptor.flags&flagDialled != 0 {
		return refuse(ReasonRole, "exactly one of the two ends of a connection dials")
	}
	if dialler.nonce == acceptor.nonce {
		return refuse(ReasonMalformed, "both nonces are the same: one side sends back what it receives")
	}
	version = int(min(dialler.newest, acceptor.newest))
	if version < int(max(dialler.oldest, acceptor.oldest)) || version == 0 {
		return refuse(ReasonVersion, "the dialling side speaks versions %d to %d, the accepting side %d to %d: update the older one",
			dialler.oldest, dialler.newest, acceptor.oldest, acceptor.newest)
	}
	switch {
	case dialler.flags&flagKeyed == 0 && acceptor.flags&flagKeyed != 0:
		return refuse(ReasonKeyNeeded, "the accepting side has a cluster key and the dialling side none: give both the same key")
	case dialler.flags&flagKeyed != 0 && acceptor.flags&flagKeyed == 0:
		return refuse(ReasonKeyNeeded, "the dialling side has a cluster key and the accepting side none: give both the same key")
	case dialler.flags&flagKeyed != 0 && (dialler.flags^acceptor.flags)&flagBound != 0:
		return refuse(ReasonBinding, "one side sees encryption on the connection and the other does not: something between them ends it, "+
			"so the key would not be proven to the node that is meant")
	}
	return version, nil
}
