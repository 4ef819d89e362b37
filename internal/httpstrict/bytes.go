package httpstrict

import (
	"encoding/binary"
	"math/bits"
)

// The bits of Class.
const (
	InToken = 1 << iota // RFC 9110, section 5.6.2
	InPath              // pchar or "/" of RFC 3986, section 3.3, except "%"
	InQuery             // visible ASCII except "#": what browsers send there, more than RFC 3986 names
	InHost              // names and addresses with a port: less than RFC 3986, section 3.2.2, has
	InHex
)

// Class tells for each byte in which parts of a head it may stand.
var Class = func() (t [256]byte) {
	set := func(bit byte, chars string) {
		for i := range len(chars) {
			t[chars[i]] |= bit
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		set(InToken|InPath|InHost, string([]byte{c, c - 0x20}))
	}
	set(InToken|InPath|InHost|InHex, "0123456789")
	set(InHex, "abcdefABCDEF")
	set(InToken, "!#$%&'*+-.^_`|~")
	set(InPath, "-._~!$&'()*+,;=:@/")
	set(InHost, "-._~:[]")
	for c := byte('!'); c <= '~'; c++ {
		if c != '#' {
			t[c] |= InQuery
		}
	}
	return t
}()

// Plain returns how many bytes at the start of b may stand in the value of a header: all but control bytes, except tabs (RFC
// 9110, section 5.5). It looks at eight at once.
func Plain(b []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		v := binary.LittleEndian.Uint64(b[i:])
		del := v ^ 0x7f*ones
		// The lowest bit that is set belongs to the first byte that is below a space, or is DEL: a borrow can only come out
		// of such a byte, and so can only reach the ones behind it.
		if bad := ((v - ' '*ones) & ^v & highs) | ((del - ones) & ^del & highs); bad != 0 {
			i += bits.TrailingZeros64(bad) / 8
			break
		}
	}
	for i < len(b) && (b[i] >= ' ' && b[i] != 0x7f || b[i] == '\t') {
		i++
	}
	return i
}

// maxHost is the most bytes of a DNS name with a colon and a port.
const maxHost = 260

// ValidHost reports whether s can be a Host: a name or an address, with or without a port.
func ValidHost(s string) bool {
	for i := range len(s) {
		if Class[s[i]]&InHost == 0 {
			return false
		}
	}
	return s != "" && len(s) <= maxHost
}
