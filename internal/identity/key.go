package identity

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

const (
	// MinKey is the least number of bytes of the text that a private key is made of.
	MinKey = 32
	// ProofSize is the number of bytes of a proof: a public key and a signature by it.
	ProofSize = ed25519.PublicKeySize + ed25519.SignatureSize
)

// Key is the private key, of Ed25519 (RFC 8032), by which a node proves its id. The zero Key is none. It does not show in what is printed,
// logged or written as JSON: it is behind a function, into which package reflect cannot look.
type Key struct{ reveal func() []byte }

// NewKey makes a Key of a random text: its seed is HMAC-SHA256 of "sabir node key 1" with the text.
func NewKey(text string) (Key, error) {
	if len(text) < MinKey {
		return Key{}, fmt.Errorf("a node's key has %d bytes, at least %d are needed: make one with `openssl rand -hex 32`", len(text), MinKey)
	}
	mac := hmac.New(sha256.New, []byte(text))
	mac.Write([]byte("sabir node key 1"))
	private := ed25519.NewKeyFromSeed(mac.Sum(nil))
	return Key{func() []byte { return private }}, nil
}

// None reports whether there is no key.
func (k Key) None() bool { return k.reveal == nil }

// String hides the key.
func (k Key) String() string {
	if k.None() {
		return "no node key"
	}
	return "hidden"
}

// GoString hides the key.
func (k Key) GoString() string { return k.String() }

// Public is the public key in hexadecimal.
func (k Key) Public() string { return hex.EncodeToString(k.reveal()[ed25519.SeedSize:]) }

// Prove returns the proof that a node has the key. What for, the node's id, and a value that is of this one proof are signed together.
func (k Key) Prove(purpose, node string, value []byte) []byte {
	private := k.reveal()
	return append(slices.Clone(private[ed25519.SeedSize:]), ed25519.Sign(ed25519.PrivateKey(private), signed(purpose, node, value))...)
}

// signed is the text that is signed. Neither a purpose nor an id has zero bytes.
func signed(purpose, node string, value []byte) []byte {
	return append([]byte("sabir "+purpose+"\x00"+node+"\x00"), value...)
}

// Known are the public keys by which nodes prove their ids, with the patterns of the ids that each is for. nil asks for no proof.
type Known map[[ed25519.PublicKeySize]byte][]string

// NewKnown makes Known of patterns of ids, each with one public key or more, separated by commas or spaces. "*" in a pattern stands for any
// text without a slash.
func NewKnown(keys map[string]string) (Known, error) {
	known := Known{}
	for _, pattern := range slices.Sorted(maps.Keys(keys)) {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return nil, fmt.Errorf("the pattern %q takes no id", pattern)
		}
		texts := strings.FieldsFunc(keys[pattern], func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
		if len(texts) == 0 {
			return nil, fmt.Errorf("the pattern %q has no public key", pattern)
		}
		for _, text := range texts {
			public, err := hex.DecodeString(text)
			if err != nil || len(public) != ed25519.PublicKeySize {
				return nil, fmt.Errorf("the pattern %q has %q, which is no public key: that is %d hexadecimal digits, which `sabir pubkey` prints", pattern, text, 2*ed25519.PublicKeySize)
			}
			at := [ed25519.PublicKeySize]byte(public)
			known[at] = append(known[at], pattern)
		}
	}
	if len(known) == 0 {
		return nil, errors.New("there is no public key")
	}
	return known, nil
}

// Check returns why a proof is none of the id, for the purpose and the value that the node should have given; nil where it is one.
func (k Known) Check(proof []byte, purpose, node string, value []byte) error {
	if len(proof) != ProofSize {
		return errors.New("it does not prove that: give it cluster.Config.NodeKey")
	}
	public, signature := proof[:ed25519.PublicKeySize], proof[ed25519.PublicKeySize:]
	patterns := k[[ed25519.PublicKeySize]byte(public)]
	switch {
	case patterns == nil:
		return fmt.Errorf("its public key %x is not among cluster.Config.NodeKeys of the other side", public)
	case !Takes(patterns, []string{node}):
		return fmt.Errorf("its key is for nodes called %q", patterns)
	case !ed25519.Verify(public, signed(purpose, node, value), signature):
		return errors.New("its signature is not of that key, or of another handshake")
	}
	return nil
}

// CheckOwn returns why a node's own key is none for its id.
func (k Known) CheckOwn(own Key, node string) error {
	if own.None() {
		return errors.New("a node with cluster.Config.NodeKeys needs a cluster.Config.NodeKey of its own")
	}
	switch patterns := k[[ed25519.PublicKeySize]byte(own.reveal()[ed25519.SeedSize:])]; {
	case patterns == nil:
		return fmt.Errorf("the public key of this node, %s, is not among cluster.Config.NodeKeys", own.Public())
	case !Takes(patterns, []string{node}):
		return fmt.Errorf("this node is called %q, and its key is for nodes called %q: give it an id that one of them takes (sabir.NodeID)", node, patterns)
	}
	return nil
}
