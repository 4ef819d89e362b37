package seal

import (
	"crypto/rand"
	"encoding/binary"

	"golang.org/x/crypto/chacha20poly1305"
)

// Broadcast seals a text for every holder of one of the keys, with a random nonce: a receiver must tell repeated ones by the text.
// It appends to dst, for each key, the length of what follows as a uint16, a nonce of 24 bytes, and the text by
// XChaCha20-Poly1305 with the secret of the purpose. ad must be the same where it is opened.
func (k Keys) Broadcast(dst []byte, purpose string, text, ad []byte) []byte {
	for _, secret := range k.Derive(purpose) {
		aead, err := chacha20poly1305.NewX(secret)
		if err != nil {
			panic(err) // the secret has the right length
		}
		var nonce [chacha20poly1305.NonceSizeX]byte
		rand.Read(nonce[:])
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(nonce)+len(text)+Overhead))
		dst = append(dst, nonce[:]...)
		dst = aead.Seal(dst, nonce[:], text, ad)
	}
	return dst
}

// Receive opens what Broadcast made. It is false where no part was made with one of the keys.
func (k Keys) Receive(purpose string, message, ad []byte) (text []byte, ok bool) {
	secrets := k.Derive(purpose)
	for range MaxKeys {
		if len(message) < 2 {
			return nil, false
		}
		size := int(binary.LittleEndian.Uint16(message))
		if message = message[2:]; size < chacha20poly1305.NonceSizeX+Overhead || size > len(message) {
			return nil, false
		}
		nonce, sealed := message[:chacha20poly1305.NonceSizeX], message[chacha20poly1305.NonceSizeX:size]
		message = message[size:]
		for _, secret := range secrets {
			aead, err := chacha20poly1305.NewX(secret)
			if err != nil {
				return nil, false
			}
			if text, err := aead.Open(nil, nonce, sealed, ad); err == nil {
				return text, true
			}
		}
	}
	return nil, false
}
