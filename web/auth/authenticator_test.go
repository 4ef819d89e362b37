package auth_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// byHeader finds the principal that the header X-<name> names, and fails for "bad".
type byHeader struct {
	name   string
	fails  error
	claims map[string]any
}

func (b byHeader) Name() string { return b.name }
func (b byHeader) Scheme() api.Scheme {
	return api.Scheme{Type: "apiKey", In: "header", Name: "X-" + b.name}
}
func (b byHeader) Authenticate(x *exchange.Exchange) (*auth.Principal, error) {
	switch who := x.Header.Get("X-" + b.name); who {
	case "":
		return nil, nil
	case "bad":
		return nil, b.fails
	case "empty":
		return &auth.Principal{}, nil
	case "system":
		return &auth.Principal{Subject: "x", Scheme: "system"}, nil
	default:
		return &auth.Principal{Subject: who, Claims: b.claims}, nil
	}
}

func TestTheFirstAuthenticatorThatKnowsTheCallerDecides(t *testing.T) {
	filter := auth.Filter(byHeader{name: "one"}, byHeader{name: "two"})
	for _, c := range []struct {
		headers []string
		want    string
	}{
		{[]string{"X-One", "ada"}, "one:ada"},
		{[]string{"X-Two", "bob"}, "two:bob"},
		{[]string{"X-Two", "bob", "X-One", "ada"}, "one:ada"},
	} {
		x := request(c.headers...)
		if err := filter.Before(x); err != nil {
			t.Fatal(err)
		}
		if p, _ := auth.Of(x); p.Scheme+":"+p.Subject != c.want {
			t.Errorf("%v: got %+v, want %s", c.headers, p, c.want)
		}
	}
}

func TestWrongCredentialsEndTheRequestWithoutAskingOthers(t *testing.T) {
	secret := errors.New("the password is hunter2")
	for _, filter := range []exchange.Filter{
		auth.Filter(byHeader{name: "one", fails: secret}, byHeader{name: "two"}),
		auth.Optional(byHeader{name: "one", fails: secret}, byHeader{name: "two"}),
	} {
		x := request("X-One", "bad", "X-Two", "bob")
		err := filter.Before(x)
		if !errors.Is(err, auth.ErrBadCredentials) || sabir.AsError(err).HTTPStatus() != 401 {
			t.Errorf("got %v", err)
		}
		if strings.Contains(err.Error(), "hunter2") || !errors.Is(err, secret) {
			t.Errorf("the cause must be kept and not shown: %v", err)
		}
		if !x.Answer.Has("WWW-Authenticate") || x.Principal != nil {
			t.Error("there is no challenge, or a caller")
		}
	}
}

func TestAnErrorOfAnotherClassIsTheAnswerAsItIs(t *testing.T) {
	x := request("X-One", "bad")
	err := auth.Filter(byHeader{name: "one", fails: sabir.NewError(sabir.CodeUnavailable, "KeysUnreachable", "")}).Before(x)
	if !errors.Is(err, sabir.NewError(sabir.CodeUnavailable, "KeysUnreachable", "")) || x.Answer.Has("WWW-Authenticate") {
		t.Errorf("got %v", err)
	}
	if err := auth.Filter(byHeader{name: "one", fails: context.Canceled}).Before(request("X-One", "bad")); !errors.Is(err, sabir.ErrCanceled) {
		t.Errorf("a caller who gave up gets %v", err)
	}
}

func TestWithoutCredentialsFilterRefusesAndOptionalLetsPass(t *testing.T) {
	x := request()
	if err := auth.Filter(byHeader{name: "one"}).Before(x); !errors.Is(err, auth.ErrNotSignedIn) {
		t.Errorf("got %v", err)
	}
	x = request()
	if err := auth.Optional(byHeader{name: "one"}).Before(x); err != nil || x.Principal != nil {
		t.Errorf("got %v, %v", err, x.Principal)
	}
}

func TestOptionalRefusesAnAuthorizationThatNoAuthenticatorReads(t *testing.T) {
	for _, value := range []string{"Bearer nonsense", "Digest x", "", "Basic"} {
		if err := auth.Optional(byHeader{name: "one"}).Before(request("Authorization", value)); !errors.Is(err, auth.ErrBadCredentials) {
			t.Errorf("%q: got %v", value, err)
		}
	}
}

func TestACallerThatTheExchangeHadBeforeIsForgotten(t *testing.T) {
	x := request()
	x.Principal = &ada
	if err := auth.Optional(byHeader{name: "one"}).Before(x); err != nil || x.Principal != nil {
		t.Errorf("got %v, %v", err, x.Principal)
	}
}

func TestEveryWayToSignInIsNamed(t *testing.T) {
	x := request()
	filter := auth.Filter(auth.JWT(auth.JWTConfig{Secret: make([]byte, 32)}), auth.Basic(auth.BasicConfig{Check: auth.Users(nil)}), auth.Key(auth.KeyConfig{Keys: map[string]auth.Principal{strings.Repeat("k", 16): {Subject: "x"}}}),
		auth.Session(auth.SessionConfig{Secret: make([]byte, 32)}), auth.Certificate(nil))
	if err := filter.Before(x); !errors.Is(err, auth.ErrNotSignedIn) {
		t.Fatal(err)
	}
	want := []string{`Bearer realm="sabir"`, `Basic realm="sabir", charset="UTF-8"`, `ApiKey realm="sabir", in="header", name="X-Api-Key"`,
		`Cookie realm="sabir", name="__Host-session"`, `Certificate realm="sabir"`}
	if got := slices.Collect(x.Answer.All("WWW-Authenticate")); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestAnActionThatDemandsACallerHasTheChallengeToo(t *testing.T) {
	filter := auth.Optional(auth.JWT(auth.JWTConfig{Secret: make([]byte, 32)}))
	for status, want := range map[int]bool{401: true, 403: false, 200: false, 0: false} {
		x := request()
		x.Status = status
		if filter.After(x); x.Answer.Has("WWW-Authenticate") != want {
			t.Errorf("status %d: challenge %v", status, !want)
		}
	}
}

func TestAnAuthenticatorCannotMakeTheSystemOrAnEmptyPrincipal(t *testing.T) {
	for _, who := range []string{"system", "empty"} {
		x := request("X-One", who)
		if err := auth.Filter(byHeader{name: "one"}).Before(x); sabir.AsError(err).Name != "AuthMisconfigured" || x.Principal != nil {
			t.Errorf("%s: got %v, %v", who, err, x.Principal)
		}
	}
	if err := auth.Filter(byHeader{name: "one", claims: map[string]any{"f": func() {}}}).Before(request("X-One", "ada")); sabir.AsError(err).Name != "AuthMisconfigured" {
		t.Errorf("claims without a JSON form: %v", err)
	}
}

func TestUnsoundSettingsRefuseEveryCaller(t *testing.T) {
	key := strings.Repeat("k", 16)
	for want, a := range map[string]auth.Authenticator{
		"31 bytes":              auth.JWT(auth.JWTConfig{Secret: make([]byte, 31)}),
		"no key":                auth.JWT(auth.JWTConfig{}),
		"no algorithm":          auth.JWT(auth.JWTConfig{Secret: make([]byte, 32), Algorithms: []string{"none"}}),
		"Leeway":                auth.JWT(auth.JWTConfig{Secret: make([]byte, 32), Leeway: -2}),
		"exclude each other":    auth.JWT(auth.JWTConfig{Secret: make([]byte, 32), AnyAudience: true, Audiences: []string{"x"}}),
		"want https":            auth.JWT(auth.JWTConfig{JWKS: "http://example.com/keys"}),
		"want a URL":            auth.JWT(auth.JWTConfig{JWKS: "keys.json"}),
		"no keys":               auth.Key(auth.KeyConfig{}),
		"want 16 to":            auth.Key(auth.KeyConfig{Keys: map[string]auth.Principal{"short": {Subject: "x"}}}),
		"without a subject":     auth.Key(auth.KeyConfig{Keys: map[string]auth.Principal{key: {}}}),
		"is reserved":           auth.Key(auth.KeyConfig{Keys: map[string]auth.Principal{key: {Subject: "x", Scheme: "system"}}}),
		"what HashAPIKey makes": auth.Key(auth.KeyConfig{Keys: map[string]auth.Principal{"sha256:abc": {Subject: "x"}}}),
		"there is Bearer":       auth.Key(auth.KeyConfig{Keys: map[string]auth.Principal{key: {Subject: "x"}}, Header: "Authorization"}),
		"Header and Bearer":     auth.Key(auth.KeyConfig{Keys: map[string]auth.Principal{key: {Subject: "x"}}, Header: "X-Key", Bearer: true}),
		"Check is nil":          auth.Basic(auth.BasicConfig{}),
		"MaxChecks is -1":       auth.Basic(auth.BasicConfig{Check: auth.Users(nil), MaxChecks: -1}),
		"Remember is 1h0m0s":    auth.Basic(auth.BasicConfig{Check: auth.Users(nil), Remember: 3600e9}),
		"a secret of 5 bytes":   auth.Session(auth.SessionConfig{Secret: []byte("short")}),
		"a secret of 6 bytes":   auth.Session(auth.SessionConfig{Secret: make([]byte, 32), PreviousSecrets: [][]byte{[]byte("short6")}}),
		"want the former":       auth.Session(auth.SessionConfig{Secret: make([]byte, 32), Idle: 2e9, Lifetime: 1e9}),
		"CookieName":            auth.Session(auth.SessionConfig{Secret: make([]byte, 32), CookieName: "a b"}),
		"Lifetime is 1ns":       auth.Session(auth.SessionConfig{Secret: make([]byte, 32), Lifetime: 1}),
	} {
		if err := auth.Check(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		err := auth.Optional(a).Before(request())
		if sabir.AsError(err).Name != "AuthMisconfigured" || strings.Contains(err.Error(), want) {
			t.Errorf("%s: the caller gets %v", want, err)
		}
	}
	if err := auth.Filter().Before(request()); sabir.AsError(err).Name != "AuthMisconfigured" {
		t.Errorf("a filter without authenticators: %v", err)
	}
}

func TestARefusalSaysWhatToSend(t *testing.T) {
	tokens := auth.JWT(auth.JWTConfig{Secret: []byte("0123456789-0123456789-0123456789")})
	passwords := auth.Basic(auth.BasicConfig{Check: func(context.Context, string, string) (*auth.Principal, error) { return nil, nil }})
	for _, c := range []struct {
		filter  exchange.Filter
		headers []string
		want    string
	}{
		{auth.Filter(tokens), nil, `none came with the call: send the header "Authorization: Bearer <token>"`},
		{auth.Filter(byHeader{name: "one"}, tokens), nil, `send the header X-one, or the header "Authorization: Bearer <token>"`},
		{auth.Filter(tokens), []string{"Authorization", "Bearer hunter2"}, "is no JSON web token: such a one has three parts"},
		{auth.Filter(tokens, passwords), []string{"Authorization", "hunter2"}, `nothing here reads the Authorization header that came: send the header "Authorization: Bearer <token>", or`},
		{auth.Filter(passwords), []string{"Authorization", "Bearer hunter2"}, `nothing here reads the Authorization header that came: send the header "Authorization: Basic `},
	} {
		err := c.filter.Before(request(c.headers...))
		if e := sabir.AsError(err); e.Code != sabir.CodeUnauthenticated || !strings.Contains(e.Message, c.want) || strings.Contains(e.Message, "hunter2") {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
