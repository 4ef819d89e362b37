package states

import "strings"

const hexadecimal = "0123456789ABCDEF"

// plain reports which bytes of a key stay as they are in a subject.
func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// token writes a key as one token of a subject, which is at most three times as long. No two keys have the same token.
//
// A subject of 3 KiB and its kind is well within the 4,096 bytes that a server takes as one line (max_control_line).
func token(key string) string {
	if key == "" {
		return "="
	}
	var b strings.Builder
	b.Grow(len(key) + 16)
	for i := range len(key) {
		c := key[i]
		if plain(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('=')
		b.WriteByte(hexadecimal[c>>4])
		b.WriteByte(hexadecimal[c&15])
	}
	return b.String()
}
