package states

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/grainstore"
)

func TestAKeyIsReadableInItsSubjectWhereItCanBe(t *testing.T) {
	for key, want := range map[string]string{
		"user-42_A": "user-42_A", "": "=", "=": "=3D", "a.b": "a=2Eb", "*": "=2A", ">": "=3E", "\n": "=0A", "é": "=C3=A9",
	} {
		if got := token(key); got != want {
			t.Errorf("%q: got %s, want %s", key, got, want)
		}
	}
}

func TestTheLongestSubjectFitsALine(t *testing.T) {
	const maxControlLine, inboxAndNumbers = 4096, 128
	b := &backend{subject: "$KV." + strings.Repeat("p", 64) + "_grains."}
	if n := len("HPUB ") + len(b.subjectOf(strings.Repeat("k", grainstore.MaxKind), strings.Repeat("*", grainstore.MaxKey))); n+inboxAndNumbers > maxControlLine {
		t.Fatalf("it has %d bytes", n)
	}
}

// key reads what token wrote.
func key(t *testing.T, token string) string {
	if token == "=" {
		return ""
	}
	first, rest, escaped := strings.Cut(token, "=")
	key := first
	for escaped {
		word, next, more := strings.Cut(rest, "=")
		if len(word) < 2 {
			t.Fatalf("%q ends in the middle", token)
		}
		c, err := hex.DecodeString(word[:2])
		if err != nil {
			t.Fatal(err)
		}
		key += string(c) + word[2:]
		rest, escaped = next, more
	}
	return key
}

func FuzzAKeyHasOneWordOfItsOwn(f *testing.F) {
	for _, k := range []string{"", "=", "=20", " ", "a.b", "*", ">", "\x00\xff"} {
		f.Add(k)
	}
	f.Fuzz(func(t *testing.T, k string) {
		word := token(k)
		if strings.ContainsFunc(word, func(c rune) bool { return c > 127 || !plain(byte(c)) && c != '=' }) || word == "" || len(word) > max(1, 3*len(k)) {
			t.Fatalf("%q: %q is no word of a subject", k, word)
		}
		if back := key(t, word); back != k {
			t.Fatalf("%q and %q are both %q", k, back, word)
		}
	})
}
