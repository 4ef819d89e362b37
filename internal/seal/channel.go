package seal

import (
	"crypto/cipher"
	"errors"
	"math"

	"github.com/flynn/noise"
)

// Overhead is the number of bytes by which a sealed text is longer.
const Overhead = 16

// ErrUnauthentic is the error of a text that the other side did not seal, or did not seal with this number.
var ErrUnauthentic = errors.New("it was not sealed by the other side of this session, or was changed, repeated, left out or put in another order on the way")

// Channel is the result of a handshake.
type Channel struct {
	Out Sealer
	In  Opener
	// Binding is the same for both sides and no other handshake.
	Binding [32]byte
}

func newChannel(suite Suite, out, in *noise.CipherState, binding []byte) *Channel {
	return &Channel{
		Out:     Sealer{epoch: newEpoch(suite, out.UnsafeKey())},
		In:      Opener{epoch: newEpoch(suite, in.UnsafeKey())},
		Binding: [32]byte(binding),
	}
}

// epochSize is the count of texts after which a direction's key is replaced. With texts of at most 64 KiB (256 KiB on a broker) it
// stays far below what AES-GCM may seal with one key: 2^24.5 texts of 16 KiB (RFC 8446, section 5.5).
const epochSize = 1 << 16

// epoch is a key and the cipher made of it, for epochSize numbers.
type epoch struct {
	suite  Suite
	number uint64 // how often the key was replaced
	key    [32]byte
	aead   cipher.AEAD
	nonce  [12]byte
}

func newEpoch(suite Suite, key [32]byte) *epoch {
	return &epoch{suite: suite, key: key, aead: suite.aead(&key)}
}

// next is the following epoch; no key of an earlier one follows from it. It is REKEY of Noise, section 4.2.
func (e *epoch) next() *epoch {
	var zeros [32]byte
	following := newEpoch(e.suite, [32]byte(e.aead.Seal(nil, e.suite.nonce(&e.nonce, math.MaxUint64), zeros[:], nil)[:32]))
	following.number = e.number + 1
	return following
}

// Sealer seals what this side sends. It must not be used by two goroutines at once.
type Sealer struct {
	epoch *epoch
	count uint64
}

// Next is the number of the text that is sealed next.
func (s *Sealer) Next() uint64 { return s.count }

// Seal appends text to dst, sealed with the next number. The other side needs the same ad to open it.
func (s *Sealer) Seal(dst, text, ad []byte) []byte {
	if s.count/epochSize > s.epoch.number {
		s.epoch = s.epoch.next()
	}
	nonce := s.epoch.suite.nonce(&s.epoch.nonce, s.count)
	s.count++ // 2^64 are never reached
	return s.epoch.aead.Seal(dst, nonce, text, ad)
}

// Opener opens what the other side sealed. It must not be used by two goroutines at once.
type Opener struct {
	epoch *epoch
	count uint64
}

// Open appends to dst what was sealed with the number that follows the last one. dst may be sealed[:0].
func (o *Opener) Open(dst, sealed, ad []byte) ([]byte, error) {
	return o.OpenAt(o.count, dst, sealed, ad)
}

// maxSkip bounds how many numbers may be left out at once, and so how often a forged number has a key replaced in vain.
const maxSkip = 16 * epochSize

// OpenAt is Open for carriers that lose texts: number must be higher than all before, and what was left out cannot be opened any more. A
// text that cannot be opened changes nothing.
func (o *Opener) OpenAt(number uint64, dst, sealed, ad []byte) ([]byte, error) {
	if number < o.count || number-o.count > maxSkip {
		return nil, ErrUnauthentic
	}
	e := o.epoch
	for e.number < number/epochSize {
		e = e.next()
	}
	text, err := e.aead.Open(dst, e.suite.nonce(&e.nonce, number), sealed, ad)
	if err != nil {
		return nil, ErrUnauthentic
	}
	o.epoch, o.count = e, number+1
	return text, nil
}
