package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"fmt"
	"slices"
)

// The bounds of keys. Smaller RSA keys are weak (RFC 7518, section 3.3), larger ones keep the processor busy; an HMAC key has
// at least the length of its hash (section 3.2).
const (
	minRSA = 2048
	maxRSA = 8192
)

// tokenKey is a key that tokens can be checked with.
type tokenKey struct {
	kid  string     // "" for tokens of any key id
	key  func() any // a function, so that secret keys do not show where it is printed
	algs []string   // that fit the key: the algorithm in a token's header must be one of these
}

// newTokenKey checks a key and finds what it is for. A key is for one family of algorithms, so that no client can sign with a
// public key as if it were a secret.
func newTokenKey(kid string, key any) (tokenKey, error) {
	k := tokenKey{kid: kid, key: func() any { return key }}
	switch key := key.(type) {
	case []byte:
		for _, hash := range []struct {
			alg  string
			size int
		}{{"HS256", 32}, {"HS384", 48}, {"HS512", 64}} {
			if len(key) >= hash.size {
				k.algs = append(k.algs, hash.alg)
			}
		}
		if k.algs == nil {
			return k, fmt.Errorf("a secret of %d bytes: want at least 32 random ones (openssl rand -hex 32)", len(key))
		}
		own := slices.Clone(key)
		k.key = func() any { return own }
	case *rsa.PublicKey:
		if key == nil || key.N == nil || key.N.BitLen() < minRSA || key.N.BitLen() > maxRSA || key.E < 3 || key.E%2 == 0 {
			return k, fmt.Errorf("an RSA key that is not sound: want %d to %d bits and an odd exponent", minRSA, maxRSA)
		}
		k.algs = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	case *ecdsa.PublicKey:
		if key == nil || key.Curve == nil {
			return k, fmt.Errorf("an ECDSA key without a curve")
		}
		alg, ok := map[string]string{"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}[key.Curve.Params().Name]
		if !ok {
			return k, fmt.Errorf("an ECDSA key on the curve %s: want P-256, P-384 or P-521", key.Curve.Params().Name)
		}
		if _, err := key.ECDH(); err != nil {
			return k, fmt.Errorf("an ECDSA key that is not on its curve")
		}
		k.algs = []string{alg}
	case ed25519.PublicKey:
		if len(key) != ed25519.PublicKeySize {
			return k, fmt.Errorf("an Ed25519 key of %d bytes: want %d", len(key), ed25519.PublicKeySize)
		}
		k.algs = []string{"EdDSA"}
	case crypto.Signer:
		return k, fmt.Errorf("a private key (%T): to check tokens the public one is enough, give its Public()", key)
	default:
		return k, fmt.Errorf("a key of type %T: want []byte, *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey", key)
	}
	return k, nil
}

// fitting is the keys for a token with the key id and algorithm. A token without an id is checked with the keys that have
// none, or with the only one there is.
func fitting(keys []tokenKey, kid, alg string) (found []tokenKey) {
	for _, k := range keys {
		if (k.kid == "" || k.kid == kid || kid == "" && len(keys) == 1) && slices.Contains(k.algs, alg) {
			found = append(found, k)
		}
	}
	return found
}
