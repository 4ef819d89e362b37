package native

// Numbers of more than eight bits are varints: seven bits a byte, the lowest first, the top bit set in all but the last
// byte (as in Protocol Buffers). Signed numbers are zigzagged first: 0, -1, 1, -2 … become 0, 1, 2, 3 …

func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// appendLong appends a number of two bytes and more; callers append shorter ones themselves, since a call costs more.
func appendLong(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

func appendUvarint(dst []byte, v uint64) []byte {
	if v < 0x80 {
		return append(dst, byte(v))
	}
	return appendLong(dst, v)
}

// readLong returns the number at the start of data, the bytes it took, and what is wrong with it, "" if nothing.
func readLong(data []byte) (v uint64, size int, wrong string) {
	for i, b := range data {
		if i == 9 && b > 1 {
			return 0, 0, "a number with more than 64 bits"
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b >= 0x80 {
			continue
		}
		if b == 0 && i > 0 {
			return 0, 0, "a number in more bytes than it needs"
		}
		return v, i + 1, ""
	}
	return 0, 0, endsEarly
}
