package redissessions_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/principal"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/auth/redissessions"
	"github.com/sabir-go/sabir/web/exchange"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }

func open(t *testing.T, config redissessions.Config) *redissessions.Store {
	t.Helper()
	config.Name, config.Log = "test", slog.New(slog.DiscardHandler)
	s, err := redissessions.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// node is the sessions of one node.
func node(t *testing.T, server *brokers.Server) *auth.Sessions {
	t.Helper()
	return auth.Session(auth.SessionConfig{Secret: []byte(strings.Repeat("s", 32)), Store: open(t, redissessions.Config{URL: server.URL(), Timeout: time.Minute})})
}

func request(cookie string) *exchange.Exchange {
	x := &exchange.Exchange{Context: context.Background(), Method: "POST", Path: "/", Host: "api.example.com"}
	if cookie != "" {
		x.Header.Add("Cookie", cookie)
	}
	return x
}

// signIn returns the cookie of a new session.
func signIn(t *testing.T, s *auth.Sessions, subject string) string {
	t.Helper()
	x := request("")
	if err := s.SignIn(x, auth.Principal{Subject: subject}); err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(x.Answer.All("Set-Cookie"))
	cookie, err := http.ParseSetCookie(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	return cookie.Name + "=" + cookie.Value
}

// who is the subject that a request with the cookie is made for; "" for nobody.
func who(s *auth.Sessions, cookie string) (string, error) {
	x := request(cookie)
	if err := principal.Filter([]auth.Authenticator{s}, true).Before(x); err != nil {
		return "", err
	}
	p, _ := x.Principal.(*auth.Principal)
	if p == nil {
		return "", nil
	}
	return p.Subject, nil
}

func want(t *testing.T, s *auth.Sessions, cookie, subject string) {
	t.Helper()
	if got, err := who(s, cookie); err != nil || got != subject {
		t.Errorf("the caller is %q, %v, want %q", got, err, subject)
	}
}

func TestASessionThatOneNodeEndsIsRefusedByAnother(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	a, b := node(t, server), node(t, server)
	first, second, bob := signIn(t, a, "ada"), signIn(t, b, "ada"), signIn(t, b, "bob")
	for _, cookie := range []string{first, second} {
		want(t, a, cookie, "ada")
		want(t, b, cookie, "ada")
	}
	if err := b.SignOut(request(first)); err != nil {
		t.Fatal(err)
	}
	want(t, a, first, "")
	want(t, b, first, "")
	want(t, a, second, "ada")
	if err := a.SignOutEverywhere(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	want(t, b, second, "")
	want(t, b, bob, "bob")
	want(t, b, signIn(t, a, "ada"), "ada")
}

func TestNobodyIsSignedInWhileRedisIsGoneAndAllAreAgainWhenItIsBack(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis, brokers.Config{Sync: true})
	s := node(t, server)
	cookie, ended := signIn(t, s, "ada"), signIn(t, s, "ada")
	if err := s.SignOut(request(ended)); err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got, err := who(s, cookie); !errors.Is(err, sabir.NewError(sabir.CodeUnavailable, "SessionsUnreachable", "")) {
			t.Errorf("the caller is %q, %v", got, err)
		}
	}
	if err := s.SignOutEverywhere(t.Context(), "ada"); !errors.Is(err, sabir.NewError(sabir.CodeUnavailable, "SessionsUnreachable", "")) {
		t.Errorf("SignOutEverywhere: %v", err)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the caller is known again", func() bool { got, err := who(s, cookie); return err == nil && got == "ada" })
	want(t, s, ended, "")
}

func TestAStoreIsMadeBeforeRedisIsThere(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	s := node(t, server)
	if err := s.SignIn(request(""), auth.Principal{Subject: "ada"}); !errors.Is(err, sabir.NewError(sabir.CodeUnavailable, "SessionsUnreachable", "")) {
		t.Errorf("SignIn: %v", err)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "somebody can sign in", func() bool { return s.SignIn(request(""), auth.Principal{Subject: "ada"}) == nil })
}

func TestAFirstRequestWhoseClientHasGoneKeepsNoOthersFromTheStore(t *testing.T) {
	s := open(t, redissessions.Config{URL: brokers.ForTest(t, brokers.Redis).URL(), Timeout: time.Minute})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = s.Use(gone, "ada", "1", time.Time{})
	if _, err := s.Use(t.Context(), "ada", "1", time.Time{}); err != nil {
		t.Error(err)
	}
}

func TestASessionEndsInTheStoreAndCanBeProlonged(t *testing.T) {
	s, ctx := open(t, redissessions.Config{URL: brokers.ForTest(t, brokers.Redis).URL(), Timeout: time.Minute}), t.Context()
	use := func(id string, prolong time.Time) bool {
		t.Helper()
		there, err := s.Use(ctx, "ada", id, prolong)
		if err != nil {
			t.Fatal(err)
		}
		return there
	}
	for id, ends := range map[string]time.Time{"past": time.Now().Add(-time.Second), "soon": time.Now().Add(time.Minute)} {
		if err := s.Begin(ctx, "ada", id, ends); err != nil {
			t.Fatal(err)
		}
	}
	hour := time.Now().Add(time.Hour)
	if use("past", time.Time{}) || use("past", hour) || use("past", time.Time{}) || use("unknown", hour) {
		t.Error("a session that has ended, or never was, is there")
	}
	if !use("soon", time.Time{}) || !use("soon", hour) || !use("soon", time.Time{}) {
		t.Error("the session is not there")
	}
	if err := s.End(ctx, "ada", "soon"); err != nil {
		t.Fatal(err)
	}
	if use("soon", hour) || use("soon", time.Time{}) {
		t.Error("a session that was ended came back by being prolonged")
	}
}

func TestASessionThatRedisCannotProlongGoesOnUntilItsEnd(t *testing.T) {
	for name, fault := range map[string][]string{
		"too few replicas": {"CONFIG", "SET", "min-replicas-to-write", "1"},
		"a replica":        {"REPLICAOF", "127.0.0.1", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			server := brokers.ForTest(t, brokers.Redis)
			s, ctx := open(t, redissessions.Config{URL: server.URL(), Timeout: time.Minute}), t.Context()
			if err := errors.Join(s.Begin(ctx, "ada", "1", time.Now().Add(time.Minute)), s.Begin(ctx, "ada", "past", time.Now().Add(-time.Minute))); err != nil {
				t.Fatal(err)
			}
			client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr()}, DisableCache: true})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if err := client.Do(ctx, client.B().Arbitrary(fault...).Build()).Error(); err != nil {
				t.Fatal(err)
			}
			if there, err := s.Use(ctx, "ada", "1", time.Now().Add(time.Hour)); !there || err == nil {
				t.Errorf("a session that goes on: %t, %v, want it there with the error of what was not done", there, err)
			}
			if there, err := s.Use(ctx, "ada", "past", time.Now().Add(time.Hour)); there {
				t.Errorf("a session that has ended is there, %v", err)
			}
		})
	}
}

func TestASubjectHasNoMoreSessionsThanItMay(t *testing.T) {
	s, ctx := open(t, redissessions.Config{URL: brokers.ForTest(t, brokers.Redis).URL(), Timeout: time.Minute, MaxSessions: 3}), t.Context()
	for i := range 10 {
		if err := s.Begin(ctx, "ada", fmt.Sprint(i), time.Now().Add(time.Hour+time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	var there []int
	for i := range 10 {
		if ok, err := s.Use(ctx, "ada", fmt.Sprint(i), time.Time{}); err != nil {
			t.Fatal(err)
		} else if ok {
			there = append(there, i)
		}
	}
	if !slices.Equal(there, []int{7, 8, 9}) {
		t.Errorf("there are %v", there)
	}
}

func TestAUserWithTheRightsOfThePageIsEnough(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis, brokers.Config{Extra: "user app on >secret ~{test}:* -@all +hello +client +select +ping +zadd +zrem +zscore +zcard +zremrangebyscore +zremrangebyrank +zrevrange +pexpireat +del +eval +evalsha\n"})
	s, ctx := open(t, redissessions.Config{URL: "redis://app:secret@" + server.Addr(), Timeout: time.Minute}), t.Context()
	if err := s.Begin(ctx, "ada", "1", time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if there, err := s.Use(ctx, "ada", "1", time.Now().Add(time.Hour)); err != nil || !there {
		t.Error(there, err)
	}
	if err := errors.Join(s.End(ctx, "ada", "1"), s.EndAll(ctx, "ada")); err != nil {
		t.Error(err)
	}
}

func TestManyRequestsShareOneConnection(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	s := node(t, server)
	cookie := signIn(t, s, "ada")
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 20 {
				if got, err := who(s, cookie); err != nil || got != "ada" {
					t.Errorf("the caller is %q, %v", got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	for about, config := range map[string]redissessions.Config{
		"no name":            {URL: "redis://127.0.0.1"},
		"a bad name":         {URL: "redis://127.0.0.1", Name: "a b"},
		"another scheme":     {URL: "nats://127.0.0.1", Name: "a"},
		"no address":         {Name: "a"},
		"a short time":       {URL: "redis://127.0.0.1", Name: "a", Timeout: 1},
		"sessions below 0":   {URL: "redis://127.0.0.1", Name: "a", MaxSessions: -1},
		"a bad port":         {URL: "redis://127.0.0.1:x", Name: "a"},
		"TLS without rediss": {URL: "redis://127.0.0.1/x", Name: "a"},
	} {
		if s, err := redissessions.Open(config); err == nil {
			s.Close()
			t.Errorf("%s: no error", about)
		}
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	clock := time.NewTicker(10 * time.Millisecond)
	defer clock.Stop()
	for end := time.After(time.Minute); !ok(); {
		select {
		case <-clock.C:
		case <-end:
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
