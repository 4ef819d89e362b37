package auth_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/principal"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// memory is a store of sessions for one process, which may be unreachable.
type memory struct {
	mu   sync.Mutex
	ends map[[2]string]time.Time
	down bool
}

func (m *memory) do(f func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return errors.New("connection refused by sessions.internal")
	}
	if m.ends == nil {
		m.ends = map[[2]string]time.Time{}
	}
	f()
	return nil
}

// readOnly is a store that can be asked and takes nothing.
type readOnly struct{ *memory }

func (r readOnly) Use(ctx context.Context, subject, id string, prolong time.Time) (bool, error) {
	there, err := r.memory.Use(ctx, subject, id, time.Time{})
	if there && !prolong.IsZero() {
		err = errors.New("the disk is full")
	}
	return there, err
}

func (m *memory) setDown(down bool) {
	m.mu.Lock()
	m.down = down
	m.mu.Unlock()
}

func (m *memory) Begin(_ context.Context, subject, id string, ends time.Time) error {
	return m.do(func() { m.ends[[2]string{subject, id}] = ends })
}

func (m *memory) Use(_ context.Context, subject, id string, prolong time.Time) (there bool, err error) {
	key := [2]string{subject, id}
	err = m.do(func() {
		if there = time.Now().Before(m.ends[key]); there && !prolong.IsZero() {
			m.ends[key] = prolong
		}
	})
	return there, err
}

func (m *memory) End(_ context.Context, subject, id string) error {
	return m.do(func() { delete(m.ends, [2]string{subject, id}) })
}

func (m *memory) EndAll(_ context.Context, subject string) error {
	return m.do(func() {
		for key := range m.ends {
			if key[0] == subject {
				delete(m.ends, key)
			}
		}
	})
}

// twoNodes are the sessions of two nodes with one store.
func twoNodes(config auth.SessionConfig) (a, b *auth.Sessions, store *memory) {
	store = new(memory)
	config.Secret, config.Store = sessionSecret, store
	return auth.Session(config), auth.Session(config), store
}

// nobody expects a request to have no principal, and its cookie to be removed.
func nobody(t *testing.T, s *auth.Sessions, x *exchange.Exchange) {
	t.Helper()
	if err := auth.Optional(s).Before(x); err != nil || x.Principal != nil {
		t.Fatalf("the caller is %v, %v", x.Principal, err)
	}
	if gone := setCookie(t, x); gone.MaxAge >= 0 {
		t.Errorf("the cookie stays: %+v", gone)
	}
}

func TestWithAStoreACopyOfTheCookieEndsWithSignOutOnEveryNode(t *testing.T) {
	a, b, _ := twoNodes(auth.SessionConfig{})
	cookie, other := signIn(t, a, ada), signIn(t, a, ada)
	admitted(t, b, with(cookie))
	if err := a.SignOut(with(cookie)); err != nil {
		t.Fatal(err)
	}
	nobody(t, a, with(cookie))
	nobody(t, b, with(cookie))
	admitted(t, b, with(other)) // another of the same subject
}

func TestSignOutEverywhereEndsAllSessionsOfASubjectAndNoOther(t *testing.T) {
	a, b, _ := twoNodes(auth.SessionConfig{})
	first, second, bob := signIn(t, a, ada), signIn(t, b, ada), signIn(t, b, auth.Principal{Subject: "bob"})
	if err := a.SignOutEverywhere(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*auth.Sessions{a, b} {
		nobody(t, s, with(first))
		nobody(t, s, with(second))
		admitted(t, s, with(bob))
	}
	admitted(t, b, with(signIn(t, a, ada))) // she may come back
}

func TestSignOutEverywhereNeedsAStore(t *testing.T) {
	if err := auth.Session(auth.SessionConfig{Secret: sessionSecret}).SignOutEverywhere(t.Context(), "ada"); sabir.AsError(err).Name != "AuthMisconfigured" {
		t.Error(err)
	}
}

// Session fixation: an attacker puts a session of its own into the victim's browser, and waits until the victim signs in.
func TestTheSessionThatABrowserCameWithIsNotTheOneAfterSignIn(t *testing.T) {
	a, b, _ := twoNodes(auth.SessionConfig{})
	planted := signIn(t, a, auth.Principal{Subject: "mallory"})
	x := with(planted)
	admitted(t, a, x)
	if err := a.SignIn(x, ada); err != nil {
		t.Fatal(err)
	}
	own := setCookie(t, x)
	if own.Value == planted.Value {
		t.Fatal("the cookie stays the same")
	}
	nobody(t, b, with(planted))
	if p := admitted(t, b, with(own)); p.Subject != "ada" {
		t.Errorf("the new session is %s's", p.Subject)
	}
	x = with(own)
	if err := a.SignIn(x, ada); err != nil { // again, such as after a second factor
		t.Fatal(err)
	}
	nobody(t, b, with(own))
	admitted(t, b, with(setCookie(t, x)))
}

func TestASessionOfTheStoreEndsWhenItIsIdleOrOld(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, _, store := twoNodes(auth.SessionConfig{Idle: time.Hour, Lifetime: 3 * time.Hour})
		idle, cookie := signIn(t, s, ada), signIn(t, s, ada)
		began := time.Now()
		for time.Since(began) < 3*time.Hour-31*time.Minute {
			time.Sleep(31 * time.Minute)
			x := with(cookie)
			admitted(t, s, x)
			cookie = setCookie(t, x)
		}
		nobody(t, s, with(idle))
		time.Sleep(3*time.Hour - time.Since(began) - time.Second)
		admitted(t, s, with(cookie))
		time.Sleep(time.Second)
		nobody(t, s, with(cookie))
		for key, ends := range store.ends {
			if ends.After(began.Add(3 * time.Hour)) {
				t.Errorf("%v ends at %v, later than its lifetime", key, ends)
			}
		}
	})
}

func TestASessionThatTheStoreCannotProlongGoesOnUntilItsEnd(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s := auth.Session(auth.SessionConfig{Secret: sessionSecret, Idle: time.Hour, Store: readOnly{new(memory)}})
		cookie := signIn(t, s, ada)
		time.Sleep(time.Hour - time.Second)
		x := with(cookie)
		admitted(t, s, x)
		if x.Answer.Has("Set-Cookie") {
			t.Errorf("the cookie is prolonged: %s", x.Answer.Get("Set-Cookie"))
		}
		time.Sleep(time.Second)
		nobody(t, s, with(cookie))
	})
}

func TestWhileTheStoreIsUnreachableNobodyIsSignedIn(t *testing.T) {
	s, _, store := twoNodes(auth.SessionConfig{})
	cookie := signIn(t, s, ada)
	admitted(t, s, with(cookie))
	store.setDown(true)
	x := with(cookie)
	e := refused(t, s, x, sabir.NewError(sabir.CodeUnavailable, "SessionsUnreachable", ""))
	if !e.Retryable || e.HTTPStatus() != 503 || x.Answer.Has("Set-Cookie") {
		t.Errorf("got %+v, and the cookie %v", e, x.Answer.Get("Set-Cookie"))
	}
	if err := s.SignIn(request(), ada); !errors.Is(err, sabir.NewError(sabir.CodeUnavailable, "SessionsUnreachable", "")) {
		t.Errorf("SignIn: %v", err)
	}
	if err := s.SignOutEverywhere(t.Context(), "ada"); !errors.Is(err, sabir.NewError(sabir.CodeUnavailable, "SessionsUnreachable", "")) {
		t.Errorf("SignOutEverywhere: %v", err)
	}
	x = with(cookie)
	if err := s.SignOut(x); !errors.Is(err, sabir.NewError(sabir.CodeUnavailable, "SessionsUnreachable", "")) || setCookie(t, x).MaxAge >= 0 {
		t.Errorf("SignOut: %v", err)
	}
	refused(t, s, request(), auth.ErrNotSignedIn) // without a cookie the store is not asked
	store.setDown(false)
	admitted(t, s, with(cookie))
}

func TestASessionThatBeganBeforeThereWasAStoreIsOver(t *testing.T) {
	s, _, _ := twoNodes(auth.SessionConfig{})
	nobody(t, s, with(signIn(t, auth.Session(auth.SessionConfig{Secret: sessionSecret}), ada)))
}

// stream opens what lasts with a session, and returns where its end comes.
func stream(t *testing.T, s *auth.Sessions, x *exchange.Exchange) chan error {
	t.Helper()
	admitted(t, s, x)
	ended := make(chan error, 1)
	stop := principal.Until(x, func(err error) { ended <- err })
	t.Cleanup(stop)
	return ended
}

func TestAStreamEndsWhenItsSessionIsEndedByAnotherNode(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		a, b, _ := twoNodes(auth.SessionConfig{})
		cookie := signIn(t, a, ada)
		here, there := stream(t, a, with(cookie)), stream(t, b, with(cookie))
		time.Sleep(time.Minute)
		if len(here)+len(there) > 0 {
			t.Fatal("it ended before")
		}
		began := time.Now()
		if err := a.SignOutEverywhere(t.Context(), "ada"); err != nil {
			t.Fatal(err)
		}
		for _, ended := range []chan error{here, there} {
			if err := <-ended; !errors.Is(err, auth.ErrSignedOut) {
				t.Error(err)
			}
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestAStreamGoesOnForAMinuteWhileTheStoreIsUnreachable(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, _, store := twoNodes(auth.SessionConfig{})
		ended := stream(t, s, with(signIn(t, s, ada)))
		bubbletest.Wait()
		store.setDown(true)
		time.Sleep(45 * time.Second)
		store.setDown(false)
		time.Sleep(time.Minute)
		if len(ended) > 0 {
			t.Fatalf("it ended by a short failure: %v", <-ended)
		}
		store.setDown(true)
		began := time.Now()
		if err := <-ended; !errors.Is(err, sabir.NewError(sabir.CodeUnavailable, "SessionsUnreachable", "")) {
			t.Error(err)
		}
		if took := time.Since(began); took < 50*time.Second || took > 70*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
