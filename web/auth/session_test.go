package auth_test

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

var sessionSecret = []byte(strings.Repeat("s", 32))

// setCookie is the one cookie that the answer sets.
func setCookie(t *testing.T, x *exchange.Exchange) *http.Cookie {
	t.Helper()
	lines := slices.Collect(x.Answer.All("Set-Cookie"))
	if len(lines) != 1 {
		t.Fatalf("the answer sets %d cookies: %q", len(lines), lines)
	}
	return must(http.ParseSetCookie(lines[0]))
}

// signIn is the cookie of a new session.
func signIn(t *testing.T, s *auth.Sessions, p auth.Principal) *http.Cookie {
	t.Helper()
	x := request()
	if err := s.SignIn(x, p); err != nil {
		t.Fatal(err)
	}
	return setCookie(t, x)
}

func with(c *http.Cookie) *exchange.Exchange {
	return request("Cookie", "theme=dark; "+c.Name+"="+c.Value)
}

func TestASessionLastsFromSignInToSignOut(t *testing.T) {
	s := auth.Session(auth.SessionConfig{Secret: sessionSecret})
	x := request()
	if err := s.SignIn(x, ada); err != nil {
		t.Fatal(err)
	}
	if p, ok := auth.Of(x); !ok || p.Subject != "ada" || p.Scheme != "session" {
		t.Errorf("after SignIn the caller is %+v", p)
	}
	cookie := setCookie(t, x)
	if p := admitted(t, s, with(cookie)); p.Subject != "ada" || p.Scheme != "session" || !p.HasAny("admin") || p.Claims["tenant"] != "blue" {
		t.Errorf("got %+v", p)
	}
	x = with(cookie)
	admitted(t, s, x)
	if err := s.SignOut(x); err != nil || x.Principal != nil {
		t.Errorf("got %v, %v", err, x.Principal)
	}
	if gone := setCookie(t, x); gone.Name != cookie.Name || gone.Value != "" || gone.MaxAge >= 0 {
		t.Errorf("got %+v", gone)
	}
}

func TestTheCookieIsForThisHostOverTLSOnly(t *testing.T) {
	for _, c := range []struct {
		host string
		tls  bool
		name string
	}{
		{"api.example.com", false, "__Host-session"},
		{"api.example.com", true, "__Host-session"},
		{"localhost:3000", true, "__Host-session"},
		{"localhost:3000", false, "session"},
		{"LOCALHOST", false, "session"},
		{"app.localhost:3000", false, "session"},
		{"127.0.0.1:3000", false, "session"},
		{"127.1.2.3", false, "session"},
		{"[::1]:3000", false, "session"},
		{"[::1]", false, "session"},
		{"[::ffff:127.0.0.1]:80", false, "session"},
		{"notlocalhost", false, "__Host-session"},
		{"localhost.example.com", false, "__Host-session"},
		{"10.0.0.1", false, "__Host-session"},
		{"", false, "__Host-session"},
	} {
		x := request()
		x.Host, x.Remote = c.host, netip.MustParseAddrPort("127.0.0.1:999")
		if c.tls {
			x.TLS = &tls.ConnectionState{}
		}
		if err := auth.Session(auth.SessionConfig{Secret: sessionSecret}).SignIn(x, ada); err != nil {
			t.Fatal(err)
		}
		got := setCookie(t, x)
		if got.Name != c.name || got.Secure != (c.name != "session") || !got.HttpOnly || got.SameSite != http.SameSiteLaxMode || got.Path != "/" || got.Domain != "" || got.MaxAge != 86400 {
			t.Errorf("%s, TLS %v: got %+v", c.host, c.tls, got)
		}
	}
}

func TestACallerWithoutASessionIsToldTheNameThatItsCookieHas(t *testing.T) {
	for host, name := range map[string]string{"localhost:3000": "session", "api.example.com": "__Host-session"} {
		x := request()
		x.Host = host
		err := auth.Filter(auth.Session(auth.SessionConfig{Secret: sessionSecret})).Before(x)
		if err == nil || !strings.HasSuffix(err.Error(), "send the cookie "+name+" of a session") {
			t.Errorf("%s: %v", host, err)
		}
		if got := x.Answer.Get("WWW-Authenticate"); got != `Cookie realm="sabir", name="`+name+`"` {
			t.Errorf("%s: the challenge is %s", host, got)
		}
	}
}

func TestABadCookieGivesNoPrincipalAndIsRemoved(t *testing.T) {
	s := auth.Session(auth.SessionConfig{Secret: sessionSecret})
	good := signIn(t, s, ada)
	other := signIn(t, auth.Session(auth.SessionConfig{Secret: []byte(strings.Repeat("o", 32))}), ada)
	renamed := signIn(t, auth.Session(auth.SessionConfig{Secret: sessionSecret, CookieName: "other"}), ada)
	flipped := []byte(good.Value)
	flipped[40] ^= 1
	for what, value := range map[string]string{
		"another secret": other.Value, "another cookie's": renamed.Value, "changed": string(flipped), "cut": good.Value[:len(good.Value)-1],
		"short": "abc", "no base64": "%%%%", "too long": strings.Repeat("A", 5000), "only a nonce": strings.Repeat("A", 32),
	} {
		x := with(&http.Cookie{Name: good.Name, Value: value})
		if err := auth.Optional(s).Before(x); err != nil || x.Principal != nil {
			t.Errorf("%s: got %v, %v", what, err, x.Principal)
		}
		if gone := setCookie(t, x); gone.MaxAge >= 0 {
			t.Errorf("%s: got %+v", what, gone)
		}
	}
	refused(t, s, request("Cookie", "session="+good.Value), auth.ErrNotSignedIn) // without the prefix, another host may have set it
}

func TestTwoCookiesOfOnePrincipalAreDifferentAndTellNothing(t *testing.T) {
	s := auth.Session(auth.SessionConfig{Secret: sessionSecret})
	a, b := signIn(t, s, ada), signIn(t, s, ada)
	if a.Value == b.Value || strings.Contains(a.Value, b64([]byte("ada"))) {
		t.Errorf("got %s and %s", a.Value, b.Value)
	}
}

func TestASessionEndsWhenItIsIdleOrOld(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s := auth.Session(auth.SessionConfig{Secret: sessionSecret, Idle: time.Hour, Lifetime: 3 * time.Hour})
		began, cookie := time.Now(), signIn(t, s, ada)
		time.Sleep(29 * time.Minute)
		x := with(cookie)
		if admitted(t, s, x); x.Answer.Has("Set-Cookie") {
			t.Error("prolonged before half of its time")
		}
		time.Sleep(30*time.Minute + 59*time.Second)
		x = with(cookie)
		admitted(t, s, x)
		renewed := setCookie(t, x)
		if renewed.MaxAge != 3600 {
			t.Errorf("prolonged by %d s", renewed.MaxAge)
		}
		time.Sleep(time.Second)
		refused(t, s, with(cookie), auth.ErrNotSignedIn) // the old cookie has expired
		for range 100 {
			x := with(renewed)
			if auth.Optional(s).Before(x); x.Principal == nil {
				break
			}
			if x.Answer.Has("Set-Cookie") {
				renewed = setCookie(t, x)
			}
			time.Sleep(5 * time.Minute)
		}
		if lived := time.Since(began); lived < 3*time.Hour || lived > 3*time.Hour+5*time.Minute {
			t.Errorf("a session in use lived %v", lived)
		}
	})
}

func TestSecretsCanBeReplaced(t *testing.T) {
	old := auth.Session(auth.SessionConfig{Secret: []byte(strings.Repeat("o", 32))})
	cookie := signIn(t, old, ada)
	both := auth.Session(auth.SessionConfig{Secret: sessionSecret, PreviousSecrets: [][]byte{[]byte(strings.Repeat("o", 32))}})
	admitted(t, both, with(cookie))
	refused(t, old, with(signIn(t, both, ada)), auth.ErrNotSignedIn)
}

func TestASessionCanBeCalledOff(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		good := true
		s := auth.Session(auth.SessionConfig{Secret: sessionSecret, Revalidate: func(p auth.Principal, began time.Time) bool {
			if p.Subject != "ada" || time.Since(began) > time.Hour {
				t.Errorf("asked about %s since %v", p.Subject, began)
			}
			return good
		}})
		cookie := signIn(t, s, ada)
		admitted(t, s, with(cookie))
		good = false
		time.Sleep(5 * time.Minute)
		refused(t, s, with(cookie), auth.ErrNotSignedIn)
	})
}

func TestSignInReplacesTheSessionAndLeavesOtherCookies(t *testing.T) {
	s := auth.Session(auth.SessionConfig{Secret: sessionSecret})
	x := with(signIn(t, s, ada))
	admitted(t, s, x)
	x.Answer.Add("Set-Cookie", "theme=dark")
	for _, who := range []string{"bob", "eve"} {
		if err := s.SignIn(x, auth.Principal{Subject: who}); err != nil {
			t.Fatal(err)
		}
	}
	lines := slices.Collect(x.Answer.All("Set-Cookie"))
	if len(lines) != 2 || lines[1] != "theme=dark" {
		t.Fatalf("got %q", lines)
	}
	if p := admitted(t, s, with(must(http.ParseSetCookie(lines[0])))); p.Subject != "eve" {
		t.Errorf("got %+v", p)
	}
}

func TestSignInRefusesWhatCannotBeASession(t *testing.T) {
	s := auth.Session(auth.SessionConfig{Secret: sessionSecret})
	for what, p := range map[string]auth.Principal{
		"no subject":   {},
		"too large":    {Subject: "ada", Claims: map[string]any{"photo": strings.Repeat("x", 4000)}},
		"no JSON form": {Subject: "ada", Claims: map[string]any{"f": func() {}}},
	} {
		x := request()
		if err := s.SignIn(x, p); err == nil || x.Principal != nil || x.Answer.Has("Set-Cookie") {
			t.Errorf("%s: got %v, %v", what, err, x.Principal)
		}
	}
	if err := s.SignIn(nil, ada); !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "NoExchange", "")) {
		t.Errorf("got %v", err)
	}
	if err := s.SignOut(nil); !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "NoExchange", "")) {
		t.Errorf("got %v", err)
	}
	if err := auth.Session(auth.SessionConfig{}).SignIn(request(), ada); sabir.AsError(err).Name != "AuthMisconfigured" {
		t.Errorf("got %v", err)
	}
	x := request()
	if err := s.SignIn(x, auth.Principal{Subject: "ada", Scheme: "system"}); err != nil {
		t.Fatal(err)
	}
	if p, _ := auth.Of(x); p.Scheme != "session" {
		t.Errorf("a session of the system: %+v", p)
	}
}
