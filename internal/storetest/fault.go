package storetest

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor/grain/store"
)

// Fault is something that happens to a store's broker that goes on running, such as a disk that is full. A test causes it and undoes
// it.
type Fault struct {
	Address     string
	Cause, Undo func(t *testing.T)
	Want        error  // what the store answers meanwhile
	Says        string // what is in that error's text, the broker's own words
}

const (
	faultKind    = "faults"
	faultAuthors = 8
	faultPadding = 1 << 10
	// faultAnswer is the time within which each save is answered, and recovery the one within which a store that is well again is used.
	faultAnswer = time.Second
	recovery    = 2 * time.Second
)

// Run has authors count upwards, each in a grain of its own, while the broker meets the fault. It tests that saves are answered at
// once, with the right error; that Check has it too; that a store that is full still reads; that saves go on when it is over; and
// that what was acknowledged is there.
func (f Fault) Run(t *testing.T) {
	t.Helper()
	st, err := store.Open(t.Context(), f.Address, store.Config{Name: "faults", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, err := st.Save(t.Context(), faultKind, "other", []byte("kept"), 0); err != nil {
		t.Fatal(err)
	}
	r := &faultRun{fault: f, store: st}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for n := range faultAuthors {
		running.Go(func() { r.write(ctx, strconv.Itoa(n)) })
	}
	defer func() { stop(); running.Wait() }()

	r.await(t, "states are saved", time.Minute, func() bool { return r.acknowledged >= 100 })
	f.Cause(t)
	r.await(t, "saves are refused", time.Minute, func() bool { return r.refused >= 5*faultAuthors })
	if err := st.Check(ctx); !errors.Is(err, f.Want) {
		t.Errorf("meanwhile Check returns %v, want %v", err, f.Want)
	}
	if f.Want == error(store.ErrStoreFull) {
		if entry, err := st.Load(ctx, faultKind, "other"); err != nil || string(entry.State) != "kept" {
			t.Errorf("meanwhile a grain is loaded as %q, %v", entry.State, err)
		}
	}
	f.Undo(t)
	undone := time.Now()
	r.mu.Lock()
	before := r.acknowledged
	r.mu.Unlock()
	r.await(t, "states are saved again", time.Minute, func() bool { return r.acknowledged > before })
	again := time.Since(undone)
	if again > recovery {
		t.Errorf("states are saved again after %v, want %v", again, recovery)
	}
	r.await(t, "Check returns nil", recovery, func() bool { return st.Check(ctx) == nil })
	stop()
	running.Wait()
	switch {
	case r.wrong != nil:
		t.Errorf("got the error %v, want %v with %q", r.wrong, f.Want, f.Says)
	case r.lost > 0:
		t.Errorf("%d states were acknowledged and not found", r.lost)
	case r.slowest > faultAnswer:
		t.Errorf("a save was answered after %v, want %v", r.slowest, faultAnswer)
	}
	t.Logf("refused %d times, the slowest after %v; service %v after the end; %d acknowledged, %d lost",
		r.refused, r.slowest.Round(time.Millisecond), again.Round(time.Millisecond), r.acknowledged, r.lost)
}

// faultRun records what a test of a fault saw in one run.
type faultRun struct {
	fault Fault
	store store.Store

	mu           sync.Mutex
	acknowledged int
	refused      int           // saves and loads with the error that is wanted
	slowest      time.Duration // of those
	lost         int
	wrong        error // another error
}

func (r *faultRun) write(ctx context.Context, key string) {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	padding := strings.Repeat("x", faultPadding)
	var revision uint64
	saved := 0 // the number that was acknowledged last
	for ctx.Err() == nil {
		<-again.C
		begun := time.Now()
		next, err := r.save(key, strconv.Itoa(saved+1)+" "+padding, revision)
		if r.note(err, time.Since(begun)); err == nil {
			saved, revision = saved+1, next
			continue
		}
		if !errors.Is(err, store.ErrOutcomeUnknown) && !errors.Is(err, store.ErrFenced) {
			continue // nothing was done
		}
		for ctx.Err() == nil { // what became of it shows when it is loaded
			<-again.C
			begun := time.Now()
			entry, err := r.load(key) // which settles it by a write
			if err != nil {
				r.note(err, time.Since(begun))
				continue
			}
			text, _, _ := strings.Cut(string(entry.State), " ")
			found, _ := strconv.Atoi(text)
			if found < saved {
				r.mu.Lock()
				r.lost++
				r.mu.Unlock()
			}
			saved, revision = found, entry.Revision
			break
		}
	}
}

const faultLimit = 5 * time.Second

func (r *faultRun) save(key, state string, revision uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), faultLimit)
	defer cancel()
	return r.store.Save(ctx, faultKind, key, []byte(state), revision)
}

func (r *faultRun) load(key string) (store.Entry, error) {
	ctx, cancel := context.WithTimeout(context.Background(), faultLimit)
	defer cancel()
	return r.store.Load(ctx, faultKind, key)
}

func (r *faultRun) note(err error, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.acknowledged++
	case errors.Is(err, r.fault.Want) && strings.Contains(err.Error(), r.fault.Says):
		r.refused++
		r.slowest = max(r.slowest, took)
	case errors.Is(err, store.ErrOutcomeUnknown), errors.Is(err, store.ErrFenced), errors.Is(err, store.ErrStoreUnreachable):
		// of what was on its way when the broker changed its state
	default:
		r.wrong = err
	}
}

// await waits until a condition holds, which is asked with the lock held.
func (r *faultRun) await(t *testing.T, what string, limit time.Duration, holds func() bool) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(limit); ; <-again.C {
		r.mu.Lock()
		done, refused, wrong := holds(), r.refused, r.wrong
		r.mu.Unlock()
		if done {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v; %d refused, another error %v", what, limit, refused, wrong)
		}
	}
}
