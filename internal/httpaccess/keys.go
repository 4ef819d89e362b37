package httpaccess

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/sabir-go/sabir/secret"
)

// Keys are the keys that requests may carry as "Authorization: Bearer <key>": one, or several while it is changed. They can be replaced while
// a server goes by them. nil are none.
type Keys struct{ list atomic.Pointer[[]key] }

type key struct {
	text secret.Secret
	hash [sha256.Size]byte
}

// NewKeys makes the Keys of texts, the one that is to stay first. Empty ones do not count.
func NewKeys(texts ...string) *Keys {
	k := &Keys{}
	k.set(texts)
	return k
}

func (k *Keys) set(texts []string) {
	var list []key
	for _, text := range texts {
		if text != "" {
			list = append(list, key{secret.New(text), sha256.Sum256([]byte(text))})
		}
	}
	k.list.Store(&list)
}

func (k *Keys) all() []key {
	if k == nil {
		return nil
	}
	return *k.list.Load()
}

// None reports whether there is no key.
func (k *Keys) None() bool { return len(k.all()) == 0 }

// First is the key that is to stay; "" for none.
func (k *Keys) First() string {
	for _, one := range k.all() {
		return string(one.text.Bytes())
	}
	return ""
}

// Opens reports whether an Authorization header carries one of the keys.
func (k *Keys) Opens(authorization string) bool {
	scheme, given, _ := strings.Cut(authorization, " ")
	return k.Fits(strings.TrimLeft(given, " ")) && strings.EqualFold(scheme, "Bearer")
}

// Fits reports whether a text is one of the keys. It compares hashes in constant time, so that the time reveals nothing about the keys.
func (k *Keys) Fits(text string) bool {
	given, fits := sha256.Sum256([]byte(text)), 0
	for _, one := range k.all() {
		fits |= subtle.ConstantTimeCompare(given[:], one.hash[:])
	}
	return fits == 1
}

// Check returns an error where there is a key that no header can carry.
func (k *Keys) Check() error {
	for _, one := range k.all() {
		if strings.ContainsFunc(string(one.text.Bytes()), func(r rune) bool { return r <= ' ' || r > '~' }) {
			return errors.New("the HTTP key has a space, a line break or a character outside ASCII, which no Authorization header can carry; was it read from a file with its last newline?")
		}
	}
	return nil
}

// Shortest is the number of characters of the shortest key; 0 without keys.
func (k *Keys) Shortest() (n int) {
	for i, one := range k.all() {
		if length := len(one.text.Bytes()); i == 0 || length < n {
			n = length
		}
	}
	return n
}

// MayBecome returns an error for keys that the server would have refused, and for none, since it was decided at its start that it asks for one.
func (k *Keys) MayBecome(texts ...string) error {
	next := NewKeys(texts...)
	switch err := next.Check(); {
	case err != nil:
		return err
	case k.None() != next.None():
		return errors.New("a server does not begin or cease to ask for a key while it runs")
	case next.Shortest() < min(MinKey, k.Shortest()):
		return fmt.Errorf("a key of %d characters is too short: use at least %d random ones (openssl rand -hex 16)", next.Shortest(), MinKey)
	}
	return nil
}

// Replace puts other keys in the place of those that there are, which MayBecome takes.
func (k *Keys) Replace(texts ...string) { k.set(texts) }
