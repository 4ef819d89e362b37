package bus

import (
	"encoding/binary"
	"fmt"
)

// kind is the purpose of a packet, which is one message. The highest bit of the first byte is set on the way to the side
// that dialled.
type kind uint8

const (
	kindOpen   kind = 1 // text: the inbox of the side that dials; with a key also 0 and the offer of its handshake
	kindAccept kind = 2 // text: with a key the reply of the handshake
	kindRefuse kind = 3 // nothing accepts, or too many wait to be
	kindData   kind = 4 // at: where in the stream the bytes in text begin; taken
	kindAck    kind = 5 // taken; at: what has arrived
	kindProbe  kind = 6 // at: what was sent; to be answered by kindAck or kindAgain
	kindAgain  kind = 7 // at: what has arrived; what is behind it is missing
	kindClose  kind = 8 // at: where the stream ends
	kindReset  kind = 9 // there is no such session, or it was abandoned

	towardsDialler = 0x80
)

// sessionID is chosen at random by the side that dials.
type sessionID [16]byte

// packet is a message taken apart:
//
//	1 byte kind, 16 bytes session, varint at, varint taken, text
//
// See sealed.go for what becomes of it with a cluster key.
type packet struct {
	kind      kind
	toDialler bool
	session   sessionID
	at        uint64 // an offset in the stream
	taken     uint64 // how much of the other stream the sender's reader has read
	text      []byte
}

// maxHeader is the largest number of bytes in front of the text.
const maxHeader = 1 + 16 + 2*binary.MaxVarintLen64

func (p *packet) append(dst []byte) []byte {
	first := byte(p.kind)
	if p.toDialler {
		first |= towardsDialler
	}
	dst = append(dst, first)
	dst = append(dst, p.session[:]...)
	dst = binary.AppendUvarint(dst, p.at)
	dst = binary.AppendUvarint(dst, p.taken)
	return append(dst, p.text...)
}

// parseHead reads what is never sealed.
func parseHead(message []byte) (p packet, err error) {
	if len(message) < headSize {
		return p, fmt.Errorf("bus: a message of %d bytes is no packet", len(message))
	}
	p.kind = kind(message[0] &^ towardsDialler)
	p.toDialler = message[0]&towardsDialler != 0
	if p.kind < kindOpen || p.kind > kindReset {
		return p, fmt.Errorf("bus: no packet is of kind %d", p.kind)
	}
	copy(p.session[:], message[1:])
	return p, nil
}

func (p *packet) parseRest(rest []byte) error {
	for _, number := range []*uint64{&p.at, &p.taken} {
		value, size := binary.Uvarint(rest)
		if size <= 0 || value > 1<<62 {
			return fmt.Errorf("bus: a packet of kind %d has a number that cannot be read", p.kind)
		}
		*number, rest = value, rest[size:]
	}
	p.text = rest
	return nil
}
