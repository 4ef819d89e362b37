package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/flynn/noise"
)

// ErrKey is the error of a message that was not made with a key of this side, or was changed on the way.
var ErrKey = errors.New("it was not made with a cluster key of this node, or was changed on the way")

// pskPurpose derives the pre-shared key of Noise.
const pskPurpose = "sabir link 3"

// Offer is the dialling side of a handshake that was begun.
type Offer struct {
	// Tie, once Finish was called, is the [Answer.OwnTie] of the other side.
	Tie   []byte
	parts []part
}

// maxParts bounds the parts of an offer that are looked at: three keys, each for two suites.
const maxParts = 2 * MaxKeys

// part is one message of an offer: for one key and one suite.
type part struct {
	suite   Suite
	config  noise.Config
	seed    [32]byte // of the ephemeral key
	payload []byte
}

// Offer begins a handshake: its message has an offer for each key and each suite, of which the other side takes one. Both sides
// must give the same prologue. The payload of an offer, nil for none, is made from its tie: 32 bytes that belong to this offer and its
// maker alone, for a signature. It is sealed by the key alone: whoever learns that later can read it. random is crypto/rand.Reader, but
// for test vectors.
func (k Keys) Offer(random io.Reader, suites []Suite, prologue []byte, payload func(tie []byte) []byte) (message []byte, o *Offer, err error) {
	o = &Offer{}
	psks := k.Derive(pskPurpose)
	count := len(psks) * len(suites)
	for _, psk := range psks {
		for _, suite := range suites {
			p := part{suite: suite, config: configOf(suite, psk, prologue, count, len(o.parts))}
			p.config.Initiator = true
			if _, err := io.ReadFull(random, p.seed[:]); err != nil {
				return nil, nil, err
			}
			if payload != nil {
				pair, err := noise.DH25519.GenerateKeypair(bytes.NewReader(p.seed[:]))
				if err != nil {
					return nil, nil, err
				}
				p.payload = payload(tieOf(p.config.Prologue, pair.Public))
			}
			o.parts = append(o.parts, p)
		}
	}
	message = append(message, byte(count))
	for i := range o.parts {
		_, first, err := o.parts[i].begin()
		if err != nil {
			return nil, nil, err
		}
		if len(first) > noise.MaxMsgLen {
			return nil, nil, errors.New("the payload of the handshake is too long")
		}
		message = append(message, byte(o.parts[i].suite))
		message = binary.LittleEndian.AppendUint16(message, uint16(len(first)))
		message = append(message, first...)
	}
	return message, o, nil
}

// begin makes the state after the first message anew, and that message, which is always the same.
func (p *part) begin() (*noise.HandshakeState, []byte, error) {
	config := p.config
	config.Random = bytes.NewReader(p.seed[:])
	state, err := noise.NewHandshakeState(config)
	if err != nil {
		return nil, nil, err
	}
	message, _, _, err := state.WriteMessage(nil, p.payload)
	return state, message, err
}

// configOf is the configuration of one part of an offer. The count of parts and its index end the prologue.
func configOf(suite Suite, psk, prologue []byte, count, index int) noise.Config {
	return noise.Config{CipherSuite: suite.noise(), Pattern: noise.HandshakeNN, PresharedKey: psk,
		Prologue: append(bytes.Clone(prologue), byte(count), byte(index))}
}

// ephemeralSize is the number of bytes of a Diffie-Hellman key, with which the first message begins.
const ephemeralSize = 32

// tieOf ties a text to an offer, by its ephemeral key or by all of its first message. Nobody but its maker can go on with the offer, for
// that takes the private half of the key; and there is no other with this tie, for both nonces are in the prologue.
func tieOf(prologue, message []byte) []byte {
	tie := sha256.Sum256(append(bytes.Clone(prologue), message...))
	return tie[:]
}

// Finish reads the other side's reply. After an error, which is [ErrKey], another message can be tried: a forged one leaves no trace.
func (o *Offer) Finish(message []byte) (payload []byte, c *Channel, err error) {
	if len(message) == 0 || int(message[0]) >= len(o.parts) {
		return nil, nil, ErrKey
	}
	p := &o.parts[message[0]]
	state, first, err := p.begin()
	if err != nil {
		return nil, nil, err
	}
	o.Tie = tieOf(p.config.Prologue, first)
	payload, out, in, err := state.ReadMessage(nil, message[1:])
	if err != nil {
		return nil, nil, ErrKey
	}
	return payload, newChannel(p.suite, out, in, state.ChannelBinding()), nil
}

// Answer is the accepting side of a handshake that has read an offer.
type Answer struct {
	// Tie belongs to the offer, as the payload of the offer was made from it; OwnTie to this side's reply, which nobody but the maker of the
	// offer can read.
	Tie, OwnTie []byte

	state *noise.HandshakeState
	suite Suite
	index byte
}

// Answer reads the message of an offer, and takes the first part of it that was made with one of the keys and for one of the suites.
// The error is [ErrKey].
func (k Keys) Answer(random io.Reader, suites []Suite, prologue, message []byte) (a *Answer, payload []byte, err error) {
	if len(message) == 0 {
		return nil, nil, ErrKey
	}
	count, rest := message[0], message[1:]
	psks := k.Derive(pskPurpose)
	for i := range min(count, maxParts) {
		if len(rest) < 3 {
			break
		}
		suite, size := Suite(rest[0]), int(binary.LittleEndian.Uint16(rest[1:]))
		if rest = rest[3:]; len(rest) < size {
			break
		}
		first := rest[:size]
		rest = rest[size:]
		if !slices.Contains(suites, suite) {
			continue
		}
		for _, psk := range psks {
			config := configOf(suite, psk, prologue, int(count), int(i))
			config.Random = random
			state, err := noise.NewHandshakeState(config)
			if err != nil {
				return nil, nil, err
			}
			if payload, _, _, err := state.ReadMessage(nil, first); err == nil {
				return &Answer{Tie: tieOf(config.Prologue, first[:ephemeralSize]), OwnTie: tieOf(config.Prologue, first), state: state, suite: suite, index: i}, payload, nil
			}
		}
	}
	return nil, nil, ErrKey
}

// Reply finishes the handshake with a payload that only the other side can read. It is called once.
func (a *Answer) Reply(payload []byte) (message []byte, c *Channel, err error) {
	message, in, out, err := a.state.WriteMessage([]byte{a.index}, payload)
	if err != nil {
		return nil, nil, err
	}
	return message, newChannel(a.suite, out, in, a.state.ChannelBinding()), nil
}
