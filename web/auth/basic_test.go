package auth_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

func basic(name, password string) *exchange.Exchange {
	return request("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(name+":"+password)))
}

func TestANameAndItsPassword(t *testing.T) {
	a := &auth.Basic{Check: auth.Users(map[string]auth.User{"ada": {Hash: must(auth.HashPassword("p:ä ß")), Roles: []string{"admin"}}})}
	if p := admitted(t, a, basic("ada", "p:ä ß")); p.Subject != "ada" || p.Scheme != "basic" || !p.HasAny("admin") {
		t.Errorf("got %+v", p)
	}
	for _, x := range []*exchange.Exchange{basic("ada", "wrong"), basic("ada", ""), basic("bob", "nobody's"), basic("", "p:ä ß"), basic("ADA", "p:ä ß")} {
		refused(t, a, x, auth.ErrBadCredentials)
	}
}

func TestMalformedBasicCredentials(t *testing.T) {
	a := &auth.Basic{Check: func(context.Context, string, string) (*auth.Principal, error) {
		t.Error("the check was asked")
		return nil, nil
	}}
	for what, credentials := range map[string]string{
		"empty": "", "no base64": "ada:secret", "url alphabet": "-_-_", "no colon": base64.StdEncoding.EncodeToString([]byte("ada")),
		"control character": base64.StdEncoding.EncodeToString([]byte("ada:a\nb")), "no UTF-8": base64.StdEncoding.EncodeToString([]byte("ada:\xff")),
		"too long": base64.StdEncoding.EncodeToString([]byte("ada:" + strings.Repeat("x", 2048))),
	} {
		if e := refused(t, a, request("Authorization", "Basic "+credentials), auth.ErrBadCredentials); e == nil {
			t.Error(what)
		}
	}
}

func TestAPasswordThatWasRightIsRememberedForAWhile(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		checks := 0
		check := func(_ context.Context, name, password string) (*auth.Principal, error) {
			checks++
			if password != "right" {
				return nil, nil
			}
			return &auth.Principal{Subject: name}, nil
		}
		a := &auth.Basic{Check: check}
		for range 3 {
			admitted(t, a, basic("ada", "right"))
		}
		if checks != 1 {
			t.Errorf("checked %d times", checks)
		}
		for range 3 {
			refused(t, a, basic("ada", "wrong"), auth.ErrBadCredentials)
		}
		if checks != 4 {
			t.Errorf("wrong ones are remembered: %d checks", checks)
		}
		time.Sleep(time.Minute)
		admitted(t, a, basic("ada", "right"))
		if checks != 5 {
			t.Errorf("checked %d times after a minute", checks)
		}
		never := &auth.Basic{Check: check, Remember: -1}
		admitted(t, never, basic("ada", "right"))
		admitted(t, never, basic("ada", "right"))
		if checks != 7 {
			t.Errorf("checked %d times without remembering", checks)
		}
	})
}

func TestABoundedNumberOfPasswordsIsCheckedAtOnce(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var now, most atomic.Int32
		release := make(chan struct{})
		a := &auth.Basic{Check: func(_ context.Context, name, _ string) (*auth.Principal, error) {
			n := now.Add(1)
			defer now.Add(-1)
			if n > most.Load() {
				most.Store(n)
			}
			<-release
			return &auth.Principal{Subject: name}, nil
		}, MaxChecks: 2, Remember: -1}
		var wg sync.WaitGroup
		var good, tooMany atomic.Int32
		for range 150 {
			wg.Go(func() {
				switch err := auth.Filter(a).Before(basic("ada", "x")); {
				case err == nil:
					good.Add(1)
				case errors.Is(err, sabir.NewError(sabir.CodeResourceExhausted, "TooManyChecks", "")) && sabir.AsError(err).HTTPStatus() == 429:
					tooMany.Add(1)
				}
			})
		}
		bubbletest.Wait()
		if tooMany.Load() != 48 {
			t.Errorf("%d were refused, want all but 2 that are checked and 100 that wait", tooMany.Load())
		}
		close(release)
		wg.Wait()
		if good.Load() != 102 || most.Load() != 2 {
			t.Errorf("%d were good, at most %d at once", good.Load(), most.Load())
		}
	})
}

func TestACallerThatCancelsDoesNotWaitForAPasswordCheck(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		release := make(chan struct{})
		a := &auth.Basic{Check: func(_ context.Context, name, _ string) (*auth.Principal, error) {
			<-release
			return &auth.Principal{Subject: name}, nil
		}, MaxChecks: 1}
		done := make(chan error)
		go func() { done <- auth.Filter(a).Before(basic("ada", "x")) }()
		bubbletest.Wait()
		x := basic("bob", "x")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		x.Context = ctx
		if err := auth.Filter(a).Before(x); !errors.Is(err, sabir.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		close(release)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestPasswordHashes(t *testing.T) {
	hash := must(auth.HashPassword("secret"))
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || hash == must(auth.HashPassword("secret")) {
		t.Errorf("got %s", hash)
	}
	bcryptHash := string(must(bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)))
	for _, c := range []struct {
		hash, password string
		want           bool
	}{
		{hash, "secret", true}, {hash, "Secret", false}, {hash, "", false}, {hash, "secret ", false},
		{"$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$bBwnUWPsrS6f5CQbpYPQvEkkuBLTWpDm6yhkxOFNYIA", "password", false},
		{"", "secret", false}, {"secret", "secret", false}, {"$2a$", "secret", false}, {bcryptHash, "secret", true}, {bcryptHash, "wrong", false},
		{strings.Replace(hash, "m=19456", "m=999999999", 1), "secret", false},
		{strings.Replace(hash, "t=2", "t=0", 1), "secret", false},
		{strings.Replace(hash, "t=2", "t=99999", 1), "secret", false},
		{strings.Replace(hash, "p=1", "p=0", 1), "secret", false},
		{strings.Replace(hash, "v=19", "v=16", 1), "secret", false},
		{strings.Replace(hash, "argon2id", "argon2i", 1), "secret", false},
		{hash + "$", "secret", false},
	} {
		if got := auth.CheckPassword(c.hash, c.password); got != c.want {
			t.Errorf("%s with %q: %v", c.hash, c.password, got)
		}
	}
	for _, password := range []string{"", strings.Repeat("x", 1025)} {
		if _, err := auth.HashPassword(password); err == nil {
			t.Errorf("a password of %d bytes is taken", len(password))
		}
	}
}
