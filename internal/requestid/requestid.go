// Package requestid makes ids: of requests, messages and connections.
package requestid

import (
	"encoding/hex"
	"math/rand/v2"
)

// New returns a fresh id, such as sabir.RequestIDs gives: a random UUID (RFC 9562, version 4). It identifies requests, and is no
// secret: its bits come from math/rand/v2, which the runtime seeds from the system.
func New() string {
	var text [36]byte
	return string(Append(text[:0]))
}

// Append appends a fresh request id to dst, as [New] returns one: a random UUID (RFC 9562, version 4). It
// allocates nothing where dst has space for 36 bytes.
func Append(dst []byte) []byte {
	high, low := rand.Uint64(), rand.Uint64()
	high, low = high&^0xf000|0x4000, low&^(3<<62)|2<<62 // the version and the variant
	var text [36]byte
	putHex(text[0:8], high>>32)
	text[8] = '-'
	putHex(text[9:13], high>>16)
	text[13] = '-'
	putHex(text[14:18], high)
	text[18] = '-'
	putHex(text[19:23], low>>48)
	text[23] = '-'
	putHex(text[24:36], low)
	return append(dst, text[:]...)
}

// putHex writes the last digits of v.
func putHex(dst []byte, v uint64) {
	for i := len(dst) - 2; i >= 0; i -= 2 {
		pair := hexPairs[v&0xff]
		dst[i], dst[i+1] = pair[0], pair[1]
		v >>= 8
	}
}

// hexPairs has the two hexadecimal digits of each byte.
var hexPairs = func() (pairs [256][2]byte) {
	for i := range pairs {
		hex.Encode(pairs[i][:], []byte{byte(i)})
	}
	return pairs
}()
