package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor/grain/store"
)

func silent(s suite, t *testing.T) {
	st := s.open(t)
	kind := "suite.silent"
	revision := save(t, st, kind, "k", "before", 0)
	if err := s.Broker.Suspend(); err != nil {
		t.Fatal(err)
	}
	resumed := false
	defer func() {
		if !resumed {
			s.Broker.Resume()
		}
	}()
	for what, operation := range map[string]func(context.Context) error{
		"Load": func(ctx context.Context) error { _, err := st.Load(ctx, kind, "k"); return err },
		"Save": func(ctx context.Context) error {
			_, err := st.Save(ctx, kind, "k", []byte("after"), revision)
			return err
		},
		"Save another": func(ctx context.Context) error { _, err := st.Save(ctx, kind, "other", []byte("x"), 0); return err },
		"Delete":       func(ctx context.Context) error { return st.Delete(ctx, kind, "other", 1) },
	} {
		deadline, cancel := context.WithTimeout(t.Context(), short)
		begun := time.Now()
		err := operation(deadline)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > short+2*time.Second {
			t.Fatalf("%s: after %v: %v", what, time.Since(begun), err)
		}
		if (what == "Save" || what == "Delete") != errors.Is(err, store.ErrOutcomeUnknown) {
			t.Fatalf("%s: %v", what, err)
		}
		ctx, stop := context.WithCancel(t.Context()) // and one that is cancelled, without a deadline
		begun = time.Now()
		timer := time.AfterFunc(short/4, stop)
		err = operation(ctx)
		timer.Stop()
		stop()
		// A write whose outcome is unknown since before is answered at once.
		if !errors.Is(err, context.Canceled) && !errors.Is(err, store.ErrOutcomeUnknown) || time.Since(begun) > short+2*time.Second {
			t.Fatalf("%s, cancelled: after %v: %v", what, time.Since(begun), err)
		}
	}
	if err := s.Broker.Resume(); err != nil {
		t.Fatal(err)
	}
	resumed = true
	entry := settled(t, st, kind, "k")
	if state := string(entry.State); state != "before" && state != "after" {
		t.Fatalf("got %q", state)
	}
	// Whatever waited in the broker has been done or refused by now: the author is not fenced by itself.
	save(t, st, kind, "k", "goes on", entry.Revision)
}

func closeWhileWaiting(s suite, t *testing.T) {
	l := s.line(t)
	st := s.over(t, l)
	kind := "suite.closing"
	revision := save(t, st, kind, "k", "before", 0)
	held := l.disturb(hold, "never-arrives")
	done := make(chan error, 1)
	go func() {
		_, err := st.Save(context.Background(), kind, "k", []byte("never-arrives"), revision)
		done <- err
	}()
	<-held
	begun := time.Now()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	mustBe(t, <-done, store.ErrOutcomeUnknown)
	if took := time.Since(begun); took > 5*time.Second {
		t.Fatalf("it took %v", took)
	}
}

func unreachable(s suite, t *testing.T) {
	st := s.open(t)
	kind := "suite.away"
	revision := save(t, st, kind, "k", "before", 0)
	if err := s.Broker.Stop(); err != nil {
		t.Fatal(err)
	}
	restarted := false
	defer func() {
		if !restarted {
			s.Broker.Restart()
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	// A driver may have several connections, and finds that each is gone when it uses it: a write over one of which it does not know that yet has an
	// unknown outcome.
	for range 64 {
		_, err := st.Load(ctx, kind, "k")
		mustBe(t, err, store.ErrStoreUnreachable)
	}
	_, err := st.Save(ctx, kind, "k", []byte("after"), revision)
	mustBe(t, err, store.ErrStoreUnreachable)
	if errors.Is(err, store.ErrOutcomeUnknown) {
		t.Fatalf("nothing was sent: %v", err)
	}
	mustBe(t, st.Delete(ctx, kind, "k", revision), store.ErrStoreUnreachable)
	if another, err := store.Open(ctx, s.Address, quiet()); !errors.Is(err, store.ErrStoreUnreachable) {
		if err == nil {
			another.Close()
		}
		t.Fatalf("Open: got the error %v, want %v", err, store.ErrStoreUnreachable)
	}
	if err := s.Broker.Restart(); err != nil {
		t.Fatal(err)
	}
	restarted = true
	until(t, "the same revision is good", func(ctx context.Context) (_ bool, err error) {
		_, err = st.Save(ctx, kind, "k", []byte("after"), revision)
		return true, err
	})
}

func killed(s suite, t *testing.T) {
	Durable(t, s.Address, func() error { return errors.Join(s.Broker.Kill(), s.Broker.Restart()) })
}

// Durable has authors write numbers, each to its own grain, while disturb does something bad to the broker, three
// times. No author may be fenced, nor miss what was acknowledged, nor find what was not sent.
func Durable(t *testing.T, address string, disturb func() error) {
	const authors, times, between = 4, 3, 40
	st := open(t, address, quiet())
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	acknowledged := make(chan struct{}, authors)
	var group sync.WaitGroup
	for a := range authors {
		group.Go(func() {
			if err := author(ctx, st, "suite.killed", fmt.Sprint(a), acknowledged); err != nil {
				t.Errorf("author %d: %v", a, err)
				stop()
			}
		})
	}
	some := func() {
		for range between {
			select {
			case <-acknowledged:
			case <-ctx.Done():
			}
		}
	}
	for range times {
		some()
		if err := disturb(); err != nil {
			t.Error(err)
		}
	}
	some()
	stop()
	group.Wait()
}

// author saves 1, 2, 3 … and checks, whenever it has to load, that the store has what was acknowledged.
func author(ctx context.Context, st store.Store, kind, key string, acknowledged chan<- struct{}) error {
	var revision uint64
	last := 0 // the number that is in the store
	for ctx.Err() == nil {
		limited, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		next, err := st.Save(limited, kind, key, []byte(strconv.Itoa(last+1)), revision)
		cancel()
		if err == nil {
			revision, last = next, last+1
			select {
			case acknowledged <- struct{}{}:
			case <-ctx.Done():
			}
			continue
		}
		if !errors.Is(err, store.ErrStoreUnreachable) && !errors.Is(err, store.ErrOutcomeUnknown) || errors.Is(err, store.ErrFenced) {
			return err
		}
		highest := last
		if errors.Is(err, store.ErrOutcomeUnknown) {
			highest++
		}
		entry, err := loadLater(st, kind, key)
		if err != nil {
			return err
		}
		number := 0
		if entry.Revision != 0 {
			if number, err = strconv.Atoi(string(entry.State)); err != nil {
				return err
			}
		}
		if number < last || number > highest {
			return fmt.Errorf("the store has %d; %d was acknowledged and %d is the highest that was sent", number, last, highest)
		}
		revision, last = entry.Revision, number
	}
	return nil
}

// loadLater loads from a broker that may take a while to come back: a cluster elects a leader first.
func loadLater(st store.Store, kind, key string) (store.Entry, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		one, stop := context.WithTimeout(ctx, 5*time.Second)
		entry, err := st.Load(one, kind, key)
		stop()
		if err == nil || !errors.Is(err, store.ErrStoreUnreachable) {
			return entry, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return store.Entry{}, err
		}
	}
}

func emptied(s suite, t *testing.T) {
	st := s.open(t)
	kind := "suite.emptied"
	before := save(t, st, kind, "k", "before", 0)
	if err := errors.Join(s.Broker.Erase(), s.Broker.Restart()); err != nil {
		t.Fatal(err)
	}
	until(t, "the store says that nothing is saved", func(ctx context.Context) (bool, error) {
		entry, err := st.Load(ctx, kind, "k")
		return entry.Revision == 0 && entry.State == nil, err
	})
	_, err := st.Save(t.Context(), kind, "k", []byte("of an author of before"), before)
	mustBe(t, err, store.ErrFenced)
	if after := save(t, st, kind, "k", "after", 0); after <= before {
		t.Errorf("the revision after %d is %d", before, after)
	}
	if err := st.Check(t.Context()); err != nil {
		t.Errorf("check: %v", err)
	}
}
