package library

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzLocate checks that no text makes the reader of the library's paths fail, and that names come through.
func FuzzLocate(f *testing.F) {
	for _, s := range []string{"", "a.b[0].c", "[", "]", "[]", ".", "..", "a[b].c]", "a\x01.b\x02c", "[x][y]z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		Locate(s)
		if s == "" || !utf8.ValidString(s) || strings.ContainsAny(s, anyMark) {
			return
		}
		at := Locate("x." + mark.Replace(s) + "[7]")
		if want := "/x/" + pointerEscape.Replace(s) + "/7"; at.Pointer != want {
			t.Errorf("%q: got %q, want %q", s, at.Pointer, want)
		}
	})
}
