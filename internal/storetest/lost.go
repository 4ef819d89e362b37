package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor/grain/store"
)

// short is the time that an operation may take that is to fail.
const short = 300 * time.Millisecond

type outcome struct {
	revision uint64
	err      error
}

// appears waits until a client that is not disturbed sees another revision.
func appears(t *testing.T, st store.Store, kind, key string, not uint64) store.Entry {
	t.Helper()
	var entry store.Entry
	until(t, "the write arrives", func(ctx context.Context) (ok bool, err error) {
		entry, err = st.Load(ctx, kind, key)
		return entry.Revision != not, err
	})
	return entry
}

func lostAnswer(s suite, t *testing.T) {
	l := s.line(t)
	author, other := s.over(t, l), s.open(t)
	kind := "suite.lost"
	save(t, other, kind, "warm", "x", 0) // a driver may have to teach the broker first
	for _, key := range []string{"first", "later"} {
		revision := uint64(0)
		if key == "later" {
			revision = save(t, author, kind, key, "before", 0)
		}
		l.disturb(swallow, "the-lost-state")
		done := make(chan outcome, 1)
		go func() {
			r, err := author.Save(t.Context(), kind, key, []byte("the-lost-state"), revision)
			done <- outcome{r, err}
		}()
		entry := appears(t, other, kind, key, revision)
		l.cut()
		got := <-done
		if got.err != nil {
			t.Fatalf("%s: %v", key, got.err)
		}
		if got.revision != entry.Revision {
			t.Fatalf("%s: the author has revision %d; in the store it became %d", key, got.revision, entry.Revision)
		}
		want(t, other, kind, key, "the-lost-state", got.revision)
		save(t, author, kind, key, "goes on", got.revision)
	}
}

func lostDelete(s suite, t *testing.T) {
	l := s.line(t)
	author, other := s.over(t, l), s.open(t)
	kind := "suite.lostdelete"
	revision := save(t, author, kind, "k", "x", 0)
	l.disturb(swallow, kind)
	done := make(chan error, 1)
	go func() { done <- author.Delete(t.Context(), kind, "k", revision) }()
	appears(t, other, kind, "k", revision)
	l.cut()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want(t, other, kind, "k", "", 0)
}

func lostAndFenced(s suite, t *testing.T) {
	l := s.line(t)
	author, other := s.over(t, l), s.open(t)
	kind := "suite.both"
	revision := save(t, author, kind, "k", "before", 0)
	l.disturb(swallow, kind)
	done := make(chan error, 1)
	go func() {
		_, err := author.Save(t.Context(), kind, "k", []byte("mine"), revision)
		done <- err
	}()
	entry := appears(t, other, kind, "k", revision)
	last := save(t, other, kind, "k", "other's", entry.Revision)
	l.cut()
	err := <-done
	mustBe(t, err, store.ErrFenced)
	mustBe(t, err, store.ErrOutcomeUnknown)
	want(t, author, kind, "k", "other's", last)
}

// unknown does a write that stays on the way, and ends its connection.
func unknown(t *testing.T, l *line, mark string, write func(ctx context.Context) error) {
	t.Helper()
	held := l.disturb(hold, mark)
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	begun := time.Now()
	err := write(ctx)
	mustBe(t, err, store.ErrOutcomeUnknown)
	mustBe(t, err, context.DeadlineExceeded)
	if errors.Is(err, store.ErrFenced) {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > short+2*time.Second {
		t.Fatalf("it took %v", took)
	}
	<-held
	l.cut()
}

// settled loads after a write of unknown outcome, which must not have been done.
func settled(t *testing.T, author store.Store, kind, key string) (entry store.Entry) {
	t.Helper()
	until(t, "loading again", func(ctx context.Context) (_ bool, err error) {
		entry, err = author.Load(ctx, kind, key)
		return true, err
	})
	return entry
}

func lateSave(s suite, t *testing.T) {
	l := s.line(t)
	author, other := s.over(t, l), s.open(t)
	kind := "suite.late"
	revision := save(t, author, kind, "k", "before", 0)
	write := func(ctx context.Context) error {
		_, err := author.Save(ctx, kind, "k", []byte("too-late-a-state"), revision)
		return err
	}
	unknown(t, l, "too-late-a-state", write)
	mustBe(t, write(t.Context()), store.ErrOutcomeUnknown) // it was not loaded
	mustBe(t, author.Delete(t.Context(), kind, "k", revision), store.ErrOutcomeUnknown)
	entry := settled(t, author, kind, "k")
	if string(entry.State) != "before" || entry.Revision <= revision {
		t.Fatalf("got %q of revision %d, after %d", entry.State, entry.Revision, revision)
	}
	l.letGo(t)
	want(t, other, kind, "k", "before", entry.Revision)
	save(t, author, kind, "k", "goes on", entry.Revision)
}

func lateFirstSave(s suite, t *testing.T) {
	l := s.line(t)
	author, other := s.over(t, l), s.open(t)
	kind := "suite.latefirst"
	look := l.disturb(hold, kind)
	ctx, cancel := context.WithTimeout(t.Context(), short)
	_, err := author.Save(ctx, kind, "k", []byte("too-late-a-state"), 0) // it looks up first, and gets no further
	cancel()
	mustBe(t, err, context.DeadlineExceeded)
	if errors.Is(err, store.ErrOutcomeUnknown) {
		t.Fatalf("no write was sent: %v", err)
	}
	<-look
	l.cut()
	settled(t, author, kind, "k")

	unknown(t, l, "too-late-a-state", func(ctx context.Context) error {
		_, err := author.Save(ctx, kind, "k", []byte("too-late-a-state"), 0)
		return err
	})
	if entry := settled(t, author, kind, "k"); entry.Revision != 0 || entry.State != nil {
		t.Fatalf("got %+v", entry)
	}
	l.letGo(t)
	want(t, other, kind, "k", "", 0)
	save(t, author, kind, "k", "goes on", 0)
}

// lateAndDeleted tests a save that arrives after another author saved and deleted the grain. The first author never loads
// again, as if its process had ended.
func lateAndDeleted(s suite, t *testing.T) {
	l := s.line(t)
	author, other := s.over(t, l), s.open(t)
	kind := "suite.latedeleted"
	unknown(t, l, "too-late-a-state", func(ctx context.Context) error {
		_, err := author.Save(ctx, kind, "k", []byte("too-late-a-state"), 0)
		return err
	})
	revision := save(t, other, kind, "k", "other's", 0)
	if err := other.Delete(t.Context(), kind, "k", revision); err != nil {
		t.Fatal(err)
	}
	l.letGo(t)
	want(t, other, kind, "k", "", 0)
}

func lateDelete(s suite, t *testing.T) {
	l := s.line(t)
	author, other := s.over(t, l), s.open(t)
	kind, key := "suite.latedelete", "the-late-key"
	revision := save(t, author, kind, key, "before", 0)
	unknown(t, l, key, func(ctx context.Context) error { return author.Delete(ctx, kind, key, revision) })
	entry := settled(t, author, kind, key)
	if string(entry.State) != "before" {
		t.Fatalf("got %+v", entry)
	}
	l.letGo(t)
	want(t, other, kind, key, "before", entry.Revision)
}

func unknownAndDone(s suite, t *testing.T) {
	l := s.line(t)
	author, other := s.over(t, l), s.open(t)
	kind := "suite.done"
	revision := save(t, author, kind, "k", "before", 0)
	unknown(t, l, "after-all-done", func(ctx context.Context) error {
		_, err := author.Save(ctx, kind, "k", []byte("after-all-done"), revision)
		return err
	})
	l.letGo(t)
	arrived := appears(t, other, kind, "k", revision)
	entry := settled(t, author, kind, "k")
	if string(entry.State) != "after-all-done" || entry.Revision != arrived.Revision {
		t.Fatalf("got %q of revision %d, in the store since %d", entry.State, entry.Revision, arrived.Revision)
	}
	save(t, author, kind, "k", "goes on", entry.Revision)
}
