package auth_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
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
func (b byHeader) Scheme() exchange.Scheme {
	return exchange.Scheme{Type: "apiKey", In: "header", Name: "X-" + b.name}
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
	filter := auth.Filter(&auth.JWT{Secret: make([]byte, 32)}, &auth.Basic{Check: auth.Users(nil)}, &auth.Key{Keys: map[string]auth.Principal{strings.Repeat("k", 16): {Subject: "x"}}},
		auth.Session(auth.SessionConfig{Secret: make([]byte, 32)}), &auth.Certificate{})
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
	filter := auth.Optional(&auth.JWT{Secret: make([]byte, 32)})
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
		"31 bytes":              &auth.JWT{Secret: make([]byte, 31)},
		"no key":                &auth.JWT{},
		"no algorithm":          &auth.JWT{Secret: make([]byte, 32), Algorithms: []string{"none"}},
		"Leeway":                &auth.JWT{Secret: make([]byte, 32), Leeway: -2},
		"exclude each other":    &auth.JWT{Secret: make([]byte, 32), AnyAudience: true, Audiences: []string{"x"}},
		"want https":            &auth.JWT{JWKS: "http://example.com/keys"},
		"want a URL":            &auth.JWT{JWKS: "keys.json"},
		"no keys":               &auth.Key{},
		"want 16 to":            &auth.Key{Keys: map[string]auth.Principal{"short": {Subject: "x"}}},
		"without a subject":     &auth.Key{Keys: map[string]auth.Principal{key: {}}},
		"is reserved":           &auth.Key{Keys: map[string]auth.Principal{key: {Subject: "x", Scheme: "system"}}},
		"what HashAPIKey makes": &auth.Key{Keys: map[string]auth.Principal{"sha256:abc": {Subject: "x"}}},
		"there is Bearer":       &auth.Key{Keys: map[string]auth.Principal{key: {Subject: "x"}}, Header: "Authorization"},
		"Header and Bearer":     &auth.Key{Keys: map[string]auth.Principal{key: {Subject: "x"}}, Header: "X-Key", Bearer: true},
		"Check is nil":          &auth.Basic{},
		"MaxChecks is -1":       &auth.Basic{Check: auth.Users(nil), MaxChecks: -1},
		"Remember is 1h0m0s":    &auth.Basic{Check: auth.Users(nil), Remember: 3600e9},
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
	tokens := &auth.JWT{Secret: []byte("0123456789-0123456789-0123456789")}
	passwords := &auth.Basic{Check: func(context.Context, string, string) (*auth.Principal, error) { return nil, nil }}
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

// One authenticator may stand in several groups of addresses, whose first requests come at once.
func TestServersThatShareAnAuthenticatorShareWhatItRemembers(t *testing.T) {
	var checks atomic.Int32
	a := &auth.Basic{MaxChecks: 1, Check: func(_ context.Context, name, _ string) (*auth.Principal, error) {
		checks.Add(1)
		return &auth.Principal{Subject: name}, nil
	}}
	filters := []exchange.Filter{auth.Filter(a), auth.Optional(a)}
	var asked sync.WaitGroup
	for i := range 20 {
		asked.Go(func() {
			if err := filters[i%2].Before(basic(fmt.Sprint("user-", i), "password")); err != nil {
				t.Error(err)
			}
		})
	}
	asked.Wait()
	for i := range 20 {
		if err := filters[(i+1)%2].Before(basic(fmt.Sprint("user-", i), "password")); err != nil {
			t.Error(err)
		}
	}
	if n := checks.Load(); n != 20 {
		t.Errorf("20 passwords were checked %d times", n)
	}
}

func TestAnAuthenticatorInUseShowsNoSecret(t *testing.T) {
	for _, a := range []auth.Authenticator{
		&auth.JWT{Secret: secret, Keys: []auth.TokenKey{{ID: "a", Key: secret}}},
		&auth.Key{Keys: map[string]auth.Principal{string(secret): {Subject: "ada"}}},
	} {
		if err := auth.Filter(a).Before(request("Authorization", "Bearer a.b.c")); err == nil {
			t.Fatal("somebody got in")
		}
		shown := fmt.Sprintf("%v %+v %#v", a, a, a)
		for _, form := range []string{string(secret), fmt.Sprint(secret), fmt.Sprintf("%#v", secret)} {
			if strings.Contains(shown, strings.Trim(form, "[]")) {
				t.Errorf("%s shows its secret: %s", a.Name(), shown)
			}
		}
	}
}
