package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"runtime"

	"github.com/flynn/noise"
	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/sys/cpu"
)

// Suite is the cipher of a channel. Its number goes on the wire.
type Suite uint8

const (
	// ChaChaPoly is ChaCha20-Poly1305 (RFC 8439). Every node has it.
	ChaChaPoly Suite = 1
	// AESGCM is AES-256 in Galois/Counter mode (NIST SP 800-38D), where the processors of both nodes have instructions for it.
	AESGCM Suite = 2
)

// HasAES reports whether this processor has instructions for all that [AESGCM] needs: without them it is slow, and the time it
// takes depends on the key. The list is that of crypto/tls.
func HasAES() bool { return hasAES }

var hasAES = runtime.GOARCH == "amd64" && cpu.X86.HasAES && cpu.X86.HasPCLMULQDQ && cpu.X86.HasSSE41 && cpu.X86.HasSSSE3 ||
	runtime.GOARCH == "arm64" && cpu.ARM64.HasAES && cpu.ARM64.HasPMULL ||
	runtime.GOARCH == "s390x" && cpu.S390X.HasAES && cpu.S390X.HasAESCTR && cpu.S390X.HasGHASH

// Own lists the suites that this processor is good at, the best first.
func Own() []Suite {
	if hasAES {
		return []Suite{AESGCM, ChaChaPoly}
	}
	return []Suite{ChaChaPoly}
}

// Agreed is the suite of two nodes that know of each other whether they have AES.
func Agreed(both bool) Suite {
	if both {
		return AESGCM
	}
	return ChaChaPoly
}

func (s Suite) noise() noise.CipherSuite {
	if s == AESGCM {
		return noise.NewCipherSuite(noise.DH25519, noise.CipherAESGCM, noise.HashSHA256)
	}
	return noise.NewCipherSuite(noise.DH25519, noise.CipherChaChaPoly, noise.HashSHA256)
}

func (s Suite) aead(key *[32]byte) cipher.AEAD {
	var aead cipher.AEAD
	var err error
	if s == AESGCM {
		var block cipher.Block
		if block, err = aes.NewCipher(key[:]); err == nil {
			aead, err = cipher.NewGCM(block)
		}
	} else {
		aead, err = chacha20poly1305.New(key[:])
	}
	if err != nil {
		panic(err) // the key has the right length
	}
	return aead
}

// nonce makes the nonce as Noise has it: four bytes of zero and the number, whose order of bytes depends on the cipher.
func (s Suite) nonce(to *[12]byte, number uint64) []byte {
	if s == AESGCM {
		binary.BigEndian.PutUint64(to[4:], number)
	} else {
		binary.LittleEndian.PutUint64(to[4:], number)
	}
	return to[:]
}
