package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/web/auth"
)

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// webKey is a public key as a JSON web key, with changes; a nil value removes a member.
func webKey(kid string, public any, changes map[string]any) map[string]any {
	k := map[string]any{"kid": kid}
	switch public := public.(type) {
	case *rsa.PublicKey:
		k["kty"], k["n"], k["e"] = "RSA", b64(public.N.Bytes()), b64(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		point := must(public.Bytes())[1:]
		k["kty"], k["crv"], k["x"], k["y"] = "EC", public.Curve.Params().Name, b64(point[:len(point)/2]), b64(point[len(point)/2:])
	case ed25519.PublicKey:
		k["kty"], k["crv"], k["x"] = "OKP", "Ed25519", b64(public)
	case []byte:
		k["kty"], k["k"] = "oct", b64(public)
	}
	for name, value := range changes {
		if k[name] = value; value == nil {
			delete(k, name)
		}
	}
	return k
}

func keySet(keys ...map[string]any) string {
	return string(must(json.Marshal(map[string]any{"keys": keys})))
}

// login is a server of keys, without a network.
type login struct {
	answer  func() (int, string)
	fetches atomic.Int32
}

func (l *login) RoundTrip(r *http.Request) (*http.Response, error) {
	l.fetches.Add(1)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	code, body := l.answer()
	if code == 0 {
		return nil, errors.New("connection refused by login.example.com")
	}
	answer := &http.Response{StatusCode: code, Status: http.StatusText(code), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
	if code == http.StatusFound {
		answer.Header.Set("Location", body)
	}
	return answer, nil
}

func (l *login) jwt() auth.Authenticator {
	return &auth.JWT{JWKS: "https://login.example.com/keys", Client: &http.Client{Transport: l}}
}

func serving(set string) *login { return &login{answer: func() (int, string) { return 200, set }} }

func signedBy(kid string, method jwt.SigningMethod, key any) string {
	header := map[string]any{}
	if kid != "" {
		header["kid"] = kid
	}
	return sign(method, key, claims(nil), header)
}

func TestKeysAreFetchedOnce(t *testing.T) {
	l := serving(keySet(webKey("r", &rsaKey().PublicKey, nil), webKey("e", &p256().PublicKey, map[string]any{"use": "sig", "alg": "ES256"}), webKey("d", edwards().Public(), map[string]any{"key_ops": []string{"verify"}}),
		webKey("f", &p384().PublicKey, nil), webKey("g", &p521().PublicKey, nil)))
	a := l.jwt()
	for _, token := range []string{signedBy("r", jwt.SigningMethodRS256, rsaKey()), signedBy("r", jwt.SigningMethodPS512, rsaKey()), signedBy("e", jwt.SigningMethodES256, p256()),
		signedBy("d", jwt.SigningMethodEdDSA, edwards()), signedBy("f", jwt.SigningMethodES384, p384()), signedBy("g", jwt.SigningMethodES512, p521())} {
		admitted(t, a, bearer(token))
		admitted(t, a, bearer(token))
	}
	if n := l.fetches.Load(); n != 1 {
		t.Errorf("fetched %d times", n)
	}
}

func TestKeysThatAreNotForCheckingAreIgnored(t *testing.T) {
	good := webKey("good", &p256().PublicKey, nil)
	for what, key := range map[string]map[string]any{
		"encryption":          webKey("k", &p384().PublicKey, map[string]any{"use": "enc"}),
		"signing only":        webKey("k", &p384().PublicKey, map[string]any{"key_ops": []string{"sign"}}),
		"another algorithm":   webKey("k", &p384().PublicKey, map[string]any{"alg": "ES256"}),
		"another curve":       webKey("k", &p384().PublicKey, map[string]any{"crv": "P-521"}),
		"not on the curve":    webKey("k", &p384().PublicKey, map[string]any{"y": b64(make([]byte, 48))}),
		"short coordinate":    webKey("k", &p384().PublicKey, map[string]any{"x": "AA"}),
		"bad base64":          webKey("k", &p384().PublicKey, map[string]any{"x": "=="}),
		"another type":        webKey("k", &p384().PublicKey, map[string]any{"kty": "XX"}),
		"a type of a type":    webKey("k", &p384().PublicKey, map[string]any{"kty": 1}),
		"no key, but a value": {"kid": 1},
	} {
		a := serving(keySet(key, good)).jwt()
		admitted(t, a, bearer(signedBy("good", jwt.SigningMethodES256, p256())))
		if e := refused(t, a, bearer(signedBy("k", jwt.SigningMethodES384, p384())), auth.ErrBadCredentials); e == nil {
			t.Error(what)
		}
	}
}

func TestASecretFromAURLIsNoKey(t *testing.T) {
	a := serving(keySet(webKey("s", secret, nil), webKey("good", &p256().PublicKey, nil))).jwt()
	refused(t, a, bearer(signedBy("s", hs256, secret)), auth.ErrBadCredentials)
	a = serving(keySet(webKey("s", secret, nil))).jwt()
	refused(t, a, bearer(signedBy("s", hs256, secret)), sabir.NewError(sabir.CodeUnavailable, "KeysUnreachable", ""))
}

func TestATokenWithoutAKeyIDIsForTheOnlyKey(t *testing.T) {
	one, two := webKey("a", &p256().PublicKey, nil), webKey("b", &p384().PublicKey, nil)
	admitted(t, serving(keySet(one)).jwt(), bearer(signedBy("", jwt.SigningMethodES256, p256())))
	refused(t, serving(keySet(one, two)).jwt(), bearer(signedBy("", jwt.SigningMethodES256, p256())), auth.ErrBadCredentials)
}

func TestWhileThereAreNoKeysTheAnswerIsTryAgain(t *testing.T) {
	many := make([]map[string]any, 101)
	for i := range many {
		many[i] = webKey("k", &p256().PublicKey, nil)
	}
	for what, l := range map[string]*login{
		"unreachable":       {answer: func() (int, string) { return 0, "" }},
		"an error":          {answer: func() (int, string) { return 500, keySet(webKey("e", &p256().PublicKey, nil)) }},
		"no JSON":           serving("<html>"),
		"no keys":           serving(keySet()),
		"too many keys":     serving(keySet(many...)),
		"too large":         serving(`{"keys":[],"x":"` + strings.Repeat("x", 512<<10) + `"}`),
		"redirect to http":  {answer: func() (int, string) { return 302, "http://login.example.com/keys" }},
		"redirect for ever": {answer: func() (int, string) { return 302, "https://login.example.com/keys" }},
	} {
		e := refused(t, l.jwt(), bearer(signedBy("e", jwt.SigningMethodES256, p256())), sabir.NewError(sabir.CodeUnavailable, "KeysUnreachable", ""))
		if !e.Retryable || e.HTTPStatus() != 503 || strings.Contains(e.Message, "login.example.com") {
			t.Errorf("%s: got %+v", what, e)
		}
		if l.fetches.Load() > 5 {
			t.Errorf("%s: fetched %d times", what, l.fetches.Load())
		}
	}
}

func TestANewKeyIsFoundAtOnceAndAnUnknownOneIsNotAskedForAgainAndAgain(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		set := keySet(webKey("e", &p256().PublicKey, nil))
		l := &login{answer: func() (int, string) { return 200, set }}
		a := l.jwt()
		admitted(t, a, bearer(signedBy("e", jwt.SigningMethodES256, p256())))
		set = keySet(webKey("e", &p256().PublicKey, nil), webKey("f", &p384().PublicKey, nil))
		time.Sleep(time.Millisecond) // or the first fetch could have seen it
		began := time.Now()
		admitted(t, a, bearer(signedBy("f", jwt.SigningMethodES384, p384())))
		if n, took := l.fetches.Load(), time.Since(began); n != 2 || took > time.Second {
			t.Errorf("fetched %d times, in %v", n, took)
		}
		time.Sleep(time.Millisecond)
		began = time.Now()
		for range 50 {
			refused(t, a, bearer(signedBy("g", jwt.SigningMethodES512, p521())), auth.ErrBadCredentials)
		}
		if n, took := l.fetches.Load(), time.Since(began); n != 3 || took > time.Second {
			t.Errorf("fetched %d times, in %v", n, took)
		}
		set = keySet(webKey("g", &p521().PublicKey, nil)) // signed with before it was published
		time.Sleep(30 * time.Second)
		admitted(t, a, bearer(signedBy("g", jwt.SigningMethodES512, p521())))
	})
}

func TestWhileNewKeysCannotBeFetchedATokenWithOneIsNotCalledBad(t *testing.T) {
	up := true
	l := &login{answer: func() (int, string) {
		if !up {
			return 503, ""
		}
		return 200, keySet(webKey("e", &p256().PublicKey, nil))
	}}
	bubbletest.Run(t, func(t *testing.T) {
		a := l.jwt()
		admitted(t, a, bearer(signedBy("e", jwt.SigningMethodES256, p256())))
		up = false
		time.Sleep(time.Millisecond) // or the first fetch could have seen it
		for range 50 {
			refused(t, a, bearer(signedBy("f", jwt.SigningMethodES384, p384())), sabir.NewError(sabir.CodeUnavailable, "KeysUnreachable", ""))
		}
		admitted(t, a, bearer(signedBy("e", jwt.SigningMethodES256, p256())))
		if n := l.fetches.Load(); n != 2 {
			t.Errorf("fetched %d times", n)
		}
	})
}

// An issuer takes a new key every five seconds for two minutes, signs with it at once, and withdraws the one before after a minute. A
// hundred callers go on meanwhile, and one more who makes up key ids.
func TestKeysRotateWhileAHundredCallersGoOn(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		methods := []jwt.SigningMethod{jwt.SigningMethodES256, jwt.SigningMethodES384, jwt.SigningMethodES512}
		keys := []*ecdsa.PrivateKey{p256(), p384(), p521()}
		const turns = 24
		key := func(turn int) (kid string, method jwt.SigningMethod, private *ecdsa.PrivateKey) {
			return fmt.Sprint("k", turn), methods[turn%3], keys[turn%3]
		}
		var turn atomic.Int32
		l := &login{answer: func() (int, string) {
			now := int(turn.Load())
			var set []map[string]any
			for i := max(now-12, 0); i <= now; i++ {
				kid, _, private := key(i)
				set = append(set, webKey(kid, &private.PublicKey, nil))
			}
			return 200, keySet(set...)
		}}
		a := l.jwt()
		stop := make(chan struct{})
		var good, bad atomic.Int64
		var wg sync.WaitGroup
		goOn := func(every time.Duration, call func()) {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(every):
						call()
					}
				}
			})
		}
		ask := func(token string) error { return auth.Filter(a).Before(bearer(token)) }
		tokens := make([]string, turns)
		for i := range turns {
			tokens[i] = signedBy(key(i))
		}
		for i := range 100 {
			goOn(time.Second+time.Duration(i)*time.Millisecond, func() {
				if err := ask(tokens[turn.Load()]); err != nil {
					t.Errorf("a good token is refused: %v", err)
				}
				good.Add(1)
			})
		}
		goOn(100*time.Millisecond, func() {
			n := bad.Add(1)
			if err := ask(signedBy(fmt.Sprint("made-up-", n), jwt.SigningMethodES256, p256())); !errors.Is(err, auth.ErrBadCredentials) {
				t.Errorf("a token with a key that there is not: %v", err)
			}
			kid, _, _ := key(int(turn.Load()))
			if err := ask(signedBy(kid, jwt.SigningMethodEdDSA, edwards())); !errors.Is(err, auth.ErrBadCredentials) {
				t.Errorf("a token with another's key: %v", err)
			}
		})
		began := time.Now()
		for range turns - 1 {
			time.Sleep(5 * time.Second)
			turn.Add(1)
		}
		close(stop)
		wg.Wait()
		if most := int32(time.Since(began)/time.Second) + 2; l.fetches.Load() > most {
			t.Errorf("the keys were fetched %d times, want %d at the most, one a second", l.fetches.Load(), most)
		}
		t.Logf("%d good tokens, %d bad ones, %d fetches", good.Load(), bad.Load(), l.fetches.Load())
		if err := ask(tokens[0]); !errors.Is(err, auth.ErrBadCredentials) {
			t.Errorf("a token of a key that was withdrawn: %v", err)
		}
	})
}

func TestAKeyThatIsWithdrawnStopsWorking(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		set := keySet(webKey("e", &p256().PublicKey, nil))
		l := &login{answer: func() (int, string) { return 200, set }}
		a := l.jwt()
		token := sign(jwt.SigningMethodES256, p256(), claims(map[string]any{"exp": time.Now().Add(72 * time.Hour).Unix()}), map[string]any{"kid": "e"})
		admitted(t, a, bearer(token))
		set = keySet(webKey("f", &p384().PublicKey, nil))
		time.Sleep(time.Hour)
		admitted(t, a, bearer(token)) // the old keys serve while new ones are fetched
		bubbletest.Wait()
		refused(t, a, bearer(token), auth.ErrBadCredentials)
	})
}

func TestKeysServeForADayWhileTheURLIsUnreachable(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		up := true
		l := &login{answer: func() (int, string) {
			if !up {
				return 0, ""
			}
			return 200, keySet(webKey("e", &p256().PublicKey, nil))
		}}
		a := l.jwt()
		token := sign(jwt.SigningMethodES256, p256(), claims(map[string]any{"exp": time.Now().Add(72 * time.Hour).Unix()}), map[string]any{"kid": "e"})
		admitted(t, a, bearer(token))
		up = false
		for range 23 {
			time.Sleep(time.Hour)
			admitted(t, a, bearer(token))
			bubbletest.Wait()
		}
		time.Sleep(time.Hour)
		refused(t, a, bearer(token), sabir.NewError(sabir.CodeUnavailable, "KeysUnreachable", ""))
		up = true
		time.Sleep(time.Minute)
		admitted(t, a, bearer(token))
	})
}

func TestAFetchThatHangsDoesNotHoldItsCallers(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		l := &slowLogin{}
		a := &auth.JWT{JWKS: "https://login.example.com/keys", Client: &http.Client{Transport: l}}
		x := bearer(signedBy("e", jwt.SigningMethodES256, p256()))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		x.Context = ctx
		began := time.Now()
		refused(t, a, x, sabir.NewError(sabir.CodeUnavailable, "KeysUnreachable", ""))
		if took := time.Since(began); took != time.Second {
			t.Errorf("the caller waited %v", took)
		}
		refused(t, a, bearer(signedBy("e", jwt.SigningMethodES256, p256())), sabir.NewError(sabir.CodeUnavailable, "KeysUnreachable", ""))
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("the fetch took %v", took)
		}
		if n := l.fetches.Load(); n != 1 {
			t.Errorf("fetched %d times", n)
		}
	})
}

// slowLogin answers when the request is cancelled.
type slowLogin struct{ fetches atomic.Int32 }

func (l *slowLogin) RoundTrip(r *http.Request) (*http.Response, error) {
	l.fetches.Add(1)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestAFetchThatFailedIsTriedAgainOverAnotherConnection(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		l := &login{answer: func() (int, string) { return 200, keySet(webKey("e", &p256().PublicKey, nil)) }}
		a := &auth.JWT{JWKS: "https://login.example.com/keys", Client: &http.Client{Transport: &deadConnection{next: l}}}
		token := signedBy("e", jwt.SigningMethodES256, p256())
		refused(t, a, bearer(token), sabir.NewError(sabir.CodeUnavailable, "KeysUnreachable", ""))
		time.Sleep(time.Minute)
		admitted(t, a, bearer(token))
	})
}

// deadConnection answers nothing until it is left, as a connection of HTTP/2 does after a failover.
type deadConnection struct {
	left atomic.Bool
	next http.RoundTripper
}

func (d *deadConnection) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.left.Load() {
		return d.next.RoundTrip(r)
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func (d *deadConnection) CloseIdleConnections() { d.left.Store(true) }
