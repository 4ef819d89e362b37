package store_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/grainstore"
)

// fake is a backend whose answers a test makes up.
type fake struct {
	read  func(ctx context.Context) (grainstore.Slot, error)
	write func(ctx context.Context, expect uint64, slot grainstore.Slot) (uint64, error)
}

func (f fake) Read(ctx context.Context, _, _ string) (grainstore.Slot, error) { return f.read(ctx) }
func (f fake) Write(ctx context.Context, _, _ string, expect uint64, slot grainstore.Slot) (uint64, error) {
	return f.write(ctx, expect, slot)
}
func (f fake) Check(context.Context) error { return nil }

func (f fake) Close() error { return nil }
func (f fake) Open(context.Context, *url.URL, grainstore.Config) (grainstore.Backend, error) {
	return f, nil
}

// noAnswer is the error of a backend that waited until the end of the attempt.
func noAnswer(ctx context.Context) error {
	<-ctx.Done()
	return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, ctx.Err())
}

func at(version uint64) func(context.Context) (grainstore.Slot, error) {
	return func(context.Context) (grainstore.Slot, error) { return grainstore.Slot{Version: version}, nil }
}

func TestAnOperationWithoutADeadlineEndsAfterFifteenSeconds(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s := store.New(fake{
			read:  func(ctx context.Context) (grainstore.Slot, error) { return grainstore.Slot{}, noAnswer(ctx) },
			write: func(ctx context.Context, _ uint64, _ grainstore.Slot) (uint64, error) { return 0, noAnswer(ctx) },
		})
		begun := time.Now()
		if _, err := s.Save(context.Background(), "k", "k", nil, 7); !errors.Is(err, store.ErrOutcomeUnknown) || time.Since(begun) != 15*time.Second {
			t.Errorf("Save: after %v: %v", time.Since(begun), err)
		}
		begun = time.Now()
		if _, err := s.Load(context.Background(), "k", "k"); !errors.Is(err, store.ErrStoreUnreachable) || time.Since(begun) != 15*time.Second {
			t.Errorf("Load: after %v: %v", time.Since(begun), err)
		}
	})
}

// In the last milliseconds replicas have no time to confirm, and an error that says so would hide how many had confirmed before.
func TestTheReasonIsOfAnAttemptThatHadTime(t *testing.T) {
	inTime, tooShort := errors.New("one replica of two"), errors.New("no replica of two")
	answer := func(ctx context.Context) error {
		why := inTime
		if end, _ := ctx.Deadline(); time.Until(end) < 200*time.Millisecond {
			why = tooShort
		}
		return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, why)
	}
	bubbletest.Run(t, func(t *testing.T) {
		s := store.New(fake{
			read:  func(ctx context.Context) (grainstore.Slot, error) { return grainstore.Slot{}, answer(ctx) },
			write: func(ctx context.Context, _ uint64, _ grainstore.Slot) (uint64, error) { return 0, answer(ctx) },
		})
		for _, limit := range []time.Duration{2 * time.Second, 300 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			if _, err := s.Save(ctx, "k", limit.String(), nil, 7); !errors.Is(err, inTime) {
				t.Errorf("saving within %v: got %v", limit, err)
			}
		}
	})
}

func TestAttemptsOfOneWriteHaveOneTokenAndOneVersion(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var tokens []grainstore.Token
		s := store.New(fake{write: func(_ context.Context, expect uint64, slot grainstore.Slot) (uint64, error) {
			tokens = append(tokens, slot.Token)
			if expect != 7 {
				t.Errorf("it names %d", expect)
			}
			if len(tokens) < 4 {
				return 0, store.ErrOutcomeUnknown
			}
			return 8, nil
		}})
		if revision, err := s.Save(t.Context(), "k", "k", nil, 7); err != nil || revision != 8 {
			t.Fatalf("got %d, %v", revision, err)
		}
		for _, token := range tokens {
			if token != tokens[0] || token == (grainstore.Token{}) {
				t.Fatalf("got the tokens %v", tokens)
			}
		}
	})
}

func TestARefusalThatTheStoreDoesNotBearOutIsAskedAgain(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		refusals := 3
		s := store.New(fake{read: at(7), write: func(context.Context, uint64, grainstore.Slot) (uint64, error) {
			if refusals--; refusals >= 0 {
				return 0, store.ErrFenced
			}
			return 8, nil
		}})
		if revision, err := s.Save(t.Context(), "k", "k", nil, 7); err != nil || revision != 8 {
			t.Fatalf("got %d, %v", revision, err)
		}
		refusals = math.MaxInt32
		_, err := s.Save(t.Context(), "k", "k", nil, 7)
		if !errors.Is(err, store.ErrStoreUnreachable) || errors.Is(err, store.ErrFenced) || errors.Is(err, store.ErrOutcomeUnknown) {
			t.Fatalf("it was refused each time, so nothing was done: got %v", err)
		}
	})
}

func TestAPermanentRefusalOfTheStoreIsReportedAtOnce(t *testing.T) {
	for _, refusal := range []error{store.ErrStoreFull, grainstore.ErrStateTooLarge, store.ErrStoreUnreachable, errors.New("something else")} {
		s := store.New(fake{write: func(context.Context, uint64, grainstore.Slot) (uint64, error) { return 0, refusal }})
		if _, err := s.Save(t.Context(), "k", "k", nil, 7); !errors.Is(err, refusal) || errors.Is(err, store.ErrOutcomeUnknown) {
			t.Errorf("got %v, want %v", err, refusal)
		}
	}
}

func TestARefusalAfterALostAnswerSaysNothingOfTheFirstAttempt(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		attempts := 0
		s := store.New(fake{write: func(context.Context, uint64, grainstore.Slot) (uint64, error) {
			if attempts++; attempts == 1 {
				return 0, store.ErrOutcomeUnknown
			}
			return 0, store.ErrStoreFull
		}})
		if _, err := s.Save(t.Context(), "k", "k", nil, 7); !errors.Is(err, store.ErrOutcomeUnknown) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestALoadSettlesWithAWriteOnlyWhereTheWriteMayStillArrive(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		version, lost, writes := uint64(7), true, 0
		s := store.New(fake{
			read: func(ctx context.Context) (grainstore.Slot, error) {
				return grainstore.Slot{Version: version, State: []byte("state")}, nil
			},
			write: func(ctx context.Context, expect uint64, slot grainstore.Slot) (uint64, error) {
				if lost {
					return 0, noAnswer(ctx)
				}
				writes++
				if expect != version || string(slot.State) != "state" || slot.Gone {
					t.Errorf("it settled with %d, %+v", expect, slot)
				}
				version++
				return version, nil
			},
		})
		for _, test := range []struct {
			arrived bool
			writes  int
		}{{false, 1}, {true, 0}} {
			lost, writes = true, 0
			if _, err := s.Save(t.Context(), "k", "k", nil, version); !errors.Is(err, store.ErrOutcomeUnknown) {
				t.Fatalf("got %v", err)
			}
			if lost = false; test.arrived {
				version++
			}
			for range 2 { // only the first has something to settle
				if entry, err := s.Load(t.Context(), "k", "k"); err != nil || entry.Revision != version {
					t.Fatalf("got %+v, %v", entry, err)
				}
			}
			if writes != test.writes {
				t.Errorf("arrived %v: %d writes, want %d", test.arrived, writes, test.writes)
			}
		}
	})
}

func TestTheErrorsAreTheSameOverTheWire(t *testing.T) {
	for _, sentinel := range []*sabir.Error{store.ErrFenced, store.ErrOutcomeUnknown, store.ErrStoreUnreachable, store.ErrStoreFull, grainstore.ErrStateTooLarge, grainstore.ErrBadGrainName, grainstore.ErrStoreClosed} {
		for _, other := range []*sabir.Error{store.ErrFenced, store.ErrOutcomeUnknown, store.ErrStoreUnreachable, store.ErrStoreFull, grainstore.ErrStateTooLarge, grainstore.ErrBadGrainName, grainstore.ErrStoreClosed} {
			sent := sabir.AsError(fmt.Errorf("%w: more", sentinel))
			arrived := &sabir.Error{Code: sent.Code, Name: sent.Name, Message: sent.Message}
			if errors.Is(arrived, other) != (sentinel == other) {
				t.Errorf("%s arrives as %s", sentinel.Name, other.Name)
			}
		}
		if sentinel.Retryable && sentinel != store.ErrStoreUnreachable && sentinel != store.ErrStoreFull {
			t.Errorf("%s is retryable", sentinel.Name)
		}
	}
}
