package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/sabir-go/sabir/internal/redact"
	"github.com/sabir-go/sabir/web/exchange"
)

const (
	minKey = 16  // characters
	maxKey = 512 // of a key that is looked at
)

// Key authenticates by API keys. Those of Keys are compared by their SHA-256 in constant time. It needs Keys, Lookup or both; for the rest
// the zero value is right. Its settings are read when it is first used.
type Key struct {
	// Keys has the principal of each key, which stands there itself or as its [HashAPIKey]. A key has 16 to 512 characters, which
	// should be random: openssl rand -hex 16.
	Keys map[string]Principal
	// Lookup finds the principal of a key that is not among Keys; it returns nil, nil for one that it does not know. It is asked
	// for each request, by many goroutines at once. To find keys in a table, keep them there by their [HashAPIKey]: looking up a
	// key itself reveals by its time how much of it was right.
	Lookup func(ctx context.Context, key string) (*Principal, error)
	// Header names the header that brings the key. Default: "X-Api-Key".
	Header string
	// Bearer takes the key from "Authorization: Bearer <key>" instead of a header of its own. Together with [JWT], put it behind that.
	Bearer bool

	opened opened[keys]
}

// Format prints the settings without keys.
func (c Key) Format(f fmt.State, verb rune) {
	type shown Key
	c.Keys, c.opened = nil, opened[keys]{}
	redact.Print(f, verb, shown(c))
}

// keys is a Key that is in use.
type keys struct {
	settings
	lookup func(ctx context.Context, key string) (*Principal, error)
	header string // "" for Authorization
	table  keyTable
}

// HashAPIKey is the form in which a key can be kept, in [Key.Keys] or in a table that [Key.Lookup] looks into:
// "sha256:<64 hexadecimal digits>". Keys are random, so unlike passwords they need no slow hash.
func HashAPIKey(key string) string {
	hash := sha256.Sum256([]byte(key))
	return hashPrefix + hex.EncodeToString(hash[:])
}

const hashPrefix = "sha256:"

func (c *Key) open() *keys {
	k := &keys{settings: settings{name: "Key"}, lookup: c.Lookup, table: make(keyTable, len(c.Keys))}
	k.want(len(c.Keys) > 0 || c.Lookup != nil, "no keys: give it Keys or Lookup")
	k.want(c.Header == "" || !c.Bearer, "Header and Bearer exclude each other")
	if !c.Bearer {
		k.header = c.header()
		k.want(isToken(k.header) && !strings.EqualFold(k.header, "Authorization"), "Header is %q: want the name of a header; for Authorization there is Bearer", k.header)
	}
	for key, p := range c.Keys {
		k.add(key, p)
	}
	return k
}

func (k *keys) add(key string, p Principal) {
	hash := sha256.Sum256([]byte(key))
	if text, hashed := strings.CutPrefix(key, hashPrefix); hashed {
		n, err := hex.Decode(hash[:], []byte(text[:min(len(text), 2*len(hash))]))
		k.want(err == nil && n == len(hash) && len(text) == 2*len(hash), "a hash of the wrong form: want what HashAPIKey makes")
	} else {
		k.want(len(key) >= minKey && len(key) <= maxKey && visible(key), "the key for %q: want %d to %d visible ASCII characters", p.Subject, minKey, maxKey)
	}
	k.want(p.Subject != "", "a key for a principal without a subject")
	k.want(p.Scheme != systemScheme, "a key for %q: the scheme %q is reserved", p.Subject, systemScheme)
	if p.Scheme == "" {
		p.Scheme = "key"
	}
	ready, err := p.ready()
	k.want(err == nil, "the claims for %q: %w", p.Subject, err)
	k.table.add(hash, ready)
}

func (c *Key) header() string { return cmp.Or(c.Header, "X-Api-Key") }

// Name is "key".
func (c *Key) Name() string { return "key" }

// Scheme is the header that brings the key.
func (c *Key) Scheme() exchange.Scheme {
	if c.Bearer {
		return exchange.Scheme{Type: "http", Scheme: "bearer"}
	}
	return exchange.Scheme{Type: "apiKey", In: "header", Name: c.header()}
}

func (c *Key) problem() error { return c.opened.get(c.open).problem() }

// Authenticate reads the header.
func (c *Key) Authenticate(x *exchange.Exchange) (*Principal, error) {
	return c.opened.get(c.open).authenticate(x)
}

func (k *keys) authenticate(x *exchange.Exchange) (*Principal, error) {
	key, ok, err := k.given(x)
	if err != nil || !ok {
		return nil, err
	}
	if len(k.problems) > 0 {
		return nil, because(errAuthMisconfigured, k.problem())
	}
	if len(key) > maxKey {
		return nil, ErrBadCredentials
	}
	if p := k.table.find(key); p != nil {
		return p, nil
	}
	if k.lookup == nil {
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

// find returns the principal of a key; nil for none.
func (t keyTable) find(key string) *Principal {
	hash := hashOf(key)
	for _, e := range t[[8]byte(hash[:8])] {
		if subtle.ConstantTimeCompare(hash[:], e.hash[:]) == 1 {
			return e.principal
		}
	}
	return nil
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
