package grainstore

import (
	"errors"
	"strings"
	"testing"
)

func TestANameHasAKindOfWordsAndAnyKey(t *testing.T) {
	for _, good := range []struct{ kind, key string }{
		{"account", "ada"}, {"shop.cart-2", "\x00\xff *>"}, {"-", "-"}, {"0.1.2", "."},
		{strings.Repeat("k", MaxKind), strings.Repeat("\n", MaxKey)},
	} {
		if err := CheckName(good.kind, good.key); err != nil {
			t.Errorf("%q, %.20q: %v", good.kind, good.key, err)
		}
	}
	for _, bad := range []struct{ kind, key, says string }{
		{"", "k", "empty"},
		{"a", "", "key of a grain of kind \"a\" is empty"},
		{"A", "k", "a-z"},
		{"a_b", "k", "a-z"},
		{"a/b", "k", "a-z"},
		{".a", "k", "dot"},
		{"a.", "k", "dot"},
		{"a..b", "k", "dot"},
		{strings.Repeat("k", MaxKind+1), "k", "limit is 128"},
		{"a", strings.Repeat("k", MaxKey+1), "limit is 1024"},
	} {
		err := CheckName(bad.kind, bad.key)
		if !errors.Is(err, ErrBadGrainName) || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%q: got %v, want it to say %q", bad.kind, err, bad.says)
		}
	}
}

func TestATokenIsReadAsItWasWritten(t *testing.T) {
	token := Token{0, 1, 2, 0xfe, 0xff}
	if got := ParseToken(token.String()); got != token {
		t.Fatalf("got %v", got)
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add("")
	f.Add("000102030405060708090a0b0c0d0e0f")
	f.Add("zz0102030405060708090a0b0c0d0e0f")
	f.Fuzz(func(t *testing.T, text string) {
		token := ParseToken(text)
		if token != (Token{}) && token.String() != strings.ToLower(text) {
			t.Fatalf("%q was read as %v", text, token)
		}
	})
}
