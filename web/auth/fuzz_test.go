package auth_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
)

// FuzzAuthorization sends anything as the Authorization header: no request passes without a credential that was made here,
// and no answer is anything but an error of the client.
func FuzzAuthorization(f *testing.F) {
	good := forge(`{"alg":"HS256"}`, `{"sub":"ada","exp":99999999999}`, secret)
	filter := auth.Filter(&auth.JWT{Secret: secret, Keys: []auth.TokenKey{{ID: "e", Key: &p256().PublicKey}}},
		&auth.Basic{Check: func(_ context.Context, name, password string) (*auth.Principal, error) {
			if name == "ada" && password == "pw" {
				return &auth.Principal{Subject: "ada"}, nil
			}
			return nil, nil
		}},
		&auth.Key{Keys: map[string]auth.Principal{backupKey: {Subject: "backup"}}, Bearer: true})
	for _, seed := range []string{"Bearer " + good, "Bearer " + backupKey, "Basic YWRhOnB3", "bearer", "Bearer ..", "Bearer a.b.c", "Bearer eyJhbGciOiJub25lIn0.e30.", "Basic =", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		x := request("Authorization", value)
		err := filter.Before(x)
		if p, ok := auth.Of(x); ok {
			if err != nil || p.Scheme == "jwt" && !strings.Contains(value, good) || p.Scheme == "key" && !strings.Contains(value, backupKey) || p.Scheme == "basic" && !strings.Contains(value, "YWRhOnB3") {
				t.Fatalf("%q is %+v, %v", value, p, err)
			}
			return
		}
		if !errors.Is(err, auth.ErrBadCredentials) {
			t.Fatalf("%q: got %v", value, err)
		}
	})
}

// FuzzSessionCookie sends anything as the session's cookie, and a good one with a character changed: neither is a session.
func FuzzSessionCookie(f *testing.F) {
	key := make([]byte, 32)
	rand.Read(key) // another one in each process, so that nothing in the corpus is good
	s := auth.Session(auth.SessionConfig{Secret: key})
	x := request()
	if err := s.SignIn(x, ada); err != nil {
		f.Fatal(err)
	}
	good := must(http.ParseSetCookie(x.Answer.Get("Set-Cookie")))
	for _, seed := range []string{good.Value, good.Value[:20], "", "A", strings.Repeat("A", 100)} {
		f.Add(seed, uint16(len(seed)), byte(1))
	}
	somebody := func(t *testing.T, value string) bool {
		x := request("Cookie", good.Name+"="+value)
		if err := auth.Optional(s).Before(x); err != nil {
			t.Fatal(err)
		}
		_, ok := auth.Of(x)
		return ok
	}
	f.Fuzz(func(t *testing.T, value string, at uint16, flip byte) {
		if value != good.Value && somebody(t, value) {
			t.Fatalf("%q is a session", value)
		}
		changed := []byte(good.Value)
		changed[int(at)%len(changed)] ^= flip
		if somebody(t, string(changed)) != (flip == 0) {
			t.Fatalf("%q is a session, or %q is none", changed, good.Value)
		}
	})
}

// FuzzMetadata has anything as a principal that came from elsewhere: the result has a subject, or there is no principal.
func FuzzMetadata(f *testing.F) {
	for _, seed := range []string{`{"sub":"ada","roles":["a"],"claims":{"x":1}}`, `{}`, `{"sub":""}`, `[]`, ``, `{"sub":"a"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, ok := auth.FromContext(sabir.WithMetadata(context.Background(), auth.MetadataKey, text))
		if ok == (p.Subject == "") {
			t.Fatalf("%q: %+v, %v", text, p, ok)
		}
		if !ok {
			return
		}
		again, ok := auth.FromContext(auth.As(context.Background(), p))
		if !ok || again.Subject != p.Subject || len(again.Roles) != len(p.Roles) {
			t.Fatalf("%q: %+v became %+v", text, p, again)
		}
	})
}

// FuzzCheckPassword takes anything for a hash; it must neither panic nor take long.
func FuzzCheckPassword(f *testing.F) {
	for _, seed := range []string{"$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHRzYWx0$bBwnUWPsrS6f5CQbpYPQvEkkuBLTWpDm6yhkxOFNYIA", "$2a$04$abc", "$argon2id$v=19$m=,t=,p=$$", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, hash string) {
		if len(hash) > 20 && (strings.Contains(hash, "m=") && !strings.Contains(hash, "m=8,t=1,p=1") || strings.HasPrefix(hash, "$2") && !strings.Contains(hash, "$04$")) {
			return // true costs, which are as large as a hash may ask for
		}
		if auth.CheckPassword(hash, "no password of any of them") {
			t.Fatalf("%q took it", hash)
		}
	})
}
