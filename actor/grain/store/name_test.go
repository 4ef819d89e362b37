package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/actor/grain/store"
)

func TestANameHasAKindOfWordsAndAnyKey(t *testing.T) {
	for _, good := range []struct{ kind, key string }{
		{"account", "ada"}, {"shop.cart-2", "\x00\xff *>"}, {"-", "-"}, {"0.1.2", "."},
		{strings.Repeat("k", store.MaxKind), strings.Repeat("\n", store.MaxKey)},
	} {
		if err := store.CheckName(good.kind, good.key); err != nil {
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
		{strings.Repeat("k", store.MaxKind+1), "k", "limit is 128"},
		{"a", strings.Repeat("k", store.MaxKey+1), "limit is 1024"},
	} {
		err := store.CheckName(bad.kind, bad.key)
		if !errors.Is(err, store.ErrBadGrainName) || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%q: got %v, want it to say %q", bad.kind, err, bad.says)
		}
	}
}

func TestATokenIsReadAsItWasWritten(t *testing.T) {
	token := store.Token{0, 1, 2, 0xfe, 0xff}
	if got := store.ParseToken(token.String()); got != token {
		t.Fatalf("got %v", got)
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add("")
	f.Add("000102030405060708090a0b0c0d0e0f")
	f.Add("zz0102030405060708090a0b0c0d0e0f")
	f.Fuzz(func(t *testing.T, text string) {
		token := store.ParseToken(text)
		if token != (store.Token{}) && token.String() != strings.ToLower(text) {
			t.Fatalf("%q was read as %v", text, token)
		}
	})
}

func TestOpenSaysWhatIsWrongWithAnAddress(t *testing.T) {
	for address, says := range map[string]string{
		"":                          "want one such as nats://",
		"127.0.0.1:6379":            "want one such as nats://",
		"redis://127.0.0.1":         `import _ "github.com/sabir-go/sabir/actor/grain/store/redis"`,
		"rediss://u:pw@127.0.0.1":   `store/redis"`,
		"nats://embedded":           `store/jetstream"`,
		"mem://":                    `store/memory"`,
		"postgres://u:pw@host/db":   `no driver is called "postgres": there are kubernetes, mem, nats, redis, rediss`,
		"kubernetes://":             `store/kubernetes"`,
		"redis://u:pw@host:a:b/%zz": "want one such as nats://",
	} {
		_, err := store.Open(context.Background(), address)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want it to say %q", address, err, says)
		} else if strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: the password is in the error: %v", address, err)
		}
	}
}

func TestRegisterPanicsOnAMistake(t *testing.T) {
	for what, register := range map[string]func(){
		"no driver": func() { store.Register("nothing", nil) },
		"no scheme": func() { store.Register("", fake{}) },
		"taken":     func() { store.Register("fake", fake{}); store.Register("fake", fake{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			register()
		}()
	}
}
