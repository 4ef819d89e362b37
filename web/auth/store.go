package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/internal/isolate"
	"github.com/sabir-go/sabir/web/exchange"
)

// SessionStore keeps which sessions there are, for all nodes behind one name: see [SessionConfig.Store]. It knows subjects, random
// ids and times; who the principal is stays in the cookie. Its methods are called by many goroutines at once and bound their time
// themselves. An error means that it is not known what they have done.
type SessionStore interface {
	// Begin keeps a session until it ends.
	Begin(ctx context.Context, subject, id string, ends time.Time) error
	// Use reports whether there is a session that has not ended. Where prolong is not zero, the session then ends at that time. A session that is
	// there and was perhaps not prolonged is true with the error: it goes on until its end.
	Use(ctx context.Context, subject, id string, prolong time.Time) (bool, error)
	// End ends a session. One that there is not is no error.
	End(ctx context.Context, subject, id string) error
	// EndAll ends all sessions of a subject.
	EndAll(ctx context.Context, subject string) error
}

const (
	storeEvery       = 10 * time.Second // between two questions whether the session of a stream has ended
	storeLimit       = 5 * time.Second  // for such a question
	storeUnconfirmed = time.Minute      // that a stream goes on while the store cannot be asked
)

// SignOutEverywhere ends all sessions of a subject on all nodes: requests with them are refused from now on, the streams of this
// process end at once, those of others within 10 seconds. It needs a [SessionConfig.Store]. The error is AuthMisconfigured
// without one, and one with the name SessionsUnreachable where the store may still have them.
func (s *Sessions) SignOutEverywhere(ctx context.Context, subject string) error {
	if s.config.Store == nil {
		return because(errAuthMisconfigured, fmt.Errorf("auth.Session: SignOutEverywhere needs a Store"))
	}
	err := unreachable(s.config.Store.EndAll(ctx, subject))
	s.Recheck(subject)
	return err
}

func unreachable(err error) error {
	if err == nil {
		return nil
	}
	return because(errSessionsUnreachable, err)
}

// stored reports whether the store has the session, and prolongs it there until a time that is not zero.
func (s *Sessions) stored(ctx context.Context, of *session, until time.Time) (bool, error) {
	if s.config.Store == nil {
		return true, nil
	}
	if of.ID == "" {
		return false, nil // of a version that gave none
	}
	there, err := s.config.Store.Use(ctx, of.Principal.Subject, of.ID, until)
	return there, unreachable(err)
}

// replace puts a new session into the store, and ends the one that the request came with.
func (s *Sessions) replace(x *exchange.Exchange, began *session) error {
	if s.config.Store != nil {
		if err := s.config.Store.Begin(x.Context, began.Principal.Subject, began.ID, s.ends(began)); err != nil {
			return unreachable(err)
		}
	}
	return s.endSession(x)
}

func (s *Sessions) endStored(ctx context.Context, of *session) error {
	if s.config.Store == nil || of.ID == "" {
		return nil
	}
	return unreachable(s.config.Store.End(ctx, of.Principal.Subject, of.ID))
}

// askStore ends a response whose session the store has no more, or could not be asked about for too long.
func (w *watch) askStore() {
	s := w.principal.session
	if s.config.Store == nil {
		return
	}
	there := false
	err := isolate.Do(func() (err error) { // it is not the timer's code that runs here
		ctx, cancel := context.WithTimeout(context.Background(), storeLimit)
		defer cancel()
		there, err = s.config.Store.Use(ctx, w.principal.Subject, s.id, time.Time{})
		return err
	})
	w.mu.Lock()
	if err == nil {
		w.confirmed = time.Now()
	}
	late := time.Since(w.confirmed) >= storeUnconfirmed
	w.mu.Unlock()
	switch {
	case err == nil && !there:
		w.finish(ErrSignedOut)
	case late:
		w.finish(unreachable(err))
	}
}
