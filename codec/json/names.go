package json

import "encoding/binary"

// names holds names of members that have been read into maps, since the same ones come again and again. A name is in one
// place only, which the next one that belongs there takes. The names are no part of longer strings.
type names [128]string

// maxKnown is the length in bytes up to which names are held.
const maxKnown = 32

// of returns b as a string. It must not be longer than maxKnown.
func (n *names) of(b []byte) string {
	at := &n[place(b)]
	if *at != string(b) {
		*at = string(b)
	}
	return *at
}

// place finds by the ends and the length of a name where it belongs.
func place(b []byte) uint64 {
	var mixed uint64
	switch n := len(b); {
	case n >= 8:
		mixed = binary.LittleEndian.Uint64(b) ^ binary.LittleEndian.Uint64(b[n-8:])*31
	case n >= 4:
		mixed = uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<32
	case n > 0:
		mixed = uint64(b[0]) | uint64(b[n/2])<<8 | uint64(b[n-1])<<16
	}
	return (mixed + uint64(len(b))) * 0x9e3779b97f4a7c15 >> (64 - 7)
}
