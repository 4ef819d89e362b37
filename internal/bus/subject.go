package bus

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Token makes a part of a subject of any name: letters, digits and '_' for what is neither, and long names are cut. Names
// that differ have tokens that differ.
func Token(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	if b.Len() <= 60 {
		return b.String()
	}
	return b.String()[:34] + "_" + digest(name)
}

func validSubject(s string) bool {
	if s == "" || len(s) > 200 {
		return false
	}
	for _, c := range []byte(s) {
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
		if !ok {
			return false
		}
	}
	return true
}

// digest is a name for what is too long for one.
func digest(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:12])
}
