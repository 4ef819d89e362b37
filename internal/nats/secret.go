package nats

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"

	"github.com/nats-io/nkeys"

	"github.com/sabir-go/sabir/secret"
)

// clientKey is the pair of keys (Ed25519) by which clients prove to an embedded server that they have the secret.
func clientKey(s secret.Secret) (nkeys.KeyPair, error) {
	raw, err := hkdf.Key(sha256.New, s.Bytes(), nil, "sabir nats client", 32)
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
func routePassword(s secret.Secret) (string, error) {
	raw, err := hkdf.Key(sha256.New, s.Bytes(), nil, "sabir nats route", 32)
	return base64.RawURLEncoding.EncodeToString(raw), err
}
