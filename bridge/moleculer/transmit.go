package moleculer

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"io"
	"slices"
)

// layer does to the bytes of packets as one of Moleculer's middlewares does. It is used by several goroutines at once.
type layer interface {
	seal(packet []byte) ([]byte, error)
	open(packet []byte) ([]byte, error)
}

// compression is a method. Before each packet is a byte: 1 if it is compressed, 0 if it is not.
type compression string

// compressFrom is the size in bytes from which Moleculer compresses a packet by default.
const compressFrom = 1 << 10

func (m compression) seal(packet []byte) ([]byte, error) {
	if len(packet) < compressFrom {
		return append([]byte{0}, packet...), nil
	}
	out := bytes.NewBuffer(append(make([]byte, 0, len(packet)/2), 1))
	var w io.WriteCloser
	switch m {
	case "gzip":
		w = gzip.NewWriter(out)
	case "deflateRaw":
		w, _ = flate.NewWriter(out, flate.DefaultCompression) // an error is only of the level
	default:
		w = zlib.NewWriter(out)
	}
	_, err := w.Write(packet)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

func (m compression) open(packet []byte) ([]byte, error) {
	if len(packet) == 0 {
		return nil, errors.New("a packet without the byte that tells whether it is compressed")
	}
	if packet[0] == 0 {
		return packet[1:], nil
	}
	var from io.Reader = bytes.NewReader(packet[1:])
	var err error
	switch m {
	case "gzip":
		from, err = gzip.NewReader(from)
	case "deflateRaw":
		from = flate.NewReader(from)
	default:
		from, err = zlib.NewReader(from)
	}
	if err != nil {
		return nil, fmt.Errorf("a packet is not compressed by %s: %w", string(m), err)
	}
	whole, err := io.ReadAll(io.LimitReader(from, maxPacket+1))
	if err == nil && len(whole) > maxPacket {
		err = fmt.Errorf("it has more than %d bytes", maxPacket)
	}
	if err != nil {
		return nil, fmt.Errorf("a packet could not be decompressed: %w", err)
	}
	return whole, nil
}

// encryption is AES with a key and an initialization vector for all packets.
type encryption struct {
	block cipher.Block
	iv    []byte
	ctr   bool
}

func newEncryption(key []byte, algorithm string, iv []byte) (*encryption, error) {
	bits := map[string]int{"aes-128-cbc": 128, "aes-192-cbc": 192, "aes-256-cbc": 256, "aes-128-ctr": 128, "aes-192-ctr": 192, "aes-256-ctr": 256}[algorithm]
	switch {
	case bits == 0:
		return nil, fmt.Errorf("the algorithm is %q: want aes-256-cbc or another of AES with cbc or ctr", algorithm)
	case len(key) != bits/8:
		return nil, fmt.Errorf("the password has %d bytes: %s wants %d", len(key), algorithm, bits/8)
	case len(iv) != aes.BlockSize:
		return nil, fmt.Errorf("the iv has %d bytes: %s wants %d", len(iv), algorithm, aes.BlockSize)
	}
	block, err := aes.NewCipher(key)
	return &encryption{block, slices.Clone(iv), algorithm[len(algorithm)-3:] == "ctr"}, err
}

func (e *encryption) seal(packet []byte) ([]byte, error) {
	if e.ctr {
		return e.stream(packet), nil
	}
	// The padding is as many bytes as it has (PKCS #7, RFC 5652 section 6.3).
	padding := aes.BlockSize - len(packet)%aes.BlockSize
	out := make([]byte, len(packet)+padding)
	copy(out, packet)
	for i := len(packet); i < len(out); i++ {
		out[i] = byte(padding)
	}
	cipher.NewCBCEncrypter(e.block, e.iv).CryptBlocks(out, out)
	return out, nil
}

func (e *encryption) stream(packet []byte) []byte {
	out := make([]byte, len(packet))
	cipher.NewCTR(e.block, e.iv).XORKeyStream(out, packet)
	return out
}

var errNotDecrypted = errors.New("a packet could not be decrypted: is its sender's password another?")

func (e *encryption) open(packet []byte) ([]byte, error) {
	if e.ctr {
		return e.stream(packet), nil
	}
	if len(packet) == 0 || len(packet)%aes.BlockSize != 0 {
		return nil, errNotDecrypted
	}
	out := make([]byte, len(packet))
	cipher.NewCBCDecrypter(e.block, e.iv).CryptBlocks(out, packet)
	padding := int(out[len(out)-1])
	if padding == 0 || padding > aes.BlockSize {
		return nil, errNotDecrypted
	}
	for _, b := range out[len(out)-padding:] {
		if int(b) != padding {
			return nil, errNotDecrypted
		}
	}
	return out[:len(out)-padding], nil
}
