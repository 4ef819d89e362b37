package auth_test

import (
	"context"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

func benchFilter(b *testing.B, x *exchange.Exchange, want bool, filter exchange.Filter) {
	b.ReportAllocs()
	for b.Loop() {
		if err := filter.Before(x); (err == nil) != want {
			b.Fatal(err)
		}
	}
}

func benchToken(changes map[string]any) string {
	c := claims(changes)
	c["iss"], c["iat"] = "https://login.example.com", 1700000000
	return sign(hs256, secret, c, nil)
}

// BenchmarkKnownToken is a token that came before, as nearly all do.
func BenchmarkKnownToken(b *testing.B) {
	benchFilter(b, bearer(benchToken(nil)), true, auth.Filter(&auth.JWT{Secret: secret}))
}

// BenchmarkNewToken is a token that comes for the first time.
func BenchmarkNewToken(b *testing.B) {
	for name, key := range map[string]struct {
		method jwt.SigningMethod
		sign   any
		verify any
	}{"HS256": {hs256, secret, secret}, "RS256": {jwt.SigningMethodRS256, rsaKey(), &rsaKey().PublicKey}, "ES256": {jwt.SigningMethodES256, p256(), &p256().PublicKey},
		"EdDSA": {jwt.SigningMethodEdDSA, edwards(), edwards().Public()}} {
		b.Run(name, func(b *testing.B) {
			tokens := make([]*exchange.Exchange, 2000)
			for i := range tokens {
				tokens[i] = bearer(sign(key.method, key.sign, claims(map[string]any{"jti": i}), nil))
			}
			var a auth.Authenticator
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n%len(tokens) == 0 {
					a = &auth.JWT{Keys: []auth.TokenKey{{Key: key.verify}}}
				}
				if _, err := a.Authenticate(tokens[n%len(tokens)]); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
	}
}

func BenchmarkKey(b *testing.B) {
	benchFilter(b, request("X-Api-Key", backupKey), true, auth.Filter(&auth.Key{Keys: map[string]auth.Principal{backupKey: {Subject: "backup"}}}))
}

func BenchmarkKnownPassword(b *testing.B) {
	benchFilter(b, basic("ada", "pw"), true, auth.Filter(&auth.Basic{Check: func(_ context.Context, name, _ string) (*auth.Principal, error) {
		return &auth.Principal{Subject: name}, nil
	}}))
}

func BenchmarkKnownSession(b *testing.B) {
	s := auth.Session(auth.SessionConfig{Secret: sessionSecret})
	x := request()
	if err := s.SignIn(x, ada); err != nil {
		b.Fatal(err)
	}
	pair, _, _ := strings.Cut(x.Answer.Get("Set-Cookie"), ";")
	benchFilter(b, request("Cookie", pair), true, auth.Filter(s))
}

// BenchmarkWithoutCredentials is Optional for a request without credentials, which five authenticators are asked about.
func BenchmarkWithoutCredentials(b *testing.B) {
	benchFilter(b, request("Accept", "*/*", "User-Agent", "x"), true, auth.Optional(&auth.JWT{Secret: secret}, &auth.Key{Keys: map[string]auth.Principal{backupKey: {Subject: "x"}}},
		&auth.Basic{Check: auth.Users(nil)}, auth.Session(auth.SessionConfig{Secret: sessionSecret}), &auth.Certificate{}))
}

// BenchmarkCall is a call through a server's way, with and without Require and From.
func BenchmarkCall(b *testing.B) {
	for _, c := range []struct {
		name    string
		caller  any
		options []sabir.ActionOption
	}{
		{"nobody", nil, nil},
		{"caller", &ada, nil},
		{"caller, required", &ada, []sabir.ActionOption{sabir.Use(auth.Require("admin"))}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := sabir.NewService("who")
			sabir.Handle(s, "ami", func(ctx context.Context, _ sabir.Empty) (bool, error) {
				_, ok := auth.FromContext(ctx)
				return ok, nil
			}, c.options...)
			action := start(b, sabir.Serve(s)).Action("who.ami")
			x := request("X-Api-Key", backupKey)
			if c.caller != nil {
				if err := auth.Filter(&auth.Key{Keys: map[string]auth.Principal{backupKey: ada}}).Before(x); err != nil {
					b.Fatal(err)
				}
			}
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				in := gateway.Inbound{Context: context.Background()}
				in.Context, in.Metadata = auth.Inbound(x, in.Context, in.Metadata)
				var err error
				if out, err = action.ServeJSON(in, out[:0], nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFrom measures the cost for a handler, here and where the principal came over a link.
func BenchmarkFrom(b *testing.B) {
	here := auth.As(context.Background(), ada)
	for name, ctx := range map[string]context.Context{"here": here, "elsewhere": sabir.WithMetadata(context.Background(), auth.MetadataKey, sabir.InfoFromContext(here).Metadata[auth.MetadataKey])} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := auth.FromContext(ctx); !ok {
					b.Fatal("nobody")
				}
			}
		})
	}
}
