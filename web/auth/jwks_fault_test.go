package auth_test

import (
	"errors"
	"net/http"
	"runtime"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
)

// faulty is a transport that does not return.
type faulty func()

func (f faulty) RoundTrip(*http.Request) (*http.Response, error) {
	f()
	return nil, errors.New("it came back")
}

func TestAFetchOfKeysThatFailsIsTheErrorOfTheRequestsThatWaitForIt(t *testing.T) {
	for name, fault := range map[string]faulty{"a panic": func() { panic("swordfish") }, "the end of the goroutine": func() { runtime.Goexit() }} {
		t.Run(name, func(t *testing.T) {
			keys := &auth.JWT{JWKS: "https://login.example/keys", Client: &http.Client{Transport: fault}}
			token := sign(jwt.SigningMethodRS256, rsaKey(), claims(nil), nil)
			refused(t, keys, bearer(token), sabir.NewError(sabir.CodeUnavailable, "KeysUnreachable", ""))
		})
	}
}
