// Package storetest is the conformance suite for stores of grains: every driver passes the same tests. Run is for the
// driver's own test; TestMain there should look for goroutines that are left over (go.uber.org/goleak).
package storetest

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/brokers"
)

// Setup defines what to test.
type Setup struct {
	// Address of the store, for store.Open.
	Address string
	// Broker is the process that listens at Address. If it is nil, the tests that disturb it are skipped.
	Broker *brokers.Server
	// Line has the tests run that lose and delay what is on its way to Address, also without a Broker. They need a connection that is not
	// encrypted.
	Line bool
	// Largest is the number of bytes that a state may have. Default: 300,000.
	Largest int
}

// Run runs all tests. The store may hold other grains; those of kinds that begin with "suite" are the suite's.
func Run(t *testing.T, setup Setup) {
	s := suite{setup}
	for _, test := range []struct {
		name string
		run  func(suite, *testing.T)
	}{
		{"where nothing is saved the entry is zero", nothing},
		{"what is saved is loaded with its revision", roundTrip},
		{"a save with another revision is fenced", fenced},
		{"a delete with another revision is fenced", deleteFenced},
		{"a revision is never used again", neverAgain},
		{"of writers with one revision exactly one wins", oneWins},
		{"two clients see each other's writes", twoClients},
		{"hostile keys stay apart", hostile},
		{"limits are kept", limits},
		{"states belong to the caller", own},
		{"an ended context does nothing", ended},
		{"a closed store says so", closed},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(s, t) })
	}
	if setup.Broker == nil && !setup.Line {
		return
	}
	for _, test := range []struct {
		name string
		run  func(suite, *testing.T)
	}{
		{"a save whose answer is lost is done once", lostAnswer},
		{"a delete whose answer is lost is done once", lostDelete},
		{"who is fenced while its answer is lost learns both", lostAndFenced},
		{"a save of unknown outcome that arrives late is refused", lateSave},
		{"a first save of unknown outcome that arrives late is refused", lateFirstSave},
		{"a first save that arrives late does not bring back what was deleted", lateAndDeleted},
		{"a delete of unknown outcome that arrives late is refused", lateDelete},
		{"a save of unknown outcome that was done is loaded", unknownAndDone},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(s, t) })
	}
	if setup.Broker == nil {
		return
	}
	for _, test := range []struct {
		name string
		run  func(suite, *testing.T)
	}{
		{"operations on a broker that is silent end with their context", silent},
		{"closing ends what waits for the broker", closeWhileWaiting},
		{"a broker that is gone is unreachable and nothing was done", unreachable},
		{"a broker that is killed keeps what it acknowledged", killed},
		{"a broker that has lost all that it kept is used again", emptied},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(s, t) })
	}
}

type suite struct{ Setup }

func quiet() store.Config {
	return store.Config{Name: "suite", Log: slog.New(slog.DiscardHandler)}
}

func open(t testing.TB, address string, config store.Config) store.Store {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s, err := store.Open(ctx, address, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s suite) open(t testing.TB) store.Store { return open(t, s.Address, quiet()) }

// line is a way to the store that can be disturbed.
func (s suite) line(t *testing.T) *line {
	t.Helper()
	at, err := url.Parse(s.Address)
	if err != nil {
		t.Fatal(err)
	}
	return newLine(t, at.Host)
}

// over is a store whose connection goes over a line.
func (s suite) over(t testing.TB, l *line) store.Store {
	t.Helper()
	at, err := url.Parse(s.Address)
	if err != nil {
		t.Fatal(err)
	}
	at.Host = l.addr()
	return open(t, at.String(), quiet())
}

func save(t testing.TB, s store.Store, kind, key, state string, revision uint64) uint64 {
	t.Helper()
	next, err := s.Save(t.Context(), kind, key, []byte(state), revision)
	if err != nil {
		t.Fatal(err)
	}
	if next <= revision {
		t.Fatalf("the revision after %d is %d", revision, next)
	}
	return next
}

func load(t testing.TB, s store.Store, kind, key string) store.Entry {
	t.Helper()
	entry, err := s.Load(t.Context(), kind, key)
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

func want(t testing.TB, s store.Store, kind, key, state string, revision uint64) {
	t.Helper()
	if entry := load(t, s, kind, key); string(entry.State) != state || entry.Revision != revision {
		t.Fatalf("%.40q has the state %.40q of revision %d, want %.40q of revision %d", key, entry.State, entry.Revision, state, revision)
	}
}

func mustBe(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got the error %v, want %v", err, target)
	}
}

// until asks again, while the broker is unreachable, until it is reachable or ten seconds are over.
func until(t testing.TB, what string, done func(ctx context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		ok, err := done(ctx)
		if ok && err == nil {
			return
		}
		if err != nil && !errors.Is(err, store.ErrStoreUnreachable) {
			t.Fatalf("%s: %v", what, err)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("%s: not after 10 seconds (%v)", what, err)
		}
	}
}
