package nats

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"

	"github.com/nats-io/nkeys"
)

// clientKey is the pair of keys (Ed25519) by which clients prove to an embedded server that they have the secret.
func clientKey(secret []byte) (nkeys.KeyPair, error) {
	raw, err := hkdf.Key(sha256.New, secret, nil, "sabir nats client", 32)
	if err != nil {
		return nil, err
	}
	seed, err := nkeys.EncodeSeed(nkeys.PrefixByteUser, raw)
	if err != nil {
		return nil, err
	}
	return nkeys.FromSeed(seed)
}

// routePassword is the password that embedded servers send each other, as NATS knows nothing better for routes.
func routePassword(secret []byte) (string, error) {
	raw, err := hkdf.Key(sha256.New, secret, nil, "sabir nats route", 32)
	return base64.RawURLEncoding.EncodeToString(raw), err
}
