package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/web/exchange"
)

const (
	minKey = 16  // characters
	maxKey = 512 // of a key that is looked at
)

// KeyOption is an option of [Key] and [KeyFunc].
type KeyOption func(*keys)

// InHeader names the header that brings the key. Default: "X-Api-Key".
func InHeader(name string) KeyOption {
	return func(k *keys) {
		k.want(isToken(name) && !strings.EqualFold(name, "Authorization"), "InHeader(%q): want the name of a header; for Authorization there is AsBearer", name)
		k.header = name
	}
}

// AsBearer takes the key from "Authorization: Bearer <key>". Together with JWT, put it behind that.
func AsBearer() KeyOption { return func(k *keys) { k.header = "" } }

type keys struct {
	settings
	header string // "" for Authorization
	lookup func(ctx context.Context, key string) (*Principal, error)
}

// HashAPIKey is the form in which a key can be kept, in [Key]'s map or in a table that [KeyFunc] looks into:
// "sha256:<64 hexadecimal digits>". Keys are random, so unlike passwords they need no slow hash.
func HashAPIKey(key string) string {
	hash := sha256.Sum256([]byte(key))
	return hashPrefix + hex.EncodeToString(hash[:])
}

const hashPrefix = "sha256:"

// Key authenticates by API keys: each key, or its [HashAPIKey], with its principal. A key has at least 16 characters, which
// should be random: openssl rand -hex 16.
//
// Given keys are compared by their SHA-256 in constant time.
func Key(principals map[string]Principal, options ...KeyOption) Authenticator {
	k := newKeys(options)
	k.want(len(principals) > 0, "no keys")
	table := make(keyTable, len(principals))
	for key, p := range principals {
		hash := sha256.Sum256([]byte(key))
		if text, hashed := strings.CutPrefix(key, hashPrefix); hashed {
			n, err := hex.Decode(hash[:], []byte(text[:min(len(text), 2*len(hash))]))
			k.want(err == nil && n == len(hash) && len(text) == 2*len(hash), "a hash of the wrong form: want what HashKey makes")
		} else {
			k.want(len(key) >= minKey && len(key) <= maxKey && visible(key), "the key for %q: want %d to %d visible ASCII characters", p.Subject, minKey, maxKey)
		}
		k.want(p.Subject != "", "a key for a principal without a subject")
		k.want(p.Scheme != SystemScheme, "a key for %q: the scheme %q is reserved", p.Subject, SystemScheme)
		if p.Scheme == "" {
			p.Scheme = k.Name()
		}
		ready, err := p.ready()
		k.want(err == nil, "the claims for %q: %w", p.Subject, err)
		table.add(hash, ready)
	}
	k.lookup = table.lookup
	return k
}

// KeyFunc authenticates by API keys that the function knows: it returns nil, nil for one that it does not. It is asked for
// each request. To find keys in a table, keep them there by their [HashAPIKey]: looking up a key itself reveals by its time how
// much of it was right.
func KeyFunc(lookup func(ctx context.Context, key string) (*Principal, error), options ...KeyOption) Authenticator {
	k := newKeys(options)
	k.want(lookup != nil, "KeyBy was given nil")
	k.lookup = lookup
	return k
}

func newKeys(options []KeyOption) *keys {
	k := &keys{settings: settings{name: "Key"}, header: "X-Api-Key"}
	for _, o := range options {
		o(k)
	}
	return k
}

func (k *keys) Name() string { return "key" }

func (k *keys) Scheme() api.Scheme {
	if k.header == "" {
		return api.Scheme{Type: "http", Scheme: "bearer"}
	}
	return api.Scheme{Type: "apiKey", In: "header", Name: k.header}
}

func (k *keys) Authenticate(x *exchange.Exchange) (*Principal, error) {
	key, ok, err := k.given(x)
	if err != nil || !ok {
		return nil, err
	}
	if len(k.problems) > 0 {
		return nil, because(ErrAuthMisconfigured, k.Check())
	}
	if len(key) > maxKey {
		return nil, ErrBadCredentials
	}
	p, err := k.lookup(x.Context, key)
	if err == nil && p == nil {
		err = ErrBadCredentials
	}
	return p, err
}

func (k *keys) given(x *exchange.Exchange) (key string, ok bool, err error) {
	if k.header == "" {
		return authorization(x, "Bearer")
	}
	return only(x, k.header)
}

// keyTable has the principals by the first bytes of their keys' hashes, so that the whole hash is compared in constant time.
type keyTable map[[8]byte][]keyEntry

type keyEntry struct {
	hash      [sha256.Size]byte
	principal *Principal
}

func (t keyTable) add(hash [sha256.Size]byte, p *Principal) {
	first := [8]byte(hash[:8])
	t[first] = append(t[first], keyEntry{hash, p})
}

func (t keyTable) lookup(_ context.Context, key string) (*Principal, error) {
	hash := hashOf(key)
	for _, e := range t[[8]byte(hash[:8])] {
		if subtle.ConstantTimeCompare(hash[:], e.hash[:]) == 1 {
			return e.principal, nil
		}
	}
	return nil, nil
}

// visible reports whether s is of visible ASCII characters.
func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// isToken reports whether s can be the name of a header or a cookie (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	return s != "" && visible(s) && !strings.ContainsAny(s, `"(),/:;<=>?@[\]{}`)
}
