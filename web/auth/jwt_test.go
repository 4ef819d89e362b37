package auth_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/web/auth"
)

var (
	secret    = []byte(strings.Repeat("0123456789abcdef", 4)) // 64 bytes
	rsaKey    = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	p256      = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	p384      = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)) })
	p521      = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader)) })
	edwards   = sync.OnceValue(func() ed25519.PrivateKey { _, key, err := ed25519.GenerateKey(rand.Reader); return must(key, err) })
	hs256     = jwt.SigningMethodHS256
	unsigned  = jwt.SigningMethodNone
	noneKey   = jwt.UnsafeAllowNoneSignatureType
	publicPEM = func() []byte { return must(x509.MarshalPKIXPublicKey(&rsaKey().PublicKey)) }
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// claims returns the claims of a good token, with changes: a nil value removes a claim.
func claims(changes map[string]any) jwt.MapClaims {
	c := jwt.MapClaims{"sub": "ada", "exp": time.Now().Add(time.Hour).Unix(), "roles": []any{"admin", "user"}}
	for name, value := range changes {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	return c
}

func sign(method jwt.SigningMethod, key any, c jwt.MapClaims, header map[string]any) string {
	token := jwt.NewWithClaims(method, c)
	for name, value := range header {
		token.Header[name] = value
	}
	return must(token.SignedString(key))
}

// forge is a token with these very header and claims texts, signed with HMAC-SHA-256.
func forge(header, claims string, key []byte) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestEveryAlgorithmWorksWithItsKeyAndWithNoOther(t *testing.T) {
	keys := []struct {
		name         string
		sign, verify any
		methods      []jwt.SigningMethod
	}{
		{"HMAC", secret, secret, []jwt.SigningMethod{jwt.SigningMethodHS256, jwt.SigningMethodHS384, jwt.SigningMethodHS512}},
		{"RSA", rsaKey(), &rsaKey().PublicKey, []jwt.SigningMethod{jwt.SigningMethodRS256, jwt.SigningMethodRS384, jwt.SigningMethodRS512, jwt.SigningMethodPS256, jwt.SigningMethodPS384, jwt.SigningMethodPS512}},
		{"P-256", p256(), &p256().PublicKey, []jwt.SigningMethod{jwt.SigningMethodES256}},
		{"P-384", p384(), &p384().PublicKey, []jwt.SigningMethod{jwt.SigningMethodES384}},
		{"P-521", p521(), &p521().PublicKey, []jwt.SigningMethod{jwt.SigningMethodES512}},
		{"Ed25519", edwards(), edwards().Public(), []jwt.SigningMethod{jwt.SigningMethodEdDSA}},
	}
	for _, signer := range keys {
		for _, method := range signer.methods {
			token := sign(method, signer.sign, claims(nil), nil)
			for _, verifier := range keys {
				a := &auth.JWT{Keys: []auth.TokenKey{{Key: verifier.verify}}}
				if signer.name == verifier.name {
					if p := admitted(t, a, bearer(token)); p.Subject != "ada" || p.Scheme != "jwt" || !reflect.DeepEqual(p.Roles, []string{"admin", "user"}) {
						t.Errorf("%s: got %+v", method.Alg(), p)
					}
				} else {
					refused(t, a, bearer(token), auth.ErrBadCredentials)
				}
			}
		}
	}
}

func TestATokenThatIsNotSignedIsRefused(t *testing.T) {
	a := &auth.JWT{Secret: secret, Keys: []auth.TokenKey{{ID: "r", Key: &rsaKey().PublicKey}}}
	good := sign(hs256, secret, claims(nil), nil)
	parts := strings.Split(good, ".")
	for _, header := range []string{`{"alg":"none"}`, `{"alg":"None"}`, `{"alg":""}`, `{}`, `{"alg":null}`, `{"alg":["HS256"]}`, `{"alg":"HS1"}`} {
		head := base64.RawURLEncoding.EncodeToString([]byte(header))
		refused(t, a, bearer(head+"."+parts[1]+"."), auth.ErrBadCredentials)
		refused(t, a, bearer(head+"."+parts[1]+"."+parts[2]), auth.ErrBadCredentials)
	}
	refused(t, a, bearer(sign(unsigned, noneKey, claims(nil), nil)), auth.ErrBadCredentials)
	refused(t, a, bearer(parts[0]+"."+parts[1]+"."), auth.ErrBadCredentials)
}

func TestAPublicKeyIsNoSecret(t *testing.T) {
	a := &auth.JWT{Keys: []auth.TokenKey{{ID: "r", Key: &rsaKey().PublicKey}, {ID: "e", Key: &p256().PublicKey}, {ID: "d", Key: edwards().Public()}}}
	for _, known := range [][]byte{publicPEM(), rsaKey().N.Bytes(), must(p256().PublicKey.Bytes()), edwards().Public().(ed25519.PublicKey)} {
		for _, kid := range []string{"r", "e", "d"} {
			refused(t, a, bearer(sign(hs256, known, claims(nil), map[string]any{"kid": kid})), auth.ErrBadCredentials)
		}
	}
}

func TestOnlyTheGivenAlgorithmsWork(t *testing.T) {
	a := &auth.JWT{Algorithms: []string{"PS256"}, Keys: []auth.TokenKey{{Key: &rsaKey().PublicKey}}}
	admitted(t, a, bearer(sign(jwt.SigningMethodPS256, rsaKey(), claims(nil), nil)))
	refused(t, a, bearer(sign(jwt.SigningMethodRS256, rsaKey(), claims(nil), nil)), auth.ErrBadCredentials)
	refused(t, &auth.JWT{Secret: secret[:32]}, bearer(sign(jwt.SigningMethodHS512, secret[:32], claims(nil), nil)), auth.ErrBadCredentials)
}

func TestTheKeyIDSelectsTheKey(t *testing.T) {
	other := []byte(strings.Repeat("x", 32))
	a := &auth.JWT{Keys: []auth.TokenKey{{ID: "a", Key: secret}, {ID: "b", Key: other}}}
	for _, c := range []struct {
		key  []byte
		kid  any
		good bool
	}{
		{secret, "a", true}, {other, "b", true}, {secret, "b", false}, {other, "a", false}, {secret, "c", false}, {secret, nil, false}, {secret, 1, false},
	} {
		header := map[string]any{}
		if c.kid != nil {
			header["kid"] = c.kid
		}
		if x := bearer(sign(hs256, c.key, claims(nil), header)); c.good {
			admitted(t, a, x)
		} else {
			refused(t, a, x, auth.ErrBadCredentials)
		}
	}
	admitted(t, &auth.JWT{Keys: []auth.TokenKey{{ID: "a", Key: secret}}}, bearer(sign(hs256, secret, claims(nil), nil)))                              // the only key there is
	admitted(t, &auth.JWT{Keys: []auth.TokenKey{{Key: secret}, {Key: other}}}, bearer(sign(hs256, other, claims(nil), map[string]any{"kid": "new"}))) // keys of any id
}

func TestKeysThatAreNotSoundAreRefused(t *testing.T) {
	weak := must(rsa.GenerateKey(rand.Reader, 1024)) //nolint:gosec // that is the point
	for _, key := range []any{make([]byte, 31), "text", nil, rsaKey(), p256(), &weak.PublicKey, &rsa.PublicKey{}, &ecdsa.PublicKey{},
		ed25519.PublicKey("short"), (*rsa.PublicKey)(nil), (*ecdsa.PublicKey)(nil)} {
		if err := auth.Check(&auth.JWT{Keys: []auth.TokenKey{{Key: key}}}); err == nil {
			t.Errorf("a %T is taken", key)
		}
	}
}

func TestATokenOfAnIssuerWhoseClockIsAheadIsRefusedWithTheCause(t *testing.T) {
	ahead := map[string]any{"iat": time.Now().Add(time.Minute).Unix()}
	err := auth.Filter(&auth.JWT{Secret: secret}).Before(bearer(sign(hs256, secret, claims(ahead), nil)))
	if !errors.Is(err, auth.ErrBadCredentials) || !strings.Contains(err.Error(), "the clocks of its issuer and of this node differ") {
		t.Errorf("the error is %v", err)
	}
}

func TestTimes(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		at := func(d time.Duration) any { return time.Now().Add(d).Unix() }
		for _, c := range []struct {
			what    string
			changes map[string]any
			config  auth.JWT
			good    bool
		}{
			{"expires later", map[string]any{"exp": at(time.Second)}, auth.JWT{}, true},
			{"expired within the leeway", map[string]any{"exp": at(-29 * time.Second)}, auth.JWT{}, true},
			{"expired", map[string]any{"exp": at(-30 * time.Second)}, auth.JWT{}, false},
			{"expired, no leeway", map[string]any{"exp": at(0)}, auth.JWT{Leeway: -1}, false},
			{"no expiry", map[string]any{"exp": nil}, auth.JWT{}, false},
			{"no expiry, which is allowed", map[string]any{"exp": nil}, auth.JWT{AllowNoExpiry: true}, true},
			{"expired, where none is needed", map[string]any{"exp": at(-time.Hour)}, auth.JWT{AllowNoExpiry: true}, false},
			{"expiry is text", map[string]any{"exp": "tomorrow"}, auth.JWT{}, false},
			{"expiry is text, where none is needed", map[string]any{"exp": "tomorrow"}, auth.JWT{AllowNoExpiry: true}, false},
			{"expires in the year 2100000", map[string]any{"exp": 6.6e13}, auth.JWT{}, true},
			{"not yet, within the leeway", map[string]any{"nbf": at(30 * time.Second)}, auth.JWT{}, true},
			{"not yet", map[string]any{"nbf": at(31 * time.Second)}, auth.JWT{}, false},
			{"nbf is text", map[string]any{"nbf": "now"}, auth.JWT{}, false},
			{"a leeway of its own, at its border", map[string]any{"exp": at(-2*time.Minute + time.Second), "nbf": at(2 * time.Minute)}, auth.JWT{Leeway: 2 * time.Minute}, true},
			{"expired, at the border of a leeway of its own", map[string]any{"exp": at(-2 * time.Minute)}, auth.JWT{Leeway: 2 * time.Minute}, false},
			{"not yet, behind a leeway of its own", map[string]any{"nbf": at(2*time.Minute + time.Second)}, auth.JWT{Leeway: 2 * time.Minute}, false},
			{"not yet, no leeway", map[string]any{"nbf": at(time.Second)}, auth.JWT{Leeway: -1}, false},
			{"from now on, no leeway", map[string]any{"nbf": at(0)}, auth.JWT{Leeway: -1}, true},
			{"issued within the leeway", map[string]any{"iat": at(30 * time.Second)}, auth.JWT{}, true},
			{"issued in the future", map[string]any{"iat": at(31 * time.Second)}, auth.JWT{}, false},
			{"issued in the future, no leeway", map[string]any{"iat": at(time.Second)}, auth.JWT{Leeway: -1}, false},
			{"issued now, no leeway", map[string]any{"iat": at(0)}, auth.JWT{Leeway: -1}, true},
			{"iat is text", map[string]any{"iat": "now"}, auth.JWT{}, false},
		} {
			c.config.Secret = secret
			a := &c.config
			x := bearer(sign(hs256, secret, claims(c.changes), nil))
			if err := auth.Filter(a).Before(x); (err == nil) != c.good {
				t.Errorf("%s: got %v", c.what, err)
			}
		}
	})
}

func TestATokenThatWasGoodExpires(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		a := &auth.JWT{Secret: secret, Leeway: -1}
		token := sign(hs256, secret, claims(map[string]any{"exp": time.Now().Add(time.Minute).Unix()}), nil)
		for range 3 {
			admitted(t, a, bearer(token))
		}
		time.Sleep(time.Minute - 1)
		admitted(t, a, bearer(token))
		time.Sleep(time.Nanosecond)
		if e := refused(t, a, bearer(token), auth.ErrBadCredentials); !strings.Contains(e.Message, "expired") {
			t.Errorf("got %v", e)
		}
	})
}

func TestIssuerAndAudience(t *testing.T) {
	const iss, aud = "https://login.example.com", "users"
	both := auth.JWT{Issuers: []string{"https://old.example.com", iss}, Audiences: []string{aud, "people"}}
	for _, c := range []struct {
		what    string
		changes map[string]any
		config  auth.JWT
		good    bool
	}{
		{"both right", map[string]any{"iss": iss, "aud": aud}, both, true},
		{"one of several audiences", map[string]any{"iss": iss, "aud": []any{"x", "people"}}, both, true},
		{"another audience", map[string]any{"iss": iss, "aud": "billing"}, both, false},
		{"no audience", map[string]any{"iss": iss}, both, false},
		{"empty audience", map[string]any{"iss": iss, "aud": []any{}}, both, false},
		{"audience of another type", map[string]any{"iss": iss, "aud": 7}, both, false},
		{"another issuer", map[string]any{"iss": iss + "/", "aud": aud}, both, false},
		{"no issuer", map[string]any{"aud": aud}, both, false},
		{"issuer of another type", map[string]any{"iss": []any{iss}, "aud": aud}, both, false},
		{"an audience that nobody asked for", map[string]any{"aud": aud}, auth.JWT{}, false},
		{"an empty audience that nobody asked for", map[string]any{"aud": []any{}}, auth.JWT{}, false},
		{"any audience", map[string]any{"aud": aud}, auth.JWT{AnyAudience: true}, true},
		{"neither asked for nor given", nil, auth.JWT{}, true},
	} {
		c.config.Secret = secret
		a := &c.config
		if err := auth.Filter(a).Before(bearer(sign(hs256, secret, claims(c.changes), nil))); (err == nil) != c.good {
			t.Errorf("%s: got %v", c.what, err)
		}
	}
}

func TestSubjectRolesAndClaims(t *testing.T) {
	token := claims(map[string]any{"scope": "read write", "client": "app", "realm": map[string]any{"roles": []any{"deep", 1, ""}}, "https://x.example/roles": "named", "tenant": "blue"})
	for _, c := range []struct {
		what    string
		config  auth.JWT
		subject string
		roles   []string
	}{
		{"as usual", auth.JWT{}, "ada", []string{"admin", "user"}},
		{"scope", auth.JWT{RolesClaims: []string{"scope"}}, "ada", []string{"read", "write"}},
		{"in a claim", auth.JWT{RolesClaims: []string{"realm.roles"}}, "ada", []string{"deep"}},
		{"a name with dots", auth.JWT{RolesClaims: []string{"https://x.example/roles"}}, "ada", []string{"named"}},
		{"several", auth.JWT{RolesClaims: []string{"roles", "scope", "missing", "sub.x"}}, "ada", []string{"admin", "user", "read", "write"}},
		{"another subject", auth.JWT{SubjectClaim: "client"}, "app", []string{"admin", "user"}},
	} {
		c.config.Secret = secret
		p := admitted(t, &c.config, bearer(sign(hs256, secret, token, nil)))
		if p.Subject != c.subject || !reflect.DeepEqual(p.Roles, c.roles) || p.Claims["tenant"] != "blue" {
			t.Errorf("%s: got %+v", c.what, p)
		}
	}
	p := admitted(t, &auth.JWT{Secret: secret, KeepClaims: []string{"tenant", "missing"}}, bearer(sign(hs256, secret, token, nil)))
	if !reflect.DeepEqual(p.Claims, map[string]any{"tenant": "blue"}) {
		t.Errorf("kept %v", p.Claims)
	}
	for _, sub := range []any{nil, "", 7, []any{"ada"}} {
		refused(t, &auth.JWT{Secret: secret}, bearer(sign(hs256, secret, claims(map[string]any{"sub": sub}), nil)), auth.ErrBadCredentials)
	}
	refused(t, &auth.JWT{Secret: secret, SubjectClaim: "roles"}, bearer(sign(hs256, secret, token, nil)), auth.ErrBadCredentials)
}

func TestATokenCannotMakeItsBearerTheSystem(t *testing.T) {
	p := admitted(t, &auth.JWT{Secret: secret}, bearer(sign(hs256, secret, claims(map[string]any{"scheme": "system", "Scheme": "system"}), nil)))
	if p.Scheme != "jwt" || p.HasAny("root") {
		t.Errorf("got %+v", p)
	}
}

func TestHeadersOfTokens(t *testing.T) {
	a, typed := &auth.JWT{Secret: secret}, &auth.JWT{Secret: secret, TokenType: "at+jwt"}
	for _, c := range []struct {
		a      auth.Authenticator
		header map[string]any
		good   bool
	}{
		{a, map[string]any{"crit": []string{"exp"}}, false},
		{a, map[string]any{"crit": nil}, false},
		{a, map[string]any{"b64": false, "crit": []string{"b64"}}, false},
		{a, map[string]any{"typ": "anything"}, true},
		{a, map[string]any{"jwk": map[string]any{"kty": "oct"}, "jku": "https://evil.example/", "x5u": "https://evil.example/"}, true}, // not read
		{typed, map[string]any{"typ": "at+jwt"}, true},
		{typed, map[string]any{"typ": "application/AT+JWT"}, true},
		{typed, map[string]any{"typ": "JWT"}, false},
	} {
		if err := auth.Filter(c.a).Before(bearer(sign(hs256, secret, claims(nil), c.header))); (err == nil) != c.good {
			t.Errorf("%v: got %v", c.header, err)
		}
	}
}

func TestMalformedTokens(t *testing.T) {
	a := &auth.JWT{Secret: secret}
	good := sign(hs256, secret, claims(nil), nil)
	head := `{"alg":"HS256"}`
	for what, token := range map[string]string{
		"two dots only":         "..",
		"no signature":          good[:strings.LastIndexByte(good, '.')+1],
		"another signature":     good[:len(good)-4] + "AAAA",
		"padding":               good + "=",
		"another alphabet":      strings.Replace(good, ".", ".+", 1),
		"a space":               strings.Replace(good, ".", " .", 1),
		"claims are a list":     forge(head, `[]`, secret),
		"claims are null":       forge(head, `null`, secret),
		"claims are cut":        forge(head, `{"sub":"ada"`, secret),
		"two values":            forge(head, `{"sub":"ada","exp":99999999999}{}`, secret),
		"header is a list":      forge(`["HS256"]`, `{"sub":"ada","exp":99999999999}`, secret),
		"more than 8 KiB":       forge(head, `{"sub":"ada","exp":99999999999,"x":"`+strings.Repeat("x", 8<<10)+`"}`, secret),
		"changed claims":        strings.Join([]string{strings.Split(good, ".")[0], base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"root","exp":99999999999}`)), strings.Split(good, ".")[2]}, "."),
		"signed with other key": sign(hs256, []byte(strings.Repeat("y", 32)), claims(nil), nil),
	} {
		if err := auth.Filter(a).Before(bearer(token)); sabirName(err) != auth.ErrBadCredentials.Name {
			t.Errorf("%s: got %v", what, err)
		}
	}
	admitted(t, a, bearer(forge(head, `{"sub":"ada","exp":99999999999}`, secret)))
}

func TestWhatHasNotTwoDotsIsNoToken(t *testing.T) {
	for _, x := range []string{"", "abc", "a.b", "a.b.c.d"} {
		if p, err := (&auth.JWT{Secret: secret}).Authenticate(bearer(x)); p != nil || err != nil {
			t.Errorf("%q: got %v, %v", x, p, err)
		}
	}
}

func TestTheAuthorizationHeader(t *testing.T) {
	a := &auth.JWT{Secret: secret}
	good := sign(hs256, secret, claims(nil), nil)
	for _, value := range []string{"Bearer " + good, "bearer " + good, "BEARER   " + good + " "} {
		admitted(t, a, request("authorization", value))
	}
	for _, value := range []string{"Basic " + good, good, "Bearer" + good, "Bearer\t" + good} {
		if err := auth.Filter(a).Before(request("Authorization", value)); err == nil {
			t.Errorf("%q is taken", value)
		}
	}
	refused(t, a, request("Authorization", "Bearer "+good, "Authorization", "Bearer "+good), auth.ErrBadCredentials)
	refused(t, a, request("X-Forwarded-Authorization", "Bearer "+good), auth.ErrNotSignedIn)
}

func TestARefusedTokenSaysInvalidToken(t *testing.T) {
	x := bearer(sign(hs256, []byte(strings.Repeat("y", 32)), claims(nil), nil))
	auth.Filter(&auth.JWT{Secret: secret}).Before(x)
	if got := x.Answer.Get("WWW-Authenticate"); got != `Bearer realm="sabir", error="invalid_token"` {
		t.Errorf("got %s", got)
	}
}

func TestNoTokenIsInAnError(t *testing.T) {
	token := forge(`{"alg":"HS256"}`, `{"sub":"ada","exp":1,"secret":"hunter2"}`, secret)
	err := auth.Filter(&auth.JWT{Secret: secret}).Before(bearer(token))
	text := err.Error() + string(must(json.Marshal(err)))
	if strings.Contains(text, "hunter2") || strings.Contains(text, token[:20]) || strings.Contains(text, "ada") {
		t.Errorf("got %s", text)
	}
}
